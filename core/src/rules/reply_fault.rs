//! The faults of a whole reply without calls, told from its text: announcements in place of work,
//! results that the model has made up, greetings. Word lists in English, which is what the models
//! fall back to that do this; code and quotes in the text are not looked at.

use alloc::string::String;
use innerloop_types::{
    corrections::{CorrectionPolicy, ReplyFault},
    text::{is_word, listed},
};

/// What is to be known of a reply beside its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplyFacts {
    /// The number of the reply among those to the user's input, counted from 1.
    pub(crate) reply: u32,
    /// True if a tool was called since the input.
    pub(crate) has_called: bool,
    /// True if a tool was ever called.
    pub(crate) has_ever_called: bool,
    /// True if a tool may change something.
    pub(crate) may_change: bool,
    /// True if the model may ask the user.
    pub(crate) may_ask: bool,
}

/// What announces an action.
const INTENTS: &str = "i'll|i will|let me|let's|i'm going to|i am going to|i'm about to|i need to \
                       first|first, i|next, i|now i'll|now i will";

/// What sounds like an announcement and is none.
const NO_INTENTS: &str = "let me explain|let me know|let me think|let me summarize|let me \
                          summarise|let me clarify|let me describe|let me be clear|let me rephrase|\
                          i'll explain|i'll summarize|i'll wait|i'll let you|i'll be happy|i'll \
                          leave|i'll stop|i will explain|i will wait|i will stop|i will not|let me \
                          show you";

/// What is announced.
const ACTIONS: &str = "read|list|look|check|open|create|write|add|update|modify|edit|fix|\
                       change|run|execute|search|find|install|implement|build|test|examine|\
                       inspect|explore|start|begin|use|call|try|make|remove|delete|rename|\
                       refactor|review|analyze|analyse|proceed|continue|set|view|scan|locate|\
                       investigate|apply|generate";

/// What asks in place of beginning.
const QUESTIONS: &str = "shall i|should i|would you like me to|do you want me to|which file|could \
                         you provide|can you provide|please provide|could you share|can you share";

/// What greets.
const GREETINGS: &str = "how can i help|how may i help|how can i assist|how may i assist|hi there|\
                         hello!|hello there|what can i do for you|what would you like to";

/// What a change is claimed by, and what stands before it.
const CLAIMS: &str = "created|wrote|written|updated|modified|fixed|added|implemented|deleted|\
                      removed|renamed|installed|saved|edited|changed|refactored";
const CLAIMANTS: &str = "i|i've|i have|i also|i successfully|successfully|has been|have been|has \
                         been successfully|have successfully|was successfully";

/// What opens a tool's result in the templates of models and hosts.
const RESULTS: &str = "[tool result]|<<tool_output>>|«tool_output»|<tool_output|<tool_response>|\
                       <function_results>|[tool output]";

/// The fault of a reply's text, if it has one whose number is not 0. A made-up result is for
/// [`fake_result`].
pub(crate) fn of_text<'a>(
    text: &str,
    facts: ReplyFacts,
    policy: &CorrectionPolicy,
    mut tools: impl Iterator<Item = &'a str>,
) -> Option<ReplyFault> {
    let is_on = |fault| policy.most(fault) > 0;
    if facts.has_called {
        if is_on(ReplyFault::NamedTool) && tools.any(|tool| calls(text, tool)) {
            return Some(ReplyFault::NamedTool);
        }
        let start: String = text.trim_start().chars().take(80).collect();
        let greets = text.len() <= 200 && has_any(&start.to_ascii_lowercase(), GREETINGS);
        return (is_on(ReplyFault::Greeting) && greets).then_some(ReplyFault::Greeting);
    }
    let prose = prose(text);
    let len = text.trim().chars().count();
    let is_whole = text.contains(['.', '!', '?', '。', '！', '？']);
    [
        (ReplyFault::Promised, facts.reply <= 3 && promises(&prose)),
        (
            ReplyFault::AskedInstead,
            facts.reply <= 2 && !facts.may_ask && has_any(&prose, QUESTIONS),
        ),
        (ReplyFault::Claimed, facts.may_change && !facts.has_ever_called && claims(&prose, text)),
        (ReplyFault::TooShort, facts.reply <= 2 && len < 100 && !is_whole),
        (ReplyFault::WroteOnly, facts.reply == 1 && len > 300 && !facts.has_ever_called),
    ]
    .into_iter()
    .find_map(|(fault, is_it)| (is_it && is_on(fault)).then_some(fault))
}

/// Returns where a result begins that the model has made up.
pub(crate) fn fake_result(text: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    let marked = listed(RESULTS).filter_map(|marker| lower.find(marker));
    let observed =
        if lower.starts_with("observation:") { Some(0) } else { lower.find("\nobservation:") };
    marked.chain(observed).min()
}

