// What the interface has of the platform, by types of its own: where the project that uses the
// package knows the platform's types (`dom`, or those of Node), they are those; where it does not,
// they are what is needed of them.

/** An `AbortSignal`. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer T } }
  ? T
  : {
      readonly aborted: boolean;
      readonly reason: unknown;
      throwIfAborted(): void;
      addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
      removeEventListener(type: "abort", listener: () => void): void;
    };

/** A `URL`. */
export type Address = typeof globalThis extends { URL: { prototype: infer T } }
  ? T
  : { readonly href: string };

/** A `Response` of `fetch`. */
export type HttpResponse = typeof globalThis extends { Response: { prototype: infer T } }
  ? T
  : ResponseLike;

/** What is needed of a response. */
export interface ResponseLike {
  readonly status: number;
  readonly headers: Iterable<readonly [string, string]>;
  /** A web stream that nobody has read. */
  readonly body: { readonly locked: boolean; getReader(): unknown } | null;
}

/** A `WebAssembly.Module`. */
export type WasmModule = typeof globalThis extends {
  WebAssembly: { Module: { prototype: infer T } };
}
  ? T
  : object;

/** A `FileSystemDirectoryHandle`. */
export type DirectoryHandle = typeof globalThis extends {
  FileSystemDirectoryHandle: { prototype: infer T };
}
  ? T
  : { readonly kind: "directory"; readonly name: string };
