//! The scripted tools, people and hooks: each answers in all the ways that there are.

use super::{model::prose, rng::Rng};
use innerloop_core::{
    action::{Outcome, ToolError},
    input::{Answer, HookReply, ToolInput},
    json::Json,
    message::Part,
};

/// All news of one run, the terminal one last.
pub(super) fn run(rng: &mut Rng) -> Vec<ToolInput> {
    let deltas = if rng.chance(70) { 0 } else { rng.between(1, 3) };
    let mut news: Vec<ToolInput> = (0..deltas).map(|_| ToolInput::Delta(prose(rng))).collect();
    news.push(ToolInput::Done(outcome(rng)));
    news
}

pub(super) fn outcome(rng: &mut Rng) -> Outcome {
    let mut outcome = match rng.below(10) {
        0 => Outcome::error(ToolError::NotFound, "no such file"),
        1 => Outcome::error(ToolError::Crashed, prose(rng)),
        2 => Outcome::default(),
        3 => Outcome { duration_ms: Some(12), ..Outcome::text("line\n".repeat(40)) },
        4 => {
            let (media_type, data) = ("image/png".to_owned(), "aGk=".to_owned());
            let parts = vec![Part::text(prose(rng)), Part::Image { media_type, data }];
            Outcome { parts, ..Outcome::default() }
        }
        5 => {
            let parts = vec![Part::text(prose(rng)), Part::text("a warning\n")];
            Outcome { parts, streams: true, ..Outcome::default() }
        }
        _ => Outcome::text(prose(rng)),
    };
    outcome.timed_out = rng.chance(5);
    outcome
}

pub(super) fn answer(rng: &mut Rng) -> Answer {
    match rng.weighted(&[40, 10, 10, 15, 5, 20]) {
        0 => Answer::Allow,
        1 => Answer::AllowAlways,
        2 => Answer::AllowEdited(arguments(rng)),
        3 => Answer::deny(prose(rng)),
        4 => Answer::Abort,
        _ => Answer::Text(prose(rng)),
    }
}

pub(super) fn reply(rng: &mut Rng) -> HookReply {
    match rng.weighted(&[60, 12, 15, 8]) {
        0 => HookReply::Allow,
        1 => HookReply::Deny { reason: prose(rng) },
        2 => HookReply::Replace(arguments(rng)),
        _ => HookReply::Failed { message: "the hook broke".into() },
    }
}

/// JSON that fits some tools, and some that fits none.
fn arguments(rng: &mut Rng) -> Json {
    let texts =
        [r#"{"file_path":"c"}"#, r#"{"key":"k"}"#, r#""a text""#, r#""""#, "{}", "null", "[1]"];
    Json::parse(rng.pick(&texts)).unwrap()
}
