// The demo's model: a script that decides from the conversation what comes next, as a model would.
// It works on any files, reacts to steers, edits and denials, and always comes to an end.

import { type Conversation, call, conversationOf } from "./conversation.js";
import { PROJECT } from "./project.js";
import { eventsOf, respond, type Said } from "./wire.js";
import { asksToStop, understood, writtenDown } from "./wishes.js";

/** The pause between two pieces of a reply, so that people can watch. */
export const PACE_MS = 12;

/** The files of the example; whatever else there is was added. */
const KNOWN = PROJECT;
/** The files that the demo itself writes. */
const OWN = ["CHANGELOG.md", "NOTES.md", "index.html"];
const FAULT = "quantity > from";
const FIXED = "quantity >= from";
const TEST = { program: "qjs", args: ["-m", "test.mjs"], timeout_ms: 10_000 };
/** The most files added by the user that it reads. */
const MOST_ADDED = 3;

/** Returns a function that stands in for `fetch` and answers requests as the provider would. */
export function demoFetch(pace: number): (url: string, init: RequestInit) => Promise<Response> {
  return (_url, { body, signal }) => {
    const text = String(body);
    const said = answer(conversationOf(text));
    return Promise.resolve(respond(eventsOf(said, Math.ceil(text.length / 4)), pace, signal));
  };
}

/** Returns the model's next reply. */
export function answer(at: Conversation): Said {
  return steered(at) ?? (isToFix(at) ? fix(at) : oblige(at));
}

function isToFix(at: Conversation): boolean {
  if (/\b(pass|fix|repair|bug|fail)/i.test(at.input)) return true;
  return at.earlier === 0 && understood(at, "wish", at.input) === undefined;
}

// Steers come first. Each is answered once: the call that answers it carries its number.
function steered(at: Conversation): Said | undefined {
  for (const [number, words] of at.steers.entries()) {
    const name = `steer${number}`;
    if (at.done.has(name)) continue;
    if (asksToStop(words)) return { text: "I stop here. What I have done so far stays." };
    const { says, calls } = understood(at, name, words) ?? writtenDown(at, name, words);
    return { text: `You say: “${shortened(words)}”. ${says}`, calls };
  }
  return undefined;
}

function fix(at: Conversation): Said {
  const look = at.done.get("look");
  if (look === undefined) {
    return {
      text: "I'll look at the project first: its files, and what it promises.",
      calls: [call(at, "look", "glob", { pattern: "**/*" })],
    };
  }
  const paths = pathsOf(look.text);
  if (paths.length === 0) return begin(at);
  return read(at, paths) ?? test(at, paths) ?? edit(at) ?? check(at, paths) ?? close(at, paths);
}

function read(at: Conversation, paths: string[]): Said | undefined {
  const names = ["README.md", "package.json"].filter((path) => paths.includes(path));
  const added = addedIn(paths).slice(0, MOST_ADDED);
  const all = [...names, ...added];
  if (all.length === 0 || at.done.has("read0")) return undefined;
  const text =
    added.length === 0
      ? ""
      : `There is something that you have added: ${quoted(added)}. I read it.`;
  const calls = all.map((file_path, number) =>
    call(at, `read${number}`, "read_file", { file_path }),
  );
  return { text, calls };
}

function test(at: Conversation, paths: string[]): Said | undefined {
  if (!paths.includes("test.mjs")) {
    const found = paths.length === 1 ? "one file" : `${paths.length} files`;
    const text = `I see ${found} and no \`test.mjs\`, so there is nothing that I can run.`;
    return { text: `${text} ${KNOWS}` };
  }
  if (at.done.has("test")) return undefined;
  const text = "The test runs with `qjs -m test.mjs`. Let me see what fails.";
  return { text, calls: [call(at, "test", "run_program", TEST)] };
}

function edit(at: Conversation): Said | undefined {
  const tested = at.done.get("test");
  if (tested === undefined || isGreen(tested.text)) return undefined;
  if (tested.denied)
    return { text: `Without running the test I can't tell. ${reasonOf(tested.text)}` };
  const file_path = "src/discount.js";
  const source = at.done.get("source");
  if (source === undefined) {
    const failing = /not ok \d+ - ([^:\n]+)/.exec(tested.text)?.[1];
    const text = failing === undefined ? "The test fails." : `It fails with “${failing}”.`;
    const pattern = "quantity\\s*[<>]";
    return {
      text: `${text} I'll find where a quantity is compared with a tier.`,
      calls: [
        call(at, "grep", "grep", { pattern, path: ".", output_mode: "content" }),
        call(at, "source", "read_file", { file_path }),
      ],
    };
  }
  if (at.done.has("edit")) return undefined;
  if (!source.text.includes(FAULT)) return undefined;
  const because =
    "`discountPercent` asks for more pieces than `from`, but the README says “from 10 pieces”: " +
    "the first quantity of a tier belongs to it.";
  const input = { file_path, old_string: FAULT, new_string: FIXED };
  return { text: because, calls: [call(at, "edit", "edit_file", input)] };
}

