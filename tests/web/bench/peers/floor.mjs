// No agent: the model of the bench, and the least that JavaScript does to read it. Most of what a
// figure here takes is the platform's and the bench's own, and stands in everybody's.

export async function peer() {
  return {
    async open({ fetch }) {
      const decoder = new TextDecoder();
      /** What the next reply says; nothing if it calls a tool. */
      async function reply() {
        const response = await fetch("https://model.test/v1/chat/completions", { body: "{}" });
        const reader = response.body.getReader();
        let [said, isCall] = ["", false];
        for (;;) {
          const { done, value } = await reader.read();
          if (done) return isCall ? undefined : said;
          for (const event of decoder.decode(value, { stream: true }).split("\n\n")) {
            if (!event.startsWith("data: {")) continue;
            const delta = JSON.parse(event.slice(6)).choices[0]?.delta;
            said += delta?.content ?? "";
            isCall ||= delta?.tool_calls !== undefined;
          }
        }
      }
      return {
        async run() {
          for (;;) {
            const said = await reply();
            if (said !== undefined) return said;
          }
        },
        close() {},
      };
    },
  };
}
