// The dialog for the model: the demo or a provider, with address and key, and a test of them.

import { signal } from "@preact/signals";
import type { ProviderInfo } from "innerloop";
import { useEffect, useRef } from "preact/hooks";
import { type ConnectionDraft, DEMO, type Tried } from "../shared/messages.js";
import { attempt, connect, connection, say } from "../state/app.js";
import { call } from "../state/client.js";

export const isModelOpen = signal(false);

const known = signal<ProviderInfo[]>([]);
const tried = signal<Tried | undefined>(undefined);
const isTrying = signal(false);
const draft = signal<ConnectionDraft>(blank());

function blank(): ConnectionDraft {
  return { provider: DEMO, model: "", baseUrl: "", remember: false };
}

/** The dialog "Model". */
export function ModelDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (!isModelOpen.value) return;
    const { provider, model, baseUrl, remembered } = connection.value;
    draft.value = { provider, model, baseUrl, remember: remembered };
    tried.value = undefined;
    dialog.current?.showModal();
    if (known.value.length === 0) {
      void attempt(async () => (known.value = await call("providers")));
    }
  }, [isModelOpen.value]);
  const close = () => {
    dialog.current?.close();
    isModelOpen.value = false;
    // The typed key must not stay in the page: only the worker keeps it.
    draft.value = blank();
  };
  if (!isModelOpen.value) return null;
  return (
    <dialog ref={dialog} class="model" aria-labelledby="model-title" onCancel={close}>
      <Form close={close} />
    </dialog>
  );
}

function set(change: Partial<ConnectionDraft>): void {
  draft.value = { ...draft.value, ...change };
  tried.value = undefined;
}

function Form({ close }: { close: () => void }) {
  const { provider } = draft.value;
  const chosen = known.value.find(({ name }) => name === provider);
  const isOwn = provider !== DEMO;
  const save = async (event: Event) => {
    event.preventDefault();
    if (await connect(draft.value)) {
      say("The model counts from now on.");
      close();
    }
  };
  return (
    <form onSubmit={(event) => void save(event)}>
      <h2 id="model-title">Model</h2>
      <label>
        Provider
        <select
          value={provider}
          onChange={({ currentTarget }) =>
            set({ provider: currentTarget.value, model: "", baseUrl: "", key: undefined })
          }
        >
          <option value={DEMO}>Demo: a script in this page, no key</option>
          <Providers label="With a key" needsKey={true} />
          <Providers label="On your own machine, without a key" needsKey={false} />
        </select>
      </label>
      {!isOwn && (
        <p class="hint">
          Choose a provider of which you have a key, or a server of your own such as Ollama: its
          model works on your files from then on.
        </p>
      )}
      {isOwn && <Fields chosen={chosen} />}
      {tried.value && (
        <p class={tried.value.ok ? "note" : "note bad"} role="status">
          {tried.value.message}
        </p>
      )}
      <div class="row">
        <button type="submit" class="primary">
          Use
        </button>
        {isOwn && (
          <button type="button" disabled={isTrying.value} onClick={() => void test()}>
            {isTrying.value ? "Testing…" : "Test, list models"}
          </button>
        )}
        <button type="button" onClick={close}>
          Cancel
        </button>
        {connection.value.remembered && (
          <button type="button" class="quiet" onClick={() => void forget()}>
            Forget the key
          </button>
        )}
      </div>
    </form>
  );
}

function Providers({ label, needsKey }: { label: string; needsKey: boolean }) {
  const some = known.value.filter((provider) => provider.needsKey === needsKey);
  return (
    <optgroup label={label}>
      {some.map(({ name, title }) => (
        <option key={name} value={name}>
          {title}
        </option>
      ))}
    </optgroup>
  );
}

function Fields({ chosen }: { chosen: ProviderInfo | undefined }) {
  const { model, baseUrl, key, remember, provider } = draft.value;
  const hasKey = connection.value.hasKey && connection.value.provider === provider;
  return (
    <>
      <label>
        Model
        <input
          list="models"
          autocomplete="off"
          spellcheck={false}
          placeholder={chosen?.defaultModel ?? ""}
          required={chosen !== undefined && chosen.defaultModel === undefined}
          value={model}
          onInput={({ currentTarget }) => set({ model: currentTarget.value.trim() })}
        />
      </label>
      <datalist id="models">
        {(tried.value?.models ?? []).map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <label>
        Key
        <input
          type="password"
          autocomplete="off"
          spellcheck={false}
          placeholder={hasKey ? "the one that was given" : chosen?.needsKey ? "" : "none needed"}
          value={key ?? ""}
          onInput={({ currentTarget }) => set({ key: currentTarget.value.trim() || undefined })}
        />
      </label>
      <label>
        Base URL, if not the provider's
        <input
          type="url"
          autocomplete="off"
          spellcheck={false}
          placeholder={chosen?.baseUrl ?? ""}
          required={chosen !== undefined && chosen.baseUrl === undefined}
          value={baseUrl}
          onInput={({ currentTarget }) => set({ baseUrl: currentTarget.value.trim() })}
        />
      </label>
      <label class="inline">
        <input
          type="checkbox"
          checked={remember}
          onChange={({ currentTarget }) => set({ remember: currentTarget.checked })}
        />
        Remember on this device, the key included
      </label>
      <p class="hint">
        The key stays in the worker that runs the agent, and goes to the provider only. Without the
        tick it is gone when the page is closed; with it, whoever uses this browser can use it.
      </p>
    </>
  );
}

async function test(): Promise<void> {
  isTrying.value = true;
  try {
    const models = tried.value?.models ?? [];
    const result = await call("tryConnection", draft.value);
    tried.value = result.ok ? result : { ...result, models };
  } catch (error) {
    tried.value = { ok: false, message: (error as Error).message, models: [] };
  } finally {
    isTrying.value = false;
  }
}

async function forget(): Promise<void> {
  await attempt(async () => (connection.value = await call("forgetKey")));
  set({ key: undefined, remember: false });
}
