// The view of the transcript: messages, the model's text as it streams, and a card for each call.

import { useComputed, useSignal } from "@preact/signals";
import { memo } from "preact/compat";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { DEMO } from "../shared/messages.js";
import {
  asked,
  checkpoints,
  connection,
  files,
  isExample,
  keepsSessions,
  moment,
  redo,
  shownTranscript,
  undo,
  undone,
} from "../state/app.js";
import {
  type CallEntry,
  type Entry,
  type FoldEntry,
  type SaidEntry,
  seconds,
  type TextEntry,
} from "../state/transcript.js";
import { ApprovalCard } from "./approval.js";
import { confirm } from "./dialogs.js";
import { useGrowing } from "./growing.js";
import { Blocks, htmlOf } from "./markdown.js";
import { isModelOpen } from "./model.js";

/** The log of the session. */
export function TranscriptView() {
  const log = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const top = useRef(0);
  const { entries, isSpeaking } = shownTranscript.value;
  useEffect(() => {
    const node = log.current;
    if (node === null) return undefined;
    // Keeps the end in view while anything grows, if it was in view before.
    const watch = new ResizeObserver(() => {
      if (follows.current) node.scrollTop = node.scrollHeight;
    });
    for (const each of [node, ...node.children]) watch.observe(each);
    return () => watch.disconnect();
  }, []);
  const onScroll = () => {
    const node = log.current;
    if (node === null) return;
    // Only scrolling up ends the following. Text that grows below also moves the end away, but
    // without the person having done anything.
    const isUp = node.scrollTop < top.current;
    top.current = node.scrollTop;
    const isAtEnd = node.scrollHeight - node.scrollTop - node.clientHeight < 60;
    follows.current = isAtEnd || (follows.current && !isUp);
  };
  const questions = moment.value === undefined ? asked.value : [];
  const loose = questions.filter(({ callId }) => {
    return !entries.value.some((entry) => entry.kind === "call" && entry.callId === callId);
  });
  return (
    <div
      id="log"
      ref={log}
      role="log"
      aria-label="Transcript"
      aria-live="polite"
      aria-busy={isSpeaking.value}
      tabIndex={0}
      onScroll={onScroll}
    >
      <div class="entries">
        {entries.value.length === 0 && <Welcome />}
        {entries.value.map((entry) => (
          <EntryView key={entry.key} entry={entry} />
        ))}
        {loose.map((one) => (
          <ApprovalCard key={one.id} asked={one} />
        ))}
        {undone.value > 0 && moment.value === undefined && (
          <p class="note">
            What was said from here on is taken back, and its changes to files.{" "}
            <button type="button" class="quiet" onClick={() => void redo()}>
              Redo
            </button>
          </p>
        )}
      </div>
    </div>
  );
}

function Welcome() {
  const isDemo = connection.value.provider === DEMO;
  return (
    <div class="welcome">
      <h3>A coding agent that lives in this page</h3>
      {isDemo && isExample.value && (
        <p>
          One test of this little shop fails. Press <strong>Run</strong> and watch it being fixed.
          No key is needed: a script stands in for the model; the files, the edits and the test runs
          are real.
        </p>
      )}
      {files.value.size === 0 && <p>Say what to build, or bring files first.</p>}
      {isDemo && files.value.size > 0 && !isExample.value && (
        <p>The script that stands in for a model knows little of files that are not its own.</p>
      )}
      <ul>
        <li>Steer it while it works, allow or deny its edits.</li>
        <li>Look at what has changed, and take back what you don't want.</li>
        {keepsSessions.value && (
          <li>Sessions and files are kept in this browser, and are there again tomorrow.</li>
        )}
      </ul>
      {isDemo && (
        <button type="button" onClick={() => (isModelOpen.value = true)}>
          Use your own model…
        </button>
      )}
    </div>
  );
}

const EntryView = memo(({ entry }: { entry: Entry }) => {
  switch (entry.kind) {
    case "said":
      return <Said entry={entry} />;
    case "text":
      return <Reply entry={entry} />;
    case "thinking":
      return <Thinking entry={entry} />;
    case "call":
      return <Call entry={entry} />;
    case "fold":
      return <Fold entry={entry} />;
    case "note":
      return <p class={entry.bad ? "note bad" : "note"}>{entry.text}</p>;
  }
});

function Said({ entry: { text, input } }: { entry: SaidEntry }) {
  const canUndo = input !== undefined && moment.value === undefined;
  const back = async () => {
    const question = "Take the session back to before this input? Its files go back, too.";
    if (await confirm(question, "Undo")) await undo(input ?? 0);
  };
  return (
    <div class="said" data-kind={input === undefined ? "steer" : "input"}>
      <p>{text}</p>
      <div class="tools">
        {canUndo && checkpoints.value.length > (input ?? 0) && (
          <button type="button" class="quiet undo" onClick={() => void back()}>
            Undo
          </button>
        )}
      </div>
    </div>
  );
}

