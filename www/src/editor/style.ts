// The style of the editor: the page's colours, which its shadow tree inherits as variables.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** The editor around the text. */
export const theme = EditorView.theme({
  "&": {
    height: "100%",
    fontSize: "var(--code-size)",
    color: "var(--text)",
    backgroundColor: "var(--pane)",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": {
    color: "var(--faint)",
    backgroundColor: "var(--pane)",
    borderColor: "var(--line)",
  },
  ".cm-activeLine, .cm-activeLineGutter": {
    backgroundColor: "color-mix(in srgb, var(--raised) 45%, transparent)",
  },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "color-mix(in srgb, var(--accent) 30%, transparent)" },
  ".cm-panels, .cm-tooltip": {
    color: "var(--text)",
    backgroundColor: "var(--raised)",
    borderColor: "var(--line)",
  },
  ".cm-foldPlaceholder": { color: "var(--faint)", backgroundColor: "var(--raised)" },
});

/** The colours of the text. */
export const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.keyword, tags.operatorKeyword], color: "var(--code-keyword)" },
    { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
    { tag: tags.comment, color: "var(--faint)", fontStyle: "italic" },
    { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--code-number)" },
    { tag: [tags.typeName, tags.className, tags.tagName], color: "var(--code-type)" },
    { tag: [tags.propertyName, tags.attributeName], color: "var(--code-property)" },
    { tag: tags.heading, color: "var(--code-property)", fontWeight: "600" },
    { tag: tags.link, textDecoration: "underline" },
    { tag: tags.strong, fontWeight: "600" },
    { tag: tags.emphasis, fontStyle: "italic" },
  ]),
);