/// The word to the model about a fault; `path` and `tool` are those of a patch spiral.
pub(crate) const fn words(fault: ReplyFault) -> &'static str {
    match fault {
        ReplyFault::Promised => {
            "You said what you will do, and called no tool. Call it now. If the task is done, say \
             so and what you found."
        }
        ReplyFault::TooShort => {
            "That is no answer yet. Call the tools that the task needs, or answer in a full \
             sentence."
        }
        ReplyFault::AskedInstead => {
            "Nobody can answer that now. Decide yourself, begin with the tools that you have, and \
             say at the end what you assumed."
        }
        ReplyFault::WroteOnly => {
            "You wrote much and called no tool. If the task needs files read, changed or run, call \
             the tools now. If that was the whole answer, say so in one sentence."
        }
        ReplyFault::Claimed => {
            "No tool was called, so nothing was changed. Make the change now with the tools that \
             you have. If nothing is to be changed, say so."
        }
        ReplyFault::FakeResult => {
            "You wrote a tool's result yourself. Only a call has a result: make the call, or \
             answer from the results that you have."
        }
        ReplyFault::NamedTool => {
            "You wrote a call as text, which runs nothing. Call the tool itself, or give the \
             answer."
        }
        ReplyFault::Greeting => {
            "The task is still open. Go on from the results that you have, or say what you found."
        }
        ReplyFault::Echo => {
            "You repeated yourself, and were stopped. Go on with the next step, or end with one \
             short answer."
        }
        ReplyFault::PatchSpiral | _ => {
            "Edits of {path} have failed again and again. Read the file as it is now, then write \
             it as a whole{tool}."
        }
    }
}

/// The text in lower case without fenced and indented code, quotes and code spans.
fn prose(text: &str) -> String {
    let mut prose = String::with_capacity(text.len());
    let mut in_fence = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        in_fence ^= is_fence;
        let is_code = line.starts_with("    ") || line.starts_with(['\t', '>']);
        if in_fence || is_fence || is_code {
            continue;
        }
        for (at, span) in line.split('`').enumerate() {
            // What stands between two back quotes is code.
            prose.push_str(if at % 2 == 0 { span } else { "`" });
        }
        prose.push('\n');
    }
    prose.make_ascii_lowercase();
    prose.replace('’', "'")
}

fn has_any(text: &str, phrases: &'static str) -> bool {
    listed(phrases).any(|phrase| places(text, phrase).next().is_some())
}

/// The places of a phrase that begins and ends with a word.
fn places<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(phrase).map(|(at, _)| at).filter(move |&at| {
        let (before, behind) = around(text, at, phrase);
        let goes_on = phrase.ends_with(is_word) && behind.starts_with(is_word);
        !before.ends_with(is_word) && !goes_on
    })
}

/// The text before and behind a phrase at that place.
fn around<'a>(text: &'a str, at: usize, phrase: &str) -> (&'a str, &'a str) {
    let part = |range: Option<&'a str>| range.unwrap_or_default();
    (part(text.get(..at)), part(text.get(at + phrase.len()..)))
}

/// Returns whether an action is announced: one of its verbs stands in the same sentence.
fn promises(prose: &str) -> bool {
    listed(INTENTS).any(|intent| {
        places(prose, intent).any(|at| {
            let (_, behind) = around(prose, at, intent);
            let sentence = behind.split(['.', '!', '?', '\n']).next().unwrap_or_default();
            let said = prose.get(at..).unwrap_or_default();
            let is_other = listed(NO_INTENTS).any(|other| said.starts_with(other));
            !is_other && has_any(sentence, ACTIONS)
        })
    })
}

/// Returns whether a change of a file is claimed: by its verb, and the file is named.
fn claims(prose: &str, text: &str) -> bool {
    let names_file =
        text.split(|c: char| c.is_whitespace() || "`'\"(),:*".contains(c)).any(is_file);
    names_file
        && listed(CLAIMS).any(|verb| {
            places(prose, verb).any(|at| {
                let before = around(prose, at, verb).0.trim_end_matches([' ', '-', '*', '#']);
                let is_by = |who: &str| {
                    before.strip_suffix(who).is_some_and(|rest| !rest.ends_with(is_word))
                };
                before.is_empty() || before.ends_with('\n') || listed(CLAIMANTS).any(is_by)
            })
        })
}

/// Returns whether a word is the name of a file: a stem, a dot and a short ending with a letter.
fn is_file(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ';', '!', '?']);
    word.rsplit_once('.').is_some_and(|(stem, ending)| {
        let is_ending = (1..=5).contains(&ending.len())
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && ending.chars().all(|c| c.is_ascii_alphanumeric());
        is_ending && stem.len() > 1 && stem.ends_with(is_word)
    })
}

