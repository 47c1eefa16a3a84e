//! The masking of inputs, value by value: text is masked as text, opaque JSON inside of its
//! strings. [`mask`] and the functions that it calls name every variant, so that a new kind of
//! input does not compile before its text is masked. An input that cannot be masked is refused.

use crate::{
    firewall::{SessionFirewall, TextMasker},
    masking::StreamMasker,
};
use alloc::{format, string::String};
use innerloop_core::{
    action::{Outcome, Part, ReportedChange, ToolError},
    config::{ApprovalRule, ConfigError, SessionConfig},
    input::{
        Answer, Command, HookReply, HttpFailure, HttpInput, Input, RejectionReason, ResponseHead,
        ToolInput,
    },
    json::{FromJson, Json, ToJson, from_str, to_string},
};

/// Masks all text of an input, except bodies and deltas: these are cut anywhere, and are masked as
/// streams with a [`StreamMasker`].
///
/// # Errors
/// The reason why the input must not get into the session.
pub(crate) fn mask(firewall: &SessionFirewall, input: &mut Input) -> Result<(), RejectionReason> {
    match input {
        Input::Command { command, .. } => return mask_command(firewall, command),
        Input::Http { input, .. } => mask_http(&mut firewall.of_models(), input),
        Input::Tool { input, .. } => mask_tool(firewall, input),
        Input::Answer { answer, .. } => mask_answer(&mut firewall.of_people(), answer),
        Input::Hook { reply, .. } => mask_reply(&mut firewall.of_tools(), reply),
        Input::Lost { .. } | Input::Tick => {}
    }
    Ok(())
}

/// Masks a piece of a stream that belongs to no open effect. The session ignores or refuses it, but
/// a refused input goes back to the host.
pub(crate) fn mask_stray(firewall: &SessionFirewall, input: &mut Input) {
    match input {
        Input::Tool { input: ToolInput::Delta(text), .. } => firewall.of_tools().mask(text),
        Input::Http { input: HttpInput::Chunk(bytes), .. } => {
            let mut masking = StreamMasker::new(&firewall.keys);
            let mut masked = masking.push(core::mem::take(&mut bytes.0));
            masked.extend(masking.end());
            bytes.0 = masked;
        }
        _ => {}
    }
}

/// Returns a configuration with all masked that its facts, instructions or tools hold.
///
/// # Errors
/// A secret stands where the configuration has a word of its own.
pub(crate) fn masked_config(
    firewall: &SessionFirewall,
    config: SessionConfig,
) -> Result<SessionConfig, ConfigError> {
    let mut masker = firewall.of_tools();
    if masker.is_idle() {
        return Ok(config);
    }
    // By its JSON: a configuration has many texts in many types, and a new field must not be
    // forgotten here.
    let Some(masked) = masker.masked_json(&to_string(&config)) else { return Ok(config) };
    from_str(&masked).map_err(|error| {
        let message = format!("a key stands where it has a word of its own: {}", error.message());
        ConfigError::new(error.path(), message)
    })
}

fn mask_command(firewall: &SessionFirewall, command: &mut Command) -> Result<(), RejectionReason> {
    let mut masker = firewall.of_people();
    match command {
        Command::Steer { parts } => mask_parts(&mut masker, parts),
        Command::Submit { parts, options } | Command::FollowUp { parts, options } => {
            mask_parts(&mut masker, parts);
            if let Some(options) = options {
                mask_value(&mut masker, &mut **options)?;
            }
        }
        Command::Configure { patch } => mask_value(&mut firewall.of_tools(), patch)?,
        Command::Import { turns } => mask_value(&mut firewall.of_tools(), turns)?,
        Command::Compact { instructions: Some(text) } => masker.mask(text),
        Command::Compact { instructions: None }
        | Command::Undo { .. }
        | Command::Redo { .. }
        | Command::Restore { .. }
        | Command::Clear
        | Command::Interrupt
        | Command::Close => {}
    }
    masker.blocked().map_or(Ok(()), |kinds| Err(RejectionReason::HoldsSecret(kinds)))
}

