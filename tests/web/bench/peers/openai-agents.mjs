// @openai/agents over Chat Completions, streamed.

import { ANSWER, PROMPT, TOOLS } from "../model.mjs";

export async function peer() {
  const { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } = await import(
    "@openai/agents"
  );
  const { default: OpenAI } = await import("openai");
  setTracingDisabled(true);
  const tools = TOOLS.map(({ name, description, parameters }) =>
    tool({ name, description, parameters, strict: false, execute: async () => ANSWER }),
  );
  return {
    async open({ fetch }) {
      const client = new OpenAI({ apiKey: "sk-test", baseURL: "https://model.test/v1", fetch });
      const agent = new Agent({
        name: "bench",
        instructions: PROMPT,
        model: new OpenAIChatCompletionsModel(client, "mock-1"),
        tools,
      });
      let history = [];
      return {
        async run(text) {
          const input = [...history, { role: "user", content: text }];
          const result = await run(agent, input, { stream: true, maxTurns: 100_000 });
          for await (const _event of result);
          await result.completed;
          history = result.history;
          return result.finalOutput;
        },
        close() {},
      };
    },
  };
}
