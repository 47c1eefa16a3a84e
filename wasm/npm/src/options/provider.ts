// The providers' names, and what is told of each.

/** A provider of models; `providers()` tells what each is. */
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

/** What there is to know of a provider. */
export interface ProviderInfo {
  /** What the option `provider` takes. */
  name: ProviderName;
  /** Its name for people. */
  title: string;
  /** Where it is, unless everybody has it at a place of their own. */
  baseUrl?: string;
  /** Whether it needs a key. */
  needsKey: boolean;
  /** The model that is used if none is named. */
  defaultModel?: string;
  /** The header that carries the key, and what stands in front of it. */
  auth: { header: string; prefix: string };
}
