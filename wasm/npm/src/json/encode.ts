// What goes into the module as JSON: text that is text.

/** JSON that the binding reads. A surrogate without its other half is no text: U+FFFD is. */
export function toJson(
  value: unknown,
  replacer?: (name: string, value: unknown) => unknown,
): string {
  const json = JSON.stringify(value, replacer);
  // Alone it is escaped, which few characters are.
  return /\\ud[89a-f]/.test(json) ? json.replace(/\\(?:ud[89a-f]..|.)/g, wellFormed) : json;
}

function wellFormed(escaped: string): string {
  return escaped.length > 2 ? "\ufffd" : escaped;
}
