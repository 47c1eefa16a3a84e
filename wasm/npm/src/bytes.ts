// Bytes: those that come piece by piece, and several as one.

/** Bytes in the order of their coming. */
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
      // What was taken before stays in the room of then.
      this.#room = new Uint8Array(2 * (there.length + bytes.length));
      this.#room.set(there);
      [this.#from, this.#to] = [0, there.length];
    }
    this.#room.set(bytes, this.#to);
    this.#to += bytes.length;
  }

  /** All that there are; they stay here. */
  all(): Uint8Array {
    return this.#room.subarray(this.#from, this.#to);
  }

  /** Takes so many from the beginning, or what there is. */
  take(most = this.length): Uint8Array {
    const bytes = this.all().subarray(0, most);
    this.#from += bytes.length;
    return bytes;
  }
}

/** Several rows of bytes as one. */
export function concatenated(parts: readonly ArrayLike<number>[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Whether both are the same bytes. */
export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** What a user hands over as bytes, as a view of the same. */
export function bytesOf(given: ArrayBufferView | ArrayBuffer): Uint8Array<ArrayBuffer> {
  if (!ArrayBuffer.isView(given)) return new Uint8Array(given);
  const { buffer, byteOffset, byteLength } = given;
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** Bytes as base64. */
export function base64Of(bytes: Uint8Array): string {
  const PIECE = 0x8000;
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) {
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  }
  return btoa(text);
}

/** The bytes of base64. */
export function ofBase64(text: string): Uint8Array<ArrayBuffer> {
  const chars = atob(text);
  const bytes = new Uint8Array(chars.length);
  for (let at = 0; at < chars.length; at += 1) bytes[at] = chars.charCodeAt(at);
  return bytes;
}