function check(at: Conversation, paths: string[]): Said | undefined {
  const edited = at.done.get("edit");
  if (edited === undefined || edited.failed) return undefined;
  const again = at.done.get("again");
  if (again === undefined) {
    return {
      text: "",
      calls: [
        call(at, "again", "run_program", TEST),
        call(at, "lookAgain", "glob", { pattern: "**/*" }),
      ],
    };
  }
  const now = pathsOf(at.done.get("lookAgain")?.text ?? "");
  const added = addedIn(now).filter((path) => !paths.includes(path));
  if (added.length === 0 || at.done.has("added0")) return undefined;
  const calls = added.slice(0, MOST_ADDED).map((file_path, number) => {
    return call(at, `added${number}`, "read_file", { file_path });
  });
  return { text: `While I worked, you have added ${quoted(added)}. I read it.`, calls };
}

function close(at: Conversation, paths: string[]): Said {
  const [tested, edited, again] = ["test", "edit", "again"].map((name) => at.done.get(name));
  const seen = addedOf(at, paths);
  if (edited?.denied) {
    const text =
      `I leave \`src/discount.js\` as it is. ${reasonOf(edited.text)}\n\n` +
      `The fault stays where it was: \`${FAULT}\` leaves out the first quantity of a tier; ` +
      `\`${FIXED}\` would take it in.`;
    return { text: `${text}${seen}` };
  }
  if (edited?.failed) return { text: `The edit did not work: ${firstLine(edited.text)}${seen}` };
  const result = again ?? tested;
  const passed = /(\d+) of (\d+) passed/.exec(result?.text ?? "");
  const count = passed === null ? "" : ` ${passed[1]} of ${passed[2]}.`;
  if (result !== undefined && isGreen(result.text)) {
    if (edited === undefined)
      return { text: `The tests pass:${count} There is nothing to fix.${seen}` };
    const text =
      `The tests pass:${count}\n\nThe fault was in \`src/discount.js\`: \`discountPercent\` ` +
      "compared with `>`, so exactly 10 pieces got no discount and exactly 50 pieces only 5 %. " +
      "It now compares with `>=`, as the README promises.";
    return { text: `${text}${seen}` };
  }
  const failing =
    /not ok \d+ - [^\n]+/.exec(result?.text ?? "")?.[0] ?? firstLine(result?.text ?? "");
  const text = `The test still fails: \`${failing}\`. That is not the fault that I know`;
  return { text: `${text}, and I am only a script. ${KNOWS}${seen}` };
}

// An empty workspace gets a first page.
function begin(at: Conversation): Said {
  const page = at.done.get("begin");
  if (page === undefined) {
    const wish = understood(at, "begin", "a page");
    return { text: "The workspace is empty. I begin with a small page.", calls: wish?.calls };
  }
  if (page.denied) return { text: `Then I leave it empty. ${reasonOf(page.text)}` };
  return { text: "There it is: `index.html`. The tab *Preview* shows it." };
}

// Any later input is taken as a wish.
function oblige(at: Conversation): Said {
  if (asksToStop(at.input)) return { text: "There is nothing under way." };
  const wish = at.done.get("wish");
  if (wish === undefined) {
    const known = understood(at, "wish", at.input);
    if (known !== undefined) return { text: known.says, calls: known.calls };
    return { text: `I am a script and don't understand that. ${KNOWS}` };
  }
  if (wish.denied) return { text: `I leave it. ${reasonOf(wish.text)}` };
  if (wish.failed) return { text: `That did not work: ${firstLine(wish.text)}` };
  return { text: `Done: \`${String(wish.input.file_path)}\`.` };
}

const KNOWS =
  "You can ask me to make the tests pass, for a comment, another test, a changelog or a page. " +
  "For all else, choose a model under *Model*.";

function isGreen(text: string): boolean {
  return !/not ok \d|Error|denied/.test(text) && /\d+ of \d+ passed/.test(text);
}

function reasonOf(denial: string): string {
  const reason = /^The call was denied: ([^]+)/.exec(denial)?.[1];
  return reason === undefined ? "You did not want it." : `You said: “${shortened(reason.trim())}”.`;
}

function addedOf(at: Conversation, paths: string[]): string {
  const now = pathsOf(at.done.get("lookAgain")?.text ?? "");
  const added = addedIn([...new Set([...paths, ...now])]);
  return added.length === 0 ? "" : `\n\nI have also seen what you added: ${quoted(added)}.`;
}

function addedIn(paths: string[]): string[] {
  return paths.filter((path) => !KNOWN.includes(path) && !OWN.includes(path));
}

function pathsOf(listing: string): string[] {
  const lines = listing.split("\n").map((line) => line.trim().replace(/^\.?\//, ""));
  return lines.filter((line) => line !== "" && !/^\[|^no |^\(/i.test(line));
}

function quoted(paths: string[]): string {
  const shown = paths.slice(0, MOST_ADDED).map((path) => `\`${path.replaceAll("`", "'")}\``);
  const rest = paths.length - shown.length;
  return rest > 0 ? `${shown.join(", ")} and ${rest} more` : shown.join(", ");
}

function firstLine(text: string): string {
  return shortened(text.split("\n", 1)[0] ?? "");
}

function shortened(words: string): string {
  return words.length > 160 ? `${words.slice(0, 159)}…` : words;
}
