// What the agent can do: a service for travellers, called by HTTP.

import type { Outcome, ToolRun, ToolSpec } from "innerloop";

interface Tool {
  description: string;
  readOnly: boolean;
  /**
   * Whether it may run again where nobody knows what became of it: it only reads, or it hands its
   * key to a service that does nothing twice under one key.
   */
  repeatable: boolean;
  run(service: Service, city: string, key: string): Promise<string>;
}

/** Sends a request to the service; a body makes it a POST. */
type Service = (path: string, body?: string, headers?: Record<string, string>) => Promise<string>;

export const tools: Record<string, Tool> = {
  weather: {
    description: "The weather in a city, now",
    readOnly: true,
    repeatable: true,
    run: (service, city) => service(`/weather/${encodeURIComponent(city)}`),
  },
  book_flight: {
    description: "Books a flight to a city",
    readOnly: false,
    repeatable: true,
    run: (service, city, key) => service("/flights", city, { "idempotency-key": key }),
  },
  call_taxi: {
    description: "Calls a taxi to the airport of a city",
    readOnly: false,
    repeatable: false,
    run: (service, city) => service("/taxis", city),
  },
};

/** The tools as a session's configuration has them. */
export const specs: ToolSpec[] = Object.entries(tools).map(([name, { description, readOnly }]) => ({
  name,
  description,
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  read_only: readOnly,
}));

/** Carries out a run. What goes wrong is for the model to read. */
export async function outcomeOf(
  { name, job, timeout_ms }: ToolRun,
  { url, key, signal }: { url: string; key: string; signal: AbortSignal },
): Promise<Outcome> {
  const timeout = AbortSignal.timeout(timeout_ms);
  const service: Service = async (path, body, headers) => {
    const method = body === undefined ? "GET" : "POST";
    const limits = { signal: AbortSignal.any([signal, timeout]) };
    const response = await fetch(url + path, { method, body, headers, ...limits });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status}: ${text}`);
    return text;
  };
  try {
    // The session has checked the arguments: they are as the tool's schema wants them.
    const { city } = job.custom as { city: string };
    const text = await tools[name]!.run(service, city, key);
    return { parts: [{ type: "text", text }] };
  } catch (error) {
    const parts = [{ type: "text" as const, text: String(error) }];
    return { parts, error: "io", timed_out: timeout.aborted };
  }
}
