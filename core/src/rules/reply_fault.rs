//! The faults of a whole reply without calls, told from its text: announcements in place of work,
//! results that the model has made up, greetings. Word lists in English, which is what the models
//! fall back to that do this; code and quotes in the text are not looked at.

use alloc::string::String;
use innerloop_types::{
    corrections::{CorrectionPolicy, ReplyFault},
    text::{is_word, listed, prefix},
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

/// The beginning of a line that tells a result, in the form that ReAct's prompts have.
const OBSERVATION: &str = "observation:";

/// The bytes of a text's end that are looked at for phrases: what is a fault stands in a short
/// reply, and of a long one at its end.
const MOST: usize = 4_000;

/// The fault of a reply's text, if it has one whose number is not 0. A made-up result is for
/// [`fake_result`].
pub(crate) fn of_text(
    text: &str,
    facts: ReplyFacts,
    policy: &CorrectionPolicy,
    tools: &[&str],
) -> Option<ReplyFault> {
    let prose = prose(text);
    let len = text.trim().len();
    let (has_called, is_early) = (facts.has_called, !facts.has_called && facts.reply <= 2);
    let is_it = |fault: &ReplyFault| match fault {
        ReplyFault::NamedTool => has_called && tools.iter().any(|tool| calls(text, tool)),
        ReplyFault::Greeting => {
            let start = prefix(text.trim_start(), 80);
            has_called && len <= 200 && find(start, GREETINGS).is_some()
        }
        ReplyFault::Promised => !has_called && facts.reply <= 3 && promises(&prose),
        ReplyFault::AskedInstead => is_early && !facts.may_ask && find(&prose, QUESTIONS).is_some(),
        ReplyFault::Claimed => facts.may_change && !facts.has_ever_called && claims(&prose, text),
        ReplyFault::TooShort => is_early && len < 100 && !ends_sentence(text),
        ReplyFault::WroteOnly => facts.reply == 1 && len > 300 && !facts.has_ever_called,
        ReplyFault::FakeResult | ReplyFault::Echo | ReplyFault::PatchSpiral | _ => false,
    };
    ReplyFault::ALL.into_iter().find(|fault| policy.most(*fault) > 0 && is_it(fault))
}

/// Returns where a result begins that the model has made up.
pub(crate) fn fake_result(text: &str) -> Option<usize> {
    // One pass for each marker: a reply may have megabytes, and a look at all markers at each of
    // its characters would hold a page for seconds.
    let lower = text.to_ascii_lowercase();
    let marked = listed(RESULTS).filter_map(|marker| lower.find(marker));
    let observed = match lower.starts_with(OBSERVATION) {
        true => Some(0),
        false => lower.find("\nobservation:").map(|at| at + 1),
    };
    marked.chain(observed).min()
}

/// The word to the model about a fault. That about a patch spiral names the file, and is made where
/// that is known.
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
        _ => "",
    }
}

/// The end of a text, from a line on, without fenced and indented code, quotes and code spans.
fn prose(text: &str) -> String {
    let mut prose = String::new();
    let mut in_fence = false;
    let mut left = text.len();
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        in_fence ^= is_fence;
        // The lines before are read for their fences only.
        let is_before = left > MOST;
        left = left.saturating_sub(line.len() + 1);
        if is_before || in_fence || is_fence || begins(line, "    |\t|>") {
            continue;
        }
        let mut in_span = false;
        for c in line.chars() {
            in_span ^= c == '`';
            if !in_span {
                prose.push(if c == '’' { '\'' } else { c });
            }
        }
        prose.push('\n');
    }
    prose
}

/// Returns whether a text begins with one of the phrases, whatever the case of its letters.
fn begins(text: &str, phrases: &'static str) -> bool {
    matched(text, phrases).is_some()
}

/// The length of the phrase that a text begins with.
fn matched(text: &str, phrases: &'static str) -> Option<usize> {
    let is_it = |phrase: &&str| {
        let start = text.as_bytes().get(..phrase.len());
        let goes_on = phrase.ends_with(is_word)
            && text.get(phrase.len()..).is_some_and(|rest| rest.starts_with(is_word));
        start.is_some_and(|start| start.eq_ignore_ascii_case(phrase.as_bytes())) && !goes_on
    };
    listed(phrases).find(is_it).map(str::len)
}

