// CodeMirror as the page uses it: one view, with a new state for each file that is opened.

import { indentWithTab } from "@codemirror/commands";
import { Compartment, EditorState, type Extension, Transaction } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { basicSetup } from "codemirror";
import { languageOf } from "./languages.js";
import { colours, theme } from "./style.js";

/** The functions that the editor calls. */
export interface EditorSide {
  changed(): void;
  save(): void;
}

/** The length of text from which on it is shown without colours. */
const MOST_COLOURED = 1_000_000;

/** An editor in an element. */
export class Editor {
  readonly #view: EditorView;
  readonly #language = new Compartment();
  readonly #lock = new Compartment();
  readonly #side: EditorSide;
  #isLoading = false;
  /** The file that is shown. */
  #path = "";
  /**
   * True if a person has scrolled or typed since the file was opened: then the view stays there.
   */
  #isLed = false;

  constructor(parent: HTMLElement, side: EditorSide) {
    this.#side = side;
    // In a shadow tree CodeMirror adopts its styles as objects; elsewhere it writes `<style>`
    // elements, which the page's content security policy forbids.
    const root = parent.attachShadow({ mode: "open" });
    this.#view = new EditorView({ parent: root, root });
    for (const sign of ["wheel", "touchmove", "pointerdown", "keydown"]) {
      this.#view.scrollDOM.addEventListener(sign, () => (this.#isLed = true), { passive: true });
    }
  }

  get text(): string {
    return this.#view.state.doc.toString();
  }

  /** Shows a file. */
  open(path: string, text: string, isReadOnly: boolean): void {
    const extensions: Extension[] = [
      basicSetup,
      keymap.of([
        {
          key: "Mod-s",
          run: () => {
            this.#side.save();
            return true;
          },
        },
        indentWithTab,
      ]),
      colours,
      theme,
      this.#language.of([]),
      this.#lock.of(EditorState.readOnly.of(isReadOnly)),
      EditorView.contentAttributes.of({ "aria-label": `Content of ${path}` }),
      EditorView.updateListener.of(({ docChanged }) => {
        if (docChanged && !this.#isLoading) this.#side.changed();
      }),
    ];
    this.#isLed = false;
    this.#path = path;
    this.#view.setState(EditorState.create({ doc: text, extensions }));
    if (text.length <= MOST_COLOURED) void this.#colour(path);
  }

  /** Replaces the text of the shown file; the selection stays as far as it can. */
  update(text: string, isReadOnly: boolean): void {
    const { state } = this.#view;
    if (state.readOnly !== isReadOnly) {
      const readOnly = EditorState.readOnly.of(isReadOnly);
      this.#view.dispatch({ effects: this.#lock.reconfigure(readOnly) });
    }
    const before = this.text;
    if (before === text) return;
    // Only the part that differs is replaced: CodeMirror then keeps selection and folds, and lays
    // out little for each piece that the model writes.
    let from = 0;
    while (from < before.length && before[from] === text[from]) from += 1;
    let [to, end] = [before.length, text.length];
    while (to > from && end > from && before[to - 1] === text[end - 1]) {
      to -= 1;
      end -= 1;
    }
    // To the beginning of the line: scrolling to its end would move the text sideways.
    const line = text.lastIndexOf("\n", end - 1) + 1;
    this.#isLoading = true;
    this.#view.dispatch({
      changes: { from, to, insert: text.slice(from, end) },
      // A text that the model writes is no step of the person's undo history.
      annotations: Transaction.addToHistory.of(!isReadOnly),
      effects: this.#isLed ? [] : EditorView.scrollIntoView(line, { y: "nearest" }),
    });
    this.#isLoading = false;
  }

  focus(): void {
    this.#view.focus();
  }

  close(): void {
    this.#view.destroy();
  }

  async #colour(path: string): Promise<void> {
    const language = await languageOf(path);
    // Another file may have been opened while the language was loaded.
    if (language === undefined || this.#path !== path) return;
    this.#view.dispatch({ effects: this.#language.reconfigure(language) });
  }
}
