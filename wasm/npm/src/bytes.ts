// Helpers for bytes: a queue, concatenation, comparison, views and base64.

/** A queue of bytes: pushed at the end, taken from the beginning. */
export class Bytes {
  #room = new Uint8Array(0);
  #from = 0;
  #to = 0;

  get length(): number {
    return this.#to - this.#from;
  }

  push(bytes: Uint8Array): void {
    const end = this.#to + bytes.length;
    if (end > this.#room.length) {
      const there = this.all();
      // A new buffer, even if the old one had space at its beginning: views that `take` returned
      // still point into the old one.
      this.#room = new Uint8Array(2 * (there.length + bytes.length));
      this.#room.set(there);
      [this.#from, this.#to] = [0, there.length];
    }
    this.#room.set(bytes, this.#to);
    this.#to += bytes.length;
  }

  /** Returns a view of all bytes and leaves them in the queue. */
  all(): Uint8Array {
    return this.#room.subarray(this.#from, this.#to);
  }

  /** Takes up to `most` bytes from the beginning, and returns a view of them. */
  take(most = this.length): Uint8Array {
    const bytes = this.all().subarray(0, most);
    this.#from += bytes.length;
    return bytes;
  }
}

/** Returns several pieces of bytes as one. */
export function concatenated(parts: readonly ArrayLike<number>[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Returns whether both hold the same bytes. */
export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** Returns a view of the bytes that a user hands over, without a copy. */
export function bytesOf(given: ArrayBufferView | ArrayBuffer): Uint8Array<ArrayBuffer> {
  if (!ArrayBuffer.isView(given)) return new Uint8Array(given);
  const { buffer, byteOffset, byteLength } = given;
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** Encodes bytes as base64. */
export function base64Of(bytes: Uint8Array): string {
  // Each byte of a piece is an argument of a call, and engines bound the number of arguments.
  const PIECE = 0x8000;
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) {
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  }
  return btoa(text);
}

/** Decodes base64. It throws if the text is not base64. */
export function ofBase64(text: string): Uint8Array<ArrayBuffer> {
  const chars = atob(text);
  const bytes = new Uint8Array(chars.length);
  for (let at = 0; at < chars.length; at += 1) bytes[at] = chars.charCodeAt(at);
  return bytes;
}
