// The names of providers, and the public facts about each.

/** The name of a provider of models; `providers()` returns the facts about each. */
export type ProviderName =
  | "anthropic"
  | "openai"
  | "gemini"
  | "openrouter"
  | "deepseek"
  | "mistral"
  | "xai"
  | "groq"
  | "together"
  | "fireworks"
  | "moonshot"
  | "zai"
  | "dashscope"
  | "cerebras"
  | "azure"
  | "openai-compatible"
  | "openai-chat"
  | "gemini-openai"
  | "anthropic-openai"
  | "ollama"
  | "ollama-v1"
  | "llamacpp"
  | "lmstudio"
  | "vllm";

/** The facts about a provider. */
export interface ProviderInfo {
  /** Its name for the option `provider`. */
  name: ProviderName;
  /** Its name for people. */
  title: string;
  /** Its address; absent if each user has an own one. */
  baseUrl?: string;
  /** True if it needs a key. */
  needsKey: boolean;
  /** The model that is used if none is named. */
  defaultModel?: string;
  /** The header that carries the key, and the text before the key in it. */
  auth: { header: string; prefix: string };
}
