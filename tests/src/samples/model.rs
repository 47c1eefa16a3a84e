//! Which model a session talks to, and how.

use super::{
    message::opaque,
    visitor::{Visitor, one_of_each},
};
use innerloop_core::{
    config::{
        CallIds, EndpointCompat, MaxTokensField, ModelConfig, Price, PriceTier, ProfileKind,
        ReplayReasoning, SystemRole, TextCalls, TextFamily, ThinkingFormat, ToolChoice,
        VocabularyKind, WireKind,
    },
    id::EndpointId,
};

pub(super) fn visit(visitor: &mut impl Visitor) {
    let wires: Vec<WireKind> =
        one_of_each!(WireKind: OpenaiResponses, OpenaiChat, Anthropic, Gemini, Ollama);
    visitor.visit_read("WireKind", &wires);
    let profiles: Vec<ProfileKind> = one_of_each!(ProfileKind: Openai, Anthropic, Gemini, Small);
    visitor.visit_read("ProfileKind", &profiles);
    let vocabularies: Vec<VocabularyKind> = one_of_each!(VocabularyKind: Seed, Native);
    visitor.visit_read("VocabularyKind", &vocabularies);
    let choices: Vec<ToolChoice> =
        one_of_each!(ToolChoice: Auto, None, Required, Tool("read_file".into()));
    visitor.visit_read("ToolChoice", &choices);
    let text_calls: Vec<TextCalls> = one_of_each!(TextCalls: Never, Fallback, Always);
    visitor.visit_read("TextCalls", &text_calls);
    visitor.visit_read("TextFamily", &families());
    let roles: Vec<SystemRole> = one_of_each!(SystemRole: System, Developer);
    visitor.visit_read("SystemRole", &roles);
    let fields: Vec<MaxTokensField> = one_of_each!(MaxTokensField: MaxTokens, MaxCompletionTokens);
    visitor.visit_read("MaxTokensField", &fields);
    let formats: Vec<ThinkingFormat> = one_of_each!(ThinkingFormat:
        None, ReasoningEffort, Openrouter, Zai, Qwen, QwenChatTemplate,
    );
    visitor.visit_read("ThinkingFormat", &formats);
    let replays: Vec<ReplayReasoning> =
        one_of_each!(ReplayReasoning: Never, ReasoningContent, ReasoningDetails, Text);
    visitor.visit_read("ReplayReasoning", &replays);
    let ids: Vec<CallIds> = one_of_each!(CallIds: Any, Nine);
    visitor.visit_read("CallIds", &ids);
    visitor.visit_read("EndpointCompat", &[EndpointCompat::default()]);
    visitor.visit_read("Price", &[Price::default(), price()]);
    visitor.visit_read("ModelConfig", &[ModelConfig::default(), model()]);
}

fn families() -> Vec<TextFamily> {
    one_of_each!(open TextFamily:
        Auto, Hermes, Qwen3CoderXml, LlamaJson, Mistral, Deepseek, Pythonic, Harmony, Glm, Kimi,
        Gemma, Step3, Minimax, Cohere, Hunyuan, React, Functionary, Inkling, FencedJson, Json,
    )
}

fn price() -> Price {
    let (cache_read, cache_write) = (Some(300_000), Some(3_750_000));
    let above = 200_000;
    let tier = PriceTier { above, input: 6_000_000, output: 22_500_000, cache_read, cache_write };
    let plain = PriceTier { above: 400_000, ..PriceTier::default() };
    let tiers = vec![tier, plain];
    Price { input: 3_000_000, output: 15_000_000, cache_read, cache_write, tiers }
}

pub(super) fn model() -> ModelConfig {
    ModelConfig {
        endpoint: EndpointId("anthropic".into()),
        wire: WireKind::Anthropic,
        profile: ProfileKind::Anthropic,
        vocabulary: VocabularyKind::Native,
        name: "claude".into(),
        max_output_tokens: 32_000,
        context_window: 200_000,
        reasoning_effort: Some("low".into()),
        tool_choice: ToolChoice::Auto,
        parallel_tool_calls: Some(false),
        stream: true,
        text_calls: TextCalls::Fallback,
        text_family: TextFamily::Hermes,
        begins_in_thinking: Some(true),
        compat: EndpointCompat::default(),
        betas: vec!["fine-grained-tool-streaming-2025-05-14".into()],
        options: [("top_k".into(), opaque())].into(),
        price: Some(price()),
    }
}
