// What must hold of every engine: wherever its process is killed, the run goes on, nothing is done
// twice that has an effect, and nothing is lost.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { world } from "./world.mjs";

/** A test whose crash never comes fails. */
const LIMITED = { timeout: 60_000 };
/** What the model is told of a run of which nobody knows what became. */
const LOST = /may or may not have taken effect/;

/**
 * The tests of an engine. `open` starts an agent in a world: `say` has it begin, `asked` waits for
 * its question, `allow` says yes to that, `end` waits for what it says last, `crash` kills its
 * process and starts another one, `close` ends all.
 */
export function testCrashes(open) {
  /**
   * Has the agent make a journey on which something happens: what the model was told at its end.
   * Each thing is asked for once, but for those in `asked`.
   */
  async function journey(happens, asked = {}) {
    const around = await world();
    const agent = await open(around);
    try {
      await happens({ ...around, ...agent });
      assert.equal(await agent.end(), "You fly to Lima.");
      around.checkAsked(asked);
      return around.heard();
    } finally {
      await agent.close();
      await around.close();
    }
  }

  let undisturbed;
  test("a journey that nothing disturbs", LIMITED, async () => {
    undisturbed = await journey(async ({ say, allow }) => {
      await say();
      await allow();
    });
    assert.equal(undisturbed.length, 7);
  });

  test("killed in the middle of a model call, twice", LIMITED, async () => {
    const killed = async ({ say, allow, crash, stall }) => {
      let silent = stall("model 1");
      await say();
      await silent;
      silent = stall("model 1");
      await crash();
      await silent;
      await crash();
      await allow();
    };
    assert.deepEqual(await journey(killed, { "model 1": 3 }), undisturbed);
  });

  test("killed while it waits to ask the model again", LIMITED, async () => {
    const killed = async ({ say, allow, crash, refuse }) => {
      const refused = refuse("model 1");
      await say();
      await refused;
      await sleep(1000);
      await crash();
      await allow();
    };
    assert.deepEqual(await journey(killed, { "model 1": 2 }), undisturbed);
  });

  test("killed while one of two tools runs that only read", LIMITED, async () => {
    const killed = async ({ say, allow, crash, stall }) => {
      const silent = stall("/weather/Oslo");
      await say();
      await silent;
      // What the other one says is stored by then.
      await sleep(1000);
      await crash();
      await allow();
    };
    assert.deepEqual(await journey(killed, { "/weather/Oslo": 2 }), undisturbed);
  });

  test("killed while a person is asked", LIMITED, async () => {
    const killed = async ({ say, asked, allow, crash }) => {
      await say();
      const question = await asked();
      await crash();
      assert.deepEqual(await asked(), question);
      await allow();
    };
    assert.deepEqual(await journey(killed), undisturbed);
  });

  test("killed while a tool runs that takes a key, and runs again under it", LIMITED, async () => {
    const killed = async ({ say, allow, crash, stall }) => {
      const silent = stall("/flights");
      await say();
      await allow();
      await silent;
      await crash();
    };
    assert.deepEqual(await journey(killed, { "/flights": 2 }), undisturbed);
  });

  test("killed while a tool runs that takes no key, and does not run again", LIMITED, async () => {
    const killed = async ({ say, allow, crash, stall }) => {
      const silent = stall("/taxis");
      await say();
      await allow();
      await silent;
      await crash();
    };
    const heard = await journey(killed);
    assert.deepEqual(heard.slice(0, -1), undisturbed.slice(0, -1));
    const [result] = heard.at(-1).content;
    assert.deepEqual([result.type, result.is_error], ["tool_result", true]);
    assert.match(JSON.stringify(result.content), LOST);
  });
}