const Block = memo(({ markdown }: { markdown: string }) => (
  <div dangerouslySetInnerHTML={{ __html: htmlOf(markdown) }} />
));

function Reply({ entry }: { entry: TextEntry }) {
  const blocks = useMemo(() => new Blocks(), [entry]);
  const text = useGrowing(entry.text);
  return (
    <div class="reply">
      {blocks.of(text).map((block, at) => (
        <Block key={at} markdown={block} />
      ))}
    </div>
  );
}

function Thinking({ entry }: { entry: TextEntry }) {
  return (
    <details class="thinking">
      <summary>Thinking</summary>
      <pre>{useGrowing(entry.text)}</pre>
    </details>
  );
}

// A fold. The turns above it stay visible; this is the text that the model reads instead of them.
function Fold({ entry: { title, text } }: { entry: FoldEntry }) {
  if (text === "") return <p class="note">{title}.</p>;
  return (
    <details class="thinking fold">
      <summary>{title}</summary>
      <pre>{text}</pre>
    </details>
  );
}

function Call({ entry }: { entry: CallEntry }) {
  const ended = entry.ended.value;
  const question = asked.value.find(({ callId }) => callId === entry.callId);
  // A call with output is open while it runs, unless the person has opened or closed it.
  const chosen = useSignal<boolean | undefined>(undefined);
  const prints = useComputed(() => entry.ended.value === undefined && entry.output.value !== "");
  const isOpen = chosen.value ?? prints.value;
  const args = entry.arguments.value;
  const isWhole = entry.isBegun.value || question !== undefined;
  const failed = ended?.outcome.error !== undefined;
  const state = ended === undefined ? "running" : failed ? "failed" : "done";
  return (
    <>
      <details class={`call ${state}`} data-tool={entry.name} open={isOpen}>
        <summary
          onClick={(event) => {
            event.preventDefault();
            chosen.value = !isOpen;
          }}
        >
          <span class="tool">
            {entry.agent > 0 ? `agent ${entry.agent}: ` : ""}
            {entry.name}
          </span>
          <span class="args">{isWhole ? briefly(args) : sizeOf(args)}</span>
          <span class="state">{stateOf(entry, question !== undefined)}</span>
        </summary>
        {isOpen && <CallBody entry={entry} />}
      </details>
      {question !== undefined && moment.value === undefined && <ApprovalCard asked={question} />}
    </>
  );
}

const FEW_LINES = 20;

function CallBody({ entry }: { entry: CallEntry }) {
  const isWhole = useSignal(false);
  const output = entry.output.value;
  const lines = output.split("\n", FEW_LINES + 1);
  const isLong = lines.length > FEW_LINES;
  const shown = isLong && !isWhole.value ? `${lines.slice(0, FEW_LINES).join("\n")}\n…` : output;
  const args = entry.arguments.value;
  const fields = Object.entries(parsed(args) ?? {});
  return (
    <div class="call-body">
      {fields.length === 0 ? (
        args !== "{}" && <pre aria-label="Arguments">{args}</pre>
      ) : (
        <dl aria-label="Arguments">
          {fields.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <pre tabIndex={0}>{plain(value)}</pre>
              </dd>
            </div>
          ))}
        </dl>
      )}
      <pre class="output" role="group" aria-label="Output" tabIndex={0}>
        {entry.ended.value === undefined ? shown : shown || "(no output)"}
      </pre>
      {isLong && (
        <button type="button" class="quiet" onClick={() => (isWhole.value = !isWhole.value)}>
          {isWhole.value ? "Show less" : "Show all"}
        </button>
      )}
    </div>
  );
}

function stateOf(entry: CallEntry, isAsked: boolean): string {
  const ended = entry.ended.value;
  if (isAsked) return "asks";
  if (!entry.isBegun.value) return "writing";
  if (ended === undefined) return "running";
  const { outcome, ms } = ended;
  const exit = outcome.exit === undefined ? "" : `exit ${outcome.exit}, `;
  return `${outcome.error === undefined ? "✓" : "✗"} ${exit}${seconds(ms)}`;
}

function sizeOf(args: string): string {
  return args === "" ? "" : `${args.length.toLocaleString("en")} characters so far`;
}

// The arguments' values in short, for the title of the card.
function briefly(args: string): string {
  const values = Object.values(parsed(args) ?? {});
  const text = values.map((value) => plain(value).slice(0, 200)).join(" ");
  const line = text.replace(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

function parsed(args: string): object | undefined {
  try {
    const value = JSON.parse(args) as unknown;
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function plain(value: unknown): string {
  if (Array.isArray(value)) return value.map(plain).join(" ");
  return typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
}
