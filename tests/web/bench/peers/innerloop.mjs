// Our package, as its users open it.

import { ANSWER, PROMPT, TOOLS } from "../model.mjs";

export async function peer() {
  const { Agent } = await import("innerloop");
  const own = TOOLS.map((tool) => ({ ...tool, readOnly: true, execute: () => ANSWER }));
  return {
    /** An agent; `run` drains all events and gives the final text. */
    async open({ fetch, builtins = "none", files = {}, tools = own }) {
      const agent = await Agent.create({
        provider: "openai-chat",
        model: "mock-1",
        baseUrl: "https://model.test/v1",
        fetch,
        builtins,
        files,
        systemPrompt: PROMPT,
        limits: { maxTurns: 0, maxToolRounds: 0 },
        config: { loops: { detect: false }, guard: { read_before_write: false } },
        tools,
      });
      return {
        agent,
        async run(text) {
          const run = agent.run(text);
          for await (const _event of run);
          const { status, text: said, error } = await run.result();
          if (status !== "completed") throw new Error(`${status}: ${error?.message}`);
          return said;
        },
        close: () => agent.close(),
      };
    },
  };
}
