// Types of the platform's objects in the public interface. If the project that uses the package
// has the platform's types (`dom`, or those of Node), these are the same; if not, they describe
// what the package needs of them, so that its declarations compile without `dom`.

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

/** The members of a `Response` that the package uses. */
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