/// Masks a value by its JSON, which is read again only if there is something to mask.
///
/// # Errors
/// A secret stands where the value has a word of its own.
fn mask_value<T: ToJson + for<'a> FromJson<'a>>(
    masker: &mut TextMasker<'_>,
    value: &mut T,
) -> Result<(), RejectionReason> {
    if let Some(masked) = masked_value(masker, value) {
        let read = from_str(&masked);
        *value = read.map_err(|error| RejectionReason::HoldsSecret(error.path()))?;
    }
    Ok(())
}

/// Returns the JSON of a value with masks; `None` if there is nothing to mask.
fn masked_value(masker: &mut TextMasker<'_>, value: &dyn ToJson) -> Option<String> {
    if masker.is_idle() { None } else { masker.masked_json(&to_string(value)) }
}

/// Masks the head and the failure of an exchange; its body is masked as a stream.
pub(crate) fn mask_http(masker: &mut TextMasker<'_>, input: &mut HttpInput) {
    match input {
        HttpInput::Head(ResponseHead { headers, .. }) => {
            for (name, value) in headers {
                masker.mask(name);
                masker.mask(value);
            }
        }
        HttpInput::Failed(HttpFailure { message, .. }) => masker.mask(message),
        HttpInput::Held { .. } | HttpInput::Chunk(_) | HttpInput::End => {}
    }
}

fn mask_tool(firewall: &SessionFirewall, input: &mut ToolInput) {
    match input {
        ToolInput::Delta(_) => {}
        ToolInput::Parked { handle, outcome } => {
            firewall.of_models().mask(handle);
            mask_outcome(firewall.of_tools(), outcome);
        }
        ToolInput::Done(outcome) => mask_outcome(firewall.of_tools(), outcome),
    }
}

fn mask_outcome(mut masker: TextMasker<'_>, outcome: &mut Outcome) {
    mask_parts(&mut masker, &mut outcome.parts);
    outcome.details.iter_mut().for_each(|details| mask_json(&mut masker, details));
    for ReportedChange { path, before, after, .. } in &mut outcome.changes {
        masker.mask(path);
        before.iter_mut().for_each(|text| masker.mask(text));
        after.iter_mut().for_each(|text| masker.mask(text));
    }
    if let Some(kinds) = masker.blocked() {
        let changes = core::mem::take(&mut outcome.changes);
        let message = format!(
            "The result was withheld: it holds a secret ({kinds}), and this session reads none. \
             What the call has changed stays changed."
        );
        *outcome = Outcome { changes, ..Outcome::error(ToolError::Denied, message) };
    }
    outcome.secrets = masker.kinds();
}

fn mask_answer(masker: &mut TextMasker<'_>, answer: &mut Answer) {
    match answer {
        Answer::Allow | Answer::AllowAlways | Answer::Abort => {}
        Answer::AllowRule(ApprovalRule { tool, starting }) => {
            masker.mask(tool);
            starting.values_mut().for_each(|text| masker.mask(text));
        }
        Answer::AllowEdited(arguments) => mask_json(masker, arguments),
        Answer::Deny { reason: text, .. } | Answer::Text(text) => masker.mask(text),
    }
}

fn mask_reply(masker: &mut TextMasker<'_>, reply: &mut HookReply) {
    match reply {
        HookReply::Allow => {}
        HookReply::Deny { reason: text } | HookReply::Failed { message: text } => masker.mask(text),
        HookReply::Replace(value) => mask_json(masker, value),
    }
}

fn mask_parts(masker: &mut TextMasker<'_>, parts: &mut [Part]) {
    for part in parts {
        match part {
            Part::Text { text } => masker.mask(text),
            Part::ImageUrl { url: text } => masker.mask(text),
            // The bytes of a file are not text: a mask among them would damage the file.
            Part::Image { media_type, data: _ } => masker.mask(media_type),
            Part::File { media_type, name, data: _ } => {
                masker.mask(media_type);
                masker.mask(name);
            }
        }
    }
}

fn mask_json(masker: &mut TextMasker<'_>, value: &mut Json) {
    if let Some(masked) = masker.masked_json(value.text()) {
        // Only strings have changed, so it is JSON still.
        *value = Json::parse(masked).unwrap_or_else(|_| Json::of("it could not be masked"));
    }
}
