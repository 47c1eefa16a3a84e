// The assembly of a page of the workspace into one document. The files to which it refers are put
// into it, since the frame of the preview can fetch nothing.

/** A function that reads a file of the workspace. */
type Read = (path: string) => Promise<Uint8Array | undefined>;

const TYPES: Record<string, string> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  svg: "image/svg+xml",
  webp: "image/webp",
  ico: "image/x-icon",
  js: "text/javascript",
  mjs: "text/javascript",
  css: "text/css",
  json: "application/json",
};
// The depth to which modules may import each other, and the most bytes of all files.
const DEEPEST = 20;
const MOST_BYTES = 20_000_000;
const IMPORT = /(\bfrom\s*|\bimport\s*\(?\s*)(["'])(\.{1,2}\/[^"'\n]+|\/[^"'\n]+)\2/g;

/** Returns the page as one document; rejects if it does not exist. */
export async function assemble(path: string, read: Read): Promise<string> {
  const content = await read(path);
  if (content === undefined) throw new Error(`There is no ${path}.`);
  const page = new DOMParser().parseFromString(withoutStyles(decode(content)), "text/html");
  const parts = new Parts(read);
  for (const script of page.querySelectorAll("script")) {
    const from = script.getAttribute("src");
    const isModule = script.type === "module";
    if (from !== null) {
      const url = await parts.script(resolve(path, from), isModule);
      if (url !== undefined) script.setAttribute("src", url);
    } else if (isModule) {
      script.textContent = await parts.rewritten(path, script.textContent ?? "", 0);
    }
  }
  for (const link of page.querySelectorAll('link[rel~="stylesheet"][href]')) {
    const sheet = await parts.text(resolve(path, link.getAttribute("href") ?? ""));
    if (sheet === undefined) continue;
    const style = page.createElement("noframes");
    style.setAttribute("data-style", "");
    style.textContent = sheet;
    link.replaceWith(style);
  }
  for (const picture of page.querySelectorAll("img[src]")) {
    const url = await parts.url(resolve(path, picture.getAttribute("src") ?? ""));
    if (url !== undefined) picture.setAttribute("src", url);
  }
  return `<!doctype html>\n${withStyles(page.documentElement.outerHTML)}`;
}

// A document that is parsed here is under this page's content security policy, which would report
// each style. Until it is done, styles are `noframes` elements, whose content is raw text as well.
function withoutStyles(html: string): string {
  return html.replace(/<style\b/gi, "<noframes data-style").replace(/<\/style\b/gi, "</noframes");
}

function withStyles(html: string): string {
  return html.replace(/<noframes data-style(="")?/g, "<style").replaceAll("</noframes", "</style");
}

/** The files that are put into a page. */
class Parts {
  readonly #read: Read;
  readonly #scripts = new Map<string, Promise<string | undefined>>();
  #left = MOST_BYTES;

  constructor(read: Read) {
    this.#read = read;
  }

  async text(path: string | undefined): Promise<string | undefined> {
    const content = await this.#take(path);
    return content && decode(content);
  }

  async url(path: string | undefined): Promise<string | undefined> {
    const content = await this.#take(path);
    return content && dataUrl(typeOf(path ?? ""), content);
  }

  /** Returns a script as an address; a module includes all that it imports. */
  script(path: string | undefined, isModule: boolean, depth = 0): Promise<string | undefined> {
    if (path === undefined || depth > DEEPEST) return Promise.resolve(undefined);
    const known = this.#scripts.get(path);
    if (known !== undefined) return known;
    const made = this.#script(path, isModule, depth);
    // Meanwhile a circular import finds `undefined` and stays as it is: waiting for the module
    // would never end.
    this.#scripts.set(path, Promise.resolve(undefined));
    const kept = made.then((url) => {
      this.#scripts.set(path, Promise.resolve(url));
      return url;
    });
    return kept;
  }

  /** Returns a module's text with addresses of the workspace's files in its imports. */
  async rewritten(path: string, text: string, depth: number): Promise<string> {
    const urls = new Map<string, string>();
    for (const [, , , specifier = ""] of text.matchAll(IMPORT)) {
      const url = await this.script(resolve(path, specifier), true, depth + 1);
      if (url !== undefined) urls.set(specifier, url);
    }
    return text.replace(IMPORT, (all, before: string, quote: string, specifier: string) => {
      const url = urls.get(specifier);
      return url === undefined ? all : `${before}${quote}${url}${quote}`;
    });
  }

  async #script(path: string, isModule: boolean, depth: number): Promise<string | undefined> {
    const text = await this.text(path);
    if (text === undefined) return undefined;
    const whole = isModule ? await this.rewritten(path, text, depth) : text;
    return dataUrl("text/javascript", new TextEncoder().encode(whole));
  }

  async #take(path: string | undefined): Promise<Uint8Array | undefined> {
    const content = path === undefined ? undefined : await this.#read(path);
    this.#left -= content?.length ?? 0;
    return this.#left < 0 ? undefined : content;
  }
}

/** Resolves a reference of a file to a path of the workspace; `undefined` for other places. */
export function resolve(from: string, to: string): string | undefined {
  if (/^([a-z][a-z0-9+.-]*:|\/\/|#)/i.test(to)) return undefined;
  const { pathname } = new URL(to, new URL(encodeURI(from), "http://workspace/"));
  try {
    return decodeURIComponent(pathname.slice(1));
  } catch {
    return undefined;
  }
}

function typeOf(path: string): string {
  return TYPES[path.slice(path.lastIndexOf(".") + 1).toLowerCase()] ?? "application/octet-stream";
}

function decode(content: Uint8Array): string {
  return new TextDecoder().decode(content);
}

function dataUrl(type: string, content: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < content.length; at += 32_768) {
    binary += String.fromCharCode(...content.subarray(at, at + 32_768));
  }
  return `data:${type};base64,${btoa(binary)}`;
}