/// The place of the first phrase whose words stand in a text, and the text behind it.
fn find<'a>(text: &'a str, phrases: &'static str) -> Option<(usize, &'a str)> {
    let mut was_word = false;
    for (at, c) in text.char_indices() {
        if !was_word
            && let Some(rest) = text.get(at..)
            && let Some(len) = matched(rest, phrases)
        {
            return Some((at, rest.get(len..).unwrap_or_default()));
        }
        was_word = is_word(c);
    }
    None
}

/// Returns whether an action is announced: one of its verbs stands in the same sentence.
fn promises(prose: &str) -> bool {
    let mut text = prose;
    while let Some((at, behind)) = find(text, INTENTS) {
        let is_other = begins(text.get(at..).unwrap_or_default(), NO_INTENTS);
        let end = behind.bytes().position(|byte| b".!?\n".contains(&byte)).unwrap_or(behind.len());
        let sentence = behind.get(..end).unwrap_or_default();
        if !is_other && find(sentence, ACTIONS).is_some() {
            return true;
        }
        text = behind;
    }
    false
}

/// Returns whether a change of a file is claimed: by its verb, and the file is named.
fn claims(prose: &str, text: &str) -> bool {
    let mut rest = prose;
    let mut names_verb = false;
    while let Some((_, behind)) = find(rest, CLAIMS) {
        let done = prose.len() - behind.len();
        let before = prose.get(..done).unwrap_or_default().trim_end_matches(is_word);
        let is_first = before.trim_end_matches([' ', '-', '*', '#']);
        let before = before.trim_end();
        names_verb |= is_first.is_empty()
            || is_first.ends_with('\n')
            || listed(CLAIMANTS).any(|who| ends_in(before, who));
        rest = behind;
    }
    names_verb && names_file(text)
}

/// Returns whether a text ends with that phrase, whatever the case of its letters.
fn ends_in(text: &str, phrase: &str) -> bool {
    let start = text.len().checked_sub(phrase.len());
    start
        .and_then(|start| text.split_at_checked(start))
        .is_some_and(|(before, end)| end.eq_ignore_ascii_case(phrase) && !before.ends_with(is_word))
}

/// Returns whether a text ends a sentence anywhere.
fn ends_sentence(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '.' | '!' | '?' | '。' | '！' | '？'))
}

/// Returns whether a text has the name of a file: a stem, a dot and a short ending with a letter.
fn names_file(text: &str) -> bool {
    let is_part = |c: char| is_word(c) || matches!(c, '/' | '-' | '.');
    text.split(|c: char| !is_part(c)).any(|word| {
        let word = word.trim_end_matches('.');
        word.rsplit_once('.').is_some_and(|(stem, ending)| {
            ending.len() <= 5
                && ending.starts_with(|c: char| c.is_ascii_alphabetic())
                && stem.len() > 1
        })
    })
}

/// Returns whether a text has a call of that tool in one of the forms that models know.
fn calls(text: &str, tool: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(tool) {
        let (before, behind) = rest.split_at_checked(at).unwrap_or_default();
        let behind = behind.get(tool.len()..).unwrap_or_default();
        let key = before.trim_end_matches(['"', ' ']);
        let is_field = behind.starts_with('"')
            && before.ends_with('"')
            && (key.ends_with("\"name\":") || key.ends_with("\"tool\":"));
        let is_tag = before.ends_with('<') && begins(behind, ">| ");
        let is_function = !before.ends_with(is_word) && behind.starts_with('(');
        if is_field || is_tag || is_function {
            return true;
        }
        rest = behind;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{ReplyFacts, fake_result, of_text};
    use alloc::format;
    use innerloop_types::corrections::{CorrectionPolicy, ReplyFault};

    const FIRST: ReplyFacts = ReplyFacts {
        reply: 1,
        has_called: false,
        has_ever_called: false,
        may_change: true,
        may_ask: false,
    };

    fn fault(text: &str, facts: ReplyFacts) -> Option<ReplyFault> {
        let every = CorrectionPolicy::of(&ReplyFault::ALL.map(|fault| (fault, 1)));
        of_text(text, facts, &every, &["read_file", "shell"])
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
        assert_eq!(of_text("ok", FIRST, &none, &[]), None);
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
            ("Good.\nObservation: 3 files", Some(6)),
            ("My observation: it works.", None),
        ] {
            assert_eq!(fake_result(text), place, "{text}");
        }
    }
}
