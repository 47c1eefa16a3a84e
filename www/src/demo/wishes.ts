// The wishes that the demo understands, and its calls for each. It knows few words, and says so; a
// steer that it does not know is written down, so that it has a visible effect all the same.

import { type Conversation, call } from "./conversation.js";
import type { ToolUse } from "./wire.js";

/** A wish that was understood. */
export interface Wish {
  /** The demo's text about what it does. */
  says: string;
  calls: ToolUse[];
}

const COMMENT_BEFORE = "/** The discount in percent for this many pieces of one article. */";
const COMMENT_AFTER = `/**
 * The discount in percent for this many pieces of one article. The first quantity of a tier
 * belongs to it: 10 pieces have 5 %, 50 pieces have 10 %.
 */`;
const TEST_BEFORE = 'test("fifty pieces have 10 %", () => equal(discountPercent(50), 10));';
const TEST_AFTER = `${TEST_BEFORE}
test("one piece has no discount", () => equal(discountPercent(1), 0));`;

const CHANGELOG = `# Changelog

## Unreleased

- The first quantity of a tier belongs to it: 10 pieces have 5 %, 50 pieces have 10 %.
`;

/** A page for the preview. */
export const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Till</title>
    <style>
      body { font: 18px/1.5 system-ui, sans-serif; margin: 2rem; }
      output { font-weight: bold; }
    </style>
  </head>
  <body>
    <h1>Till</h1>
    <label>Pencils at 0.80: <input id="pieces" type="number" min="1" value="10" /></label>
    <p>Total: <output id="total"></output></p>
    <script>
      const pieces = document.getElementById("pieces");
      const show = () => {
        const count = Math.max(1, Math.floor(Number(pieces.value)) || 1);
        const percent = count >= 50 ? 10 : count >= 10 ? 5 : 0;
        const total = (count * 80 * (100 - percent)) / 100;
        document.getElementById("total").textContent =
          (Math.round(total) / 100).toFixed(2) + (percent ? ", " + percent + " % off" : "");
      };
      pieces.addEventListener("input", show);
      show();
    </script>
  </body>
</html>
`;

/** Returns whether words ask to stop. */
export function asksToStop(words: string): boolean {
  return /\b(stop|halt|enough|never mind)\b/i.test(words);
}

/** Returns the wish in some words; `undefined` if the demo does not know them. */
export function understood(at: Conversation, name: string, words: string): Wish | undefined {
  if (/\b(comment|explain|document)/i.test(words)) {
    const [old_string, new_string] = [COMMENT_BEFORE, COMMENT_AFTER];
    const file_path = "src/discount.js";
    return {
      says: "I write the rule into the comment above the function.",
      calls: [
        call(at, `${name}Read`, "read_file", { file_path }),
        call(at, name, "edit_file", { file_path, old_string, new_string }),
      ],
    };
  }
  if (/\b(changelog|change log|release note)/i.test(words)) {
    const input = { file_path: "CHANGELOG.md", content: CHANGELOG };
    return { says: "I begin a changelog.", calls: [call(at, name, "write_file", input)] };
  }
  if (/\b(page|html|preview|website)\b/i.test(words)) {
    const input = { file_path: "index.html", content: PAGE };
    return { says: "I write a small page.", calls: [call(at, name, "write_file", input)] };
  }
  if (/\b(add|another|more|write)\b.*\btests?\b|\btest case\b/i.test(words)) {
    const [old_string, new_string] = [TEST_BEFORE, TEST_AFTER];
    const file_path = "test.mjs";
    return {
      says: "I add a case to the test.",
      calls: [
        call(at, `${name}Read`, "read_file", { file_path }),
        call(at, name, "edit_file", { file_path, old_string, new_string }),
      ],
    };
  }
  return undefined;
}

/** Returns the wish for words that the demo does not know: it writes them down. */
export function writtenDown(at: Conversation, name: string, words: string): Wish {
  const content = `# Notes\n\nSaid while the demo ran:\n\n> ${words.replaceAll("\n", "\n> ")}\n`;
  const input = { file_path: "NOTES.md", content };
  return {
    says: "I am a script and know few words, so I keep yours in `NOTES.md`.",
    calls: [call(at, name, "write_file", input)],
  };
}
