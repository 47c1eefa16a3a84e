// The AI SDK: ToolLoopAgent, streamed.

import { ANSWER, PROMPT, TOOLS } from "../model.mjs";

export async function peer() {
  const { ToolLoopAgent, jsonSchema, tool, isStepCount, stepCountIs } = await import("ai");
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const until = isStepCount ?? stepCountIs;
  const tools = Object.fromEntries(
    TOOLS.map(({ name, description, parameters }) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters), execute: async () => ANSWER }),
    ]),
  );
  return {
    async open({ fetch }) {
      const provider = createOpenAICompatible({
        name: "mock",
        baseURL: "https://model.test/v1",
        apiKey: "sk-test",
        fetch,
      });
      const agent = new ToolLoopAgent({
        model: provider("mock-1"),
        instructions: PROMPT,
        tools,
        stopWhen: until(100_000),
      });
      let messages = [];
      return {
        async run(text) {
          messages = [...messages, { role: "user", content: text }];
          const result = await agent.stream({ messages });
          for await (const part of result.fullStream) {
            if (part.type === "error") throw part.error;
          }
          const response = await result.response;
          messages = [...messages, ...response.messages];
          return result.text;
        },
        close() {},
      };
    },
  };
}
