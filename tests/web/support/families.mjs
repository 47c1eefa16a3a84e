// The three families of the specification's parity matrix, each over its own protocol: what a
// server sends as their models, what their requests say, and by which words they call tools.

import { stream } from "./anthropic.mjs";

const patch = (text) => `*** Begin Patch\n${text}*** End Patch\n`;
const marked = (mark, text) =>
  text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `${mark}${line}\n`)
    .join("");

/**
 * A family: its provider and model, the path below a server, `reply` for what the model says and
 * calls (`[name, arguments]`, free text where the arguments are a text), `results`, `said`,
 * `tools` and `effort` for what a request's body says, and the words for its tools.
 */
export const FAMILIES = [
  {
    provider: "openai",
    model: "gpt-5.2",
    below: "/v1",
    reply: ({ text, calls = [] }) => sse(responses(text, calls)),
    results: ({ input }) =>
      input
        .slice(input.findLastIndex(isModels) + 1)
        .filter(({ type }) => type.endsWith("_output"))
        .map(({ output }) => ({ text: textOf(output) })),
    said: ({ input }) => textOf(input.at(-1).content),
    tools: ({ tools }) => tools.map(({ name }) => name),
    effort: ({ reasoning }) => reasoning?.effort,
    read: (path) => ["read_file", { file_path: path }],
    write: (path, text) => ["apply_patch", patch(`*** Add File: ${path}\n${marked("+", text)}`)],
    edit: (path, old, text) => {
      const hunk = `@@\n${marked("-", old)}${marked("+", text)}`;
      return ["apply_patch", patch(`*** Update File: ${path}\n${hunk}`)];
    },
    patch: (text) => ["apply_patch", patch(text)],
    glob: (pattern) => ["glob", { pattern }],
    grep: (pattern) => ["grep", { pattern }],
    look: () => ["list_dir", {}],
  },
  {
    provider: "anthropic",
    model: "claude-sonnet-5-5",
    below: "",
    reply: (content) => stream(content).join(""),
    results: ({ messages }) =>
      messages
        .at(-1)
        .content.filter(({ type }) => type === "tool_result")
        .map(({ content, is_error }) => ({ text: textOf(content), isError: is_error === true })),
    said: ({ messages }) => messages.at(-1).content.at(-1).text,
    tools: ({ tools }) => tools.map(({ name }) => name),
    effort: ({ output_config }) => output_config?.effort,
    read: (path) => ["Read", { file_path: path }],
    write: (path, text) => ["Write", { file_path: path, content: text }],
    edit: (path, old, text) => ["Edit", { file_path: path, old_string: old, new_string: text }],
    glob: (pattern) => ["Glob", { pattern }],
    grep: (pattern) => ["Grep", { pattern, output_mode: "content" }],
    look: () => ["Glob", { pattern: "*" }],
  },
  {
    provider: "gemini",
    model: "gemini-3-flash",
    below: "",
    reply: ({ text, calls = [] }) => sse(generated(text, calls)),
    results: ({ contents }) =>
      contents
        .at(-1)
        .parts.filter(({ functionResponse }) => functionResponse !== undefined)
        .map(({ functionResponse: { response } }) => ({
          text: response.error ?? response.output,
          isError: response.error !== undefined,
        })),
    said: ({ contents }) => contents.at(-1).parts.at(-1).text,
    tools: ({ tools }) => tools[0].functionDeclarations.map(({ name }) => name),
    effort: ({ generationConfig }) => generationConfig?.thinkingConfig?.thinkingLevel,
    read: (path) => ["read_file", { file_path: path }],
    write: (path, text) => ["write_file", { file_path: path, content: text }],
    edit: (path, old, text) => {
      const instruction = "Change it.";
      return ["replace", { file_path: path, old_string: old, new_string: text, instruction }];
    },
    glob: (pattern) => ["glob", { pattern }],
    grep: (pattern) => ["grep_search", { pattern }],
    look: () => ["list_directory", { dir_path: "." }],
  },
];

/** A step that answers with a streamed reply of a family. */
export function replyOf(family, content) {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(family.reply(content));
  };
}

function sse(events) {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

let count = 0;

/** The events of OpenAI Responses. */
function responses(text, calls) {
  const output = calls.map(([name, given]) => {
    count += 1;
    const call = { id: `fc_${count}`, call_id: `call_${count}`, name, status: "completed" };
    if (typeof given === "string") return { type: "custom_tool_call", ...call, input: given };
    return { type: "function_call", ...call, arguments: JSON.stringify(given) };
  });
  if (text !== undefined) {
    const content = [{ type: "output_text", text, annotations: [] }];
    const message = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
    output.unshift({ ...message, content });
  }
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const response = { id: "resp_1", status: "completed", output, usage };
  const done = (item, output_index) => ({ type: "response.output_item.done", output_index, item });
  return [
    { type: "response.created", response: { id: "resp_1", status: "in_progress" } },
    ...output.map(done),
    { type: "response.completed", response },
  ];
}

/** The chunk of Gemini's `streamGenerateContent`. */
function generated(text, calls) {
  const parts = calls.map(([name, args]) => ({ functionCall: { name, args } }));
  if (text !== undefined) parts.unshift({ text });
  const candidate = { content: { role: "model", parts }, finishReason: "STOP", index: 0 };
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
  return [{ candidates: [candidate], usageMetadata }];
}

const isModels = ({ type, role }) => type.endsWith("_call") || role === "assistant";

function textOf(content) {
  if (typeof content === "string") return content;
  return content.map((part) => part.text ?? "").join("\n");
}
