// The conversion of the model's Markdown into safe HTML: HTML in it is shown as text, links to
// anything but the web and mail are dropped, and pictures become links, so that nothing is fetched
// without a click: the address of a picture could carry data away.

import { micromark } from "micromark";
import { gfmTable, gfmTableHtml } from "micromark-extension-gfm-table";

/** The length from which on a block is shown as plain text: parsing it would block the page. */
const LONGEST = 6_000;
const FENCED = /^ {0,3}(?:```|~~~)[^\n]*\n/;
const NO_IMAGES = { disable: { null: ["labelStartImage"] } };

/** Returns a block of Markdown as HTML. */
export function htmlOf(markdown: string): string {
  const opening = FENCED.exec(markdown)?.[0];
  if (opening !== undefined) {
    const code = markdown.slice(opening.length).replace(/(^|\n) {0,3}(?:`{3,}|~{3,})\s*$/, "$1");
    return `<pre tabindex="0"><code>${escaped(code)}</code></pre>`;
  }
  if (markdown.length > LONGEST) return `<pre class="plain">${escaped(markdown)}</pre>`;
  const html = micromark(markdown, {
    extensions: [gfmTable(), NO_IMAGES],
    htmlExtensions: [gfmTableHtml()],
  });
  // Angle brackets and quotation marks of the text are escaped, so that these replacements can only
  // meet tags that micromark has written.
  return html
    .replaceAll("<a href=", '<a target="_blank" rel="noopener noreferrer" href=')
    .replaceAll("<pre>", '<pre tabindex="0">');
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** A cutter of a growing text into blocks; all but the last one are final and rendered once. */
export class Blocks {
  readonly #done: string[] = [];
  #end = 0;
  #text = "";

  /** Returns all blocks of a text, which continues the one of the last call. */
  of(text: string): string[] {
    if (!text.startsWith(this.#text.slice(0, 64)) || text.length < this.#text.length) {
      this.#done.length = 0;
      this.#end = 0;
    }
    this.#text = text;
    for (let end = this.#next(); end !== undefined; end = this.#next()) {
      this.#done.push(text.slice(this.#end, end));
      this.#end = end;
    }
    const rest = text.slice(this.#end);
    return rest.trim() === "" ? [...this.#done] : [...this.#done, rest];
  }

  // The end of the next block, if it is whole.
  #next(): number | undefined {
    const text = this.#text;
    let fence = "";
    let at = this.#end;
    let hasText = false;
    for (;;) {
      const end = text.indexOf("\n", at);
      if (end < 0) return undefined;
      const line = text.slice(at, end);
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
      if (fence !== "") {
        if (mark?.startsWith(fence) && /^ {0,3}[`~]+\s*$/.test(line)) return end + 1;
      } else if (mark !== undefined) {
        // A fence is a block of its own, unless it belongs to a list.
        if (hasText && line.startsWith(mark)) return at;
        if (!hasText) fence = mark;
      }
      if (line.trim() !== "") hasText = true;
      else if (hasText && fence === "" && text.length > end + 1 && isOpener(text, end + 1)) {
        return end + 1;
      }
      at = end + 1;
    }
  }
}

// True if a new block begins here: an indented line or a further item would continue a list.
function isOpener(text: string, at: number): boolean {
  return !/[\s\-*+\d]/.test(text.charAt(at));
}
