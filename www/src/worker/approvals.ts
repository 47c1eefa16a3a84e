// The calls that wait for a person's approval, and the mode that decides which must wait.

import type { Approval, ApprovalRequest, AskContext } from "innerloop";
import type { ApprovalMode, Asked, Verdict } from "../shared/messages.js";
import { mayEdit } from "./commands.js";

interface Waiting {
  asked: Asked;
  settle(approval: Approval): void;
}

/** The open questions of a session. */
export class Approvals {
  mode: ApprovalMode;
  readonly #changed: (asked: Asked[]) => void;
  readonly #waiting = new Map<number, Waiting>();
  #next = 1;

  constructor(mode: ApprovalMode, changed: (asked: Asked[]) => void) {
    this.mode = mode;
    this.#changed = changed;
  }

  /** The calls that wait. */
  get asked(): Asked[] {
    return [...this.#waiting.values()].map(({ asked }) => asked);
  }

  /** Asks about a call, unless the mode lets it run. */
  ask(request: ApprovalRequest, { signal }: AskContext): Approval | Promise<Approval> {
    if (this.#mayRun(request)) return true;
    const id = this.#next;
    this.#next += 1;
    const { callId, name, arguments: args } = request;
    return new Promise<Approval>((resolve) => {
      const settle = (approval: Approval): void => {
        // A click and an interruption may both come; the first counts.
        if (!this.#waiting.delete(id)) return;
        resolve(approval);
        this.#changed(this.asked);
      };
      this.#waiting.set(id, { asked: { id, callId, name, arguments: args }, settle });
      signal.addEventListener("abort", () => settle(false), { once: true });
      this.#changed(this.asked);
    });
  }

  /** Takes a person's decision. */
  answer(id: number, verdict: Verdict): void {
    this.#waiting.get(id)?.settle(approvalOf(verdict));
  }

  /** Sets the mode, also for the calls that wait. */
  setMode(mode: ApprovalMode): void {
    this.mode = mode;
    for (const { asked, settle } of [...this.#waiting.values()]) {
      if (this.#mayRun(asked)) settle(true);
    }
  }

  // True if the mode lets a call run. Calls that run something are known by their arguments, since
  // model families have different names for the tools.
  #mayRun({ arguments: args }: { arguments: unknown }): boolean {
    if (this.mode === "nothing") return true;
    const fields = typeof args === "object" && args !== null ? Object.keys(args) : [];
    const runs = fields.some((field) => field === "program" || field === "command");
    return this.mode === "files" && runs && !mayEdit(args);
  }
}

function approvalOf(verdict: Verdict): Approval {
  switch (verdict.type) {
    case "once":
      return true;
    case "always":
      return "always";
    case "edited":
      return { arguments: verdict.arguments };
    case "denied":
      return verdict.reason.trim() === "" ? false : { deny: verdict.reason.trim() };
  }
}
