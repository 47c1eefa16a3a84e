// @mariozechner/pi-agent-core over its own provider for Chat Completions.

import { ANSWER, PROMPT, TOOLS } from "../model.mjs";

export async function peer() {
  const { Agent } = await import("@mariozechner/pi-agent-core");
  const model = {
    id: "mock-1",
    name: "mock-1",
    api: "openai-completions",
    provider: "openai",
    baseUrl: "https://model.test/v1",
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 1_000_000,
    maxTokens: 16_000,
  };
  const tools = TOOLS.map((tool) => ({
    ...tool,
    label: tool.name,
    execute: async () => ({ content: [{ type: "text", text: ANSWER }], details: {} }),
  }));
  return {
    async open({ fetch }) {
      globalThis.fetch = fetch;
      const agent = new Agent({
        initialState: { systemPrompt: PROMPT, model, tools },
        getApiKey: () => "sk-test",
      });
      agent.subscribe(() => {});
      return {
        async run(text) {
          await agent.prompt(text);
          const last = agent.state.messages.at(-1);
          if (last.errorMessage) throw new Error(last.errorMessage);
          return last.content.map((part) => part.text ?? "").join("");
        },
        close() {},
      };
    },
  };
}
