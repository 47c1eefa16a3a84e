//! The masking of keys in inputs, value by value: text is masked as text, opaque JSON inside of its
//! strings. [`mask`] and the functions that it calls name every variant, so that a new kind of
//! input does not compile before its text is masked.

use crate::masking::{SecretKeys, StreamMasker};
use alloc::{format, string::String};
use innerloop_core::{
    action::{Outcome, Part, ReportedChange},
    config::{ApprovalRule, ConfigError, SessionConfig},
    input::{Answer, Command, HookReply, HttpFailure, HttpInput, Input, ResponseHead, ToolInput},
    json::{Json, from_str, to_string},
};

/// Masks all text of an input, except bodies and deltas: these are cut anywhere, and are masked as
/// streams with a [`StreamMasker`].
pub(crate) fn mask(keys: &SecretKeys, input: &mut Input) {
    if keys.is_empty() {
        return;
    }
    match input {
        Input::Command { command, .. } => mask_command(keys, command),
        Input::Http { input, .. } => mask_http(keys, input),
        Input::Tool { input, .. } => mask_tool(keys, input),
        Input::Answer { answer, .. } => mask_answer(keys, answer),
        Input::Hook { reply, .. } => mask_reply(keys, reply),
        Input::Lost { .. } | Input::Tick => {}
    }
}

/// Masks a piece of a stream that belongs to no open effect. The session ignores or refuses it, but
/// a refused input goes back to the host.
pub(crate) fn mask_stray(keys: &SecretKeys, input: &mut Input) {
    match input {
        Input::Tool { input: ToolInput::Delta(text), .. } => keys.mask(text),
        Input::Http { input: HttpInput::Chunk(bytes), .. } => {
            let mut masking = StreamMasker::new(keys);
            let mut masked = masking.push(core::mem::take(&mut bytes.0));
            masked.extend(masking.end());
            bytes.0 = masked;
        }
        _ => {}
    }
}

/// Returns a configuration with the keys masked that its facts, instructions or tools hold.
///
/// # Errors
/// A key stands where the configuration has a word of its own.
pub(crate) fn masked_config(
    keys: &SecretKeys,
    config: SessionConfig,
) -> Result<SessionConfig, ConfigError> {
    if keys.is_empty() {
        return Ok(config);
    }
    // By its JSON: a configuration has many texts in many types, and a new field must not be
    // forgotten here.
    let Some(masked) = keys.masked_json(&to_string(&config)) else { return Ok(config) };
    from_str(&masked).map_err(|error| {
        let message = format!("a key stands where it has a word of its own: {}", error.message());
        ConfigError::new(error.path(), message)
    })
}

fn mask_command(keys: &SecretKeys, command: &mut Command) {
    match command {
        Command::Steer { parts } => mask_parts(keys, parts),
        Command::Submit { parts, options } | Command::FollowUp { parts, options } => {
            mask_parts(keys, parts);
            // Only with a key in it are the options read again.
            if let Some(options) = options
                && let Some(masked) = keys.masked_json(&to_string(options))
                && let Ok(masked) = from_str(&masked)
            {
                **options = masked;
            }
        }
        Command::Configure { patch } => {
            let masked = keys.masked_json(&to_string(patch));
            if let Some(masked) = masked.and_then(|masked| from_str(&masked).ok()) {
                *patch = masked;
            }
        }
        Command::Import { turns } => {
            let masked = keys.masked_json(&to_string(turns));
            if let Some(masked) = masked.and_then(|masked| from_str(&masked).ok()) {
                *turns = masked;
            }
        }
        Command::Compact { instructions: Some(text) } => keys.mask(text),
        Command::Compact { instructions: None }
        | Command::Undo { .. }
        | Command::Redo { .. }
        | Command::Restore { .. }
        | Command::Clear
        | Command::Interrupt
        | Command::Close => {}
    }
}

/// Masks the head and the failure of an exchange; its body is masked as a stream.
pub(crate) fn mask_http(keys: &SecretKeys, input: &mut HttpInput) {
    match input {
        HttpInput::Head(ResponseHead { headers, .. }) => {
            mask_all(keys, headers.iter_mut().flat_map(|(name, value)| [name, value]));
        }
        HttpInput::Failed(HttpFailure { message, .. }) => keys.mask(message),
        HttpInput::Held { .. } | HttpInput::Chunk(_) | HttpInput::End => {}
    }
}

fn mask_tool(keys: &SecretKeys, input: &mut ToolInput) {
    match input {
        ToolInput::Delta(_) => {}
        ToolInput::Parked { handle, outcome } => {
            keys.mask(handle);
            mask_outcome(keys, outcome);
        }
        ToolInput::Done(outcome) => mask_outcome(keys, outcome),
    }
}

fn mask_outcome(keys: &SecretKeys, outcome: &mut Outcome) {
    mask_parts(keys, &mut outcome.parts);
    outcome.details.iter_mut().for_each(|details| mask_json(keys, details));
    for ReportedChange { path, before, after, .. } in &mut outcome.changes {
        mask_all(keys, [Some(path), before.as_mut(), after.as_mut()].into_iter().flatten());
    }
}

fn mask_answer(keys: &SecretKeys, answer: &mut Answer) {
    match answer {
        Answer::Allow | Answer::AllowAlways | Answer::Abort => {}
        Answer::AllowRule(ApprovalRule { tool, starting }) => {
            keys.mask(tool);
            mask_all(keys, starting.values_mut());
        }
        Answer::AllowEdited(arguments) => mask_json(keys, arguments),
        Answer::Deny { reason: text, .. } | Answer::Text(text) => keys.mask(text),
    }
}

fn mask_reply(keys: &SecretKeys, reply: &mut HookReply) {
    match reply {
        HookReply::Allow => {}
        HookReply::Deny { reason: text } | HookReply::Failed { message: text } => keys.mask(text),
        HookReply::Replace(value) => mask_json(keys, value),
    }
}

fn mask_parts(keys: &SecretKeys, parts: &mut [Part]) {
    for part in parts {
        match part {
            Part::Text { text } => keys.mask(text),
            Part::ImageUrl { url: text } => keys.mask(text),
            // The bytes of a file are not text: a mask among them would damage the file.
            Part::Image { media_type, data: _ } => keys.mask(media_type),
            Part::File { media_type, name, data: _ } => {
                mask_all(keys, [media_type, name].into_iter());
            }
        }
    }
}

fn mask_json(keys: &SecretKeys, value: &mut Json) {
    if let Some(masked) = keys.masked_json(value.text())
        && let Ok(masked) = Json::parse(masked)
    {
        *value = masked;
    }
}

fn mask_all<'a>(keys: &SecretKeys, texts: impl Iterator<Item = &'a mut String>) {
    texts.for_each(|text| keys.mask(text));
}
