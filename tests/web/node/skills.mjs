// Skills: those among the files, those given as an option, and that one that was read stays.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve } from "../support/anthropic.mjs";
import { Agent, agentAt, Session } from "../support/installed.mjs";

const FILE = "---\nname: pdf\ndescription: Reads PDFs. Use when: a PDF comes.\n---\n\nPDF-RULES\n";
const PATH = ".agents/skills/pdf/SKILL.md";
const NOTES = { name: "notes", description: "Writes notes.", body: "NOTE-RULES" };

/** The system prompt of an agent with these options. */
async function prompt(options) {
  const server = await serve(reply({ text: "Hello." }));
  const agent = await agentAt(server, options);
  await agent.run("Hello").result();
  await agent.close();
  await server.close();
  return server.requests[0].body.system[0].text;
}

test("n3 skills are found among the files, beside those given", async () => {
  const files = {
    [PATH]: FILE,
    ".claude/skills/deep/er/SKILL.md": FILE.replace("pdf", "deeper"),
    ".agents/skills/broken/SKILL.md": "Nothing.",
  };
  const skills = [NOTES, { ...NOTES, name: "pdf" }];
  const text = await prompt({ files, skills });
  for (const line of [
    `- pdf: Reads PDFs. Use when: a PDF comes. (${PATH})`,
    "- deeper: Reads PDFs. Use when: a PDF comes. (.claude/skills/deep/er/SKILL.md)",
    "- notes: Writes notes. (~/.agents/skills/notes/SKILL.md)",
  ]) {
    assert.equal(text.split(line).length, 2, `${line}: ${text}`);
  }
  assert.ok(!text.includes("broken"), text);
  assert.ok(!(await prompt({ files, skills: false })).includes("# Skills"));
  assert.ok(!(await prompt({})).includes("# Skills"));
});

test("n3 what is no skill is refused, and a bare session has those given", async () => {
  const fine = { provider: "anthropic", model: "m", apiKey: "sk-test-0123456789" };
  for (const [skills, message] of [
    [7, /`skills` must be false, or a list/],
    [[7], /`skills` must be an object with name, description, body/],
    [[{ nam: "x" }], /no option `skills\.nam`/],
    [[{ name: "x", description: "y" }], /facts\.skills\[0\]/],
  ]) {
    const refused = { name: "AgentError", code: "bad_option", message };
    await assert.rejects(Agent.create({ ...fine, skills }), refused);
  }
  const { facts } = await Session.config({ provider: "anthropic", model: "m", skills: [NOTES] });
  assert.deepEqual(facts.skills, [{ ...NOTES, path: "" }]);
});

test("n3 skills that were read survive a summary", async () => {
  const words = Array.from({ length: 200 }, (_, at) => `Long answer ${at}. `).join("");
  const answers = [1, 2, 3, 4].map((number) => reply({ text: words, usage: [number * 1000, 750] }));
  const paths = [PATH, "~/.agents/skills/notes/SKILL.md"];
  const calls = paths.map((path) => ["read_file", { file_path: path }]);
  const server = await serve(
    reply({ calls }),
    reply({ text: "Read." }),
    ...answers,
    reply({ text: "It was long." }),
    reply({ text: "Five." }),
  );
  const agent = await agentAt(server, { files: { [PATH]: FILE }, skills: [NOTES] });
  for (const number of [0, 1, 2, 3, 4]) await agent.run(`Question ${number}`).result();
  await agent.compact();
  await agent.run("Question 5").result();
  const last = JSON.stringify(server.requests.at(-1).body.messages);
  assert.match(last, /It was long\./);
  for (const rules of ["PDF-RULES", "NOTE-RULES"]) {
    assert.equal(last.split(rules).length, 2, last);
  }
  await agent.close();
  await server.close();
});