/// Returns whether a text has a call of that tool in one of the forms that models know.
fn calls(text: &str, tool: &str) -> bool {
    text.match_indices(tool).any(|(at, _)| {
        let (before, behind) = around(text, at, tool);
        let is_value = before.strip_suffix('"').is_some_and(|before| {
            let key = before.trim_end();
            key.ends_with("\"name\":") || key.ends_with("\"tool\":")
        });
        let is_field = is_value && behind.starts_with('"');
        let is_tag = before.ends_with('<') && behind.starts_with(['>', ' ']);
        let is_function = !before.ends_with(is_word) && behind.starts_with('(');
        is_field || is_tag || is_function
    })
}

#[cfg(test)]
mod tests {
    use super::{ReplyFacts, fake_result, of_text};
    use alloc::format;
    use innerloop_types::corrections::{CorrectionPolicy, ReplyFault};

    const EVERY: CorrectionPolicy = CorrectionPolicy {
        promised: 1,
        too_short: 1,
        asked_instead: 1,
        wrote_only: 1,
        claimed: 1,
        fake_result: 1,
        named_tool: 1,
        greeting: 1,
        echo: 1,
        patch_spiral: 1,
        max_after_calls: 2,
        max_per_run: 8,
    };

    const FIRST: ReplyFacts = ReplyFacts {
        reply: 1,
        has_called: false,
        has_ever_called: false,
        may_change: true,
        may_ask: false,
    };

    fn fault(text: &str, facts: ReplyFacts) -> Option<ReplyFault> {
        of_text(text, facts, &EVERY, ["read_file", "shell"].into_iter())
    }

    #[test]
    fn i7_texts_in_place_of_work_have_a_fault() {
        let long = "A paragraph about the matter, with nothing in it. ".repeat(8);
        for (text, expected) in [
            ("I'll read the file first.", Some(ReplyFault::Promised)),
            ("I’ll now check the tests.", Some(ReplyFault::Promised)),
            ("Sure. Let me look at `src/lib.rs`.", Some(ReplyFault::Promised)),
            ("Let me explain how to read it.", None),
            ("Let me know if I can run more tests.", None),
            ("The walls of the prefix will add up.", None),
            ("> I'll read the file.\n\nThat is what it says.", None),
            ("```\nI'll read the file\n```\nThis is the log.", None),
            ("Would you like me to fix it?", Some(ReplyFault::AskedInstead)),
            ("ok", Some(ReplyFault::TooShort)),
            ("It is 4.", None),
            (&long, Some(ReplyFault::WroteOnly)),
            ("I created hello.py and it works. Done.", Some(ReplyFault::Claimed)),
            ("created hello.py and it works. Done.", Some(ReplyFault::Claimed)),
            ("All good: `hello.py` has been updated.", Some(ReplyFault::Claimed)),
            ("The commit added hello.py.", None),
            ("I created a poem for you.", None),
        ] {
            assert_eq!(fault(text, FIRST), expected, "{text}");
        }
        let later = ReplyFacts { reply: 4, has_ever_called: true, ..FIRST };
        for text in ["I'll read the file first.", "ok", "I created hello.py.", &long] {
            assert_eq!(fault(text, later), None, "{text}");
        }
        let may_ask = ReplyFacts { may_ask: true, ..FIRST };
        assert_eq!(fault("Shall I begin with the tests?", may_ask), None);
        let none = CorrectionPolicy::default();
        assert_eq!(of_text("ok", FIRST, &none, core::iter::empty()), None);
    }

    #[test]
    fn k10_texts_after_a_call_have_other_faults() {
        let after = ReplyFacts { has_called: true, has_ever_called: true, reply: 2, ..FIRST };
        for (text, expected) in [
            ("Hi there! How can I help you today?", Some(ReplyFault::Greeting)),
            ("The file greets with \"hi there\" in line 3.", Some(ReplyFault::Greeting)),
            ("read_file(\"a.txt\")", Some(ReplyFault::NamedTool)),
            ("{\"name\": \"read_file\", \"arguments\": {}}", Some(ReplyFault::NamedTool)),
            ("<shell>ls</shell>", Some(ReplyFault::NamedTool)),
            ("I used read_file on it, and the shell.", None),
            ("I'll read the next one.", None),
        ] {
            assert_eq!(fault(text, after), expected, "{text}");
        }
        let long = format!("{} How can I help?", "It is done and tested. ".repeat(10));
        assert_eq!(fault(&long, after), None);
    }

    #[test]
    fn i8_a_made_up_result_is_found_at_its_marker() {
        for (text, place) in [
            ("I see. [Tool Result] 3 files", Some(7)),
            ("«tool_output» x", Some(0)),
            ("Good.\nObservation: 3 files", Some(5)),
            ("My observation: it works.", None),
        ] {
            assert_eq!(fake_result(text), place, "{text}");
        }
    }
}
