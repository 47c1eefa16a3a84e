//! A question to a person: an open one, or a choice of a few words. It knows which lines and keys
//! answer it, and which texts may be meant as an answer; asking is `approval`.

/// The words that often begin an answer, in addition to the question's own.
const REPLIES: [&str; 16] = [
    "yes", "yeah", "yep", "ok", "okay", "sure", "fine", "please", "no", "nope", "nah", "not",
    "never", "later", "don't", "cancel",
];

/// The number of words up to which a text is short enough to be meant as an answer.
const SHORT: usize = 3;

/// A question, as far as it concerns the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    /// The text before the answer.
    pub(super) prompt: String,
    /// The words that answer it; none where any text does.
    words: Vec<&'static str>,
    /// Other ways to say one of the words.
    synonyms: Vec<(&'static str, &'static str)>,
    /// True if the first letter of a word answers without Enter, where keys are read.
    by_key: bool,
}

impl Question {
    /// Returns a question that any text answers.
    pub(super) fn open(prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), words: Vec::new(), synonyms: Vec::new(), by_key: false }
    }

    /// Returns a question that a word or its first letter answers. Each word has an explanation,
    /// which may be empty.
    pub(super) fn choice(asked: &str, words: &[(&'static str, &str)]) -> Self {
        let told: Vec<String> = words.iter().map(|(word, about)| told(word, about)).collect();
        let prompt = format!("{asked}{}: ", told.join(", "));
        let words = words.iter().map(|(word, _)| *word).collect();
        Self { prompt, words, synonyms: Vec::new(), by_key: false }
    }

    /// Adds synonyms, each with the word that it stands for.
    pub(super) fn also(self, synonyms: &[(&'static str, &'static str)]) -> Self {
        Self { synonyms: synonyms.to_vec(), ..self }
    }

    /// Lets the first letter of a word answer without Enter.
    pub(super) fn by_key(self) -> Self {
        Self { by_key: true, ..self }
    }

    /// Returns whether any text answers it.
    pub(super) fn is_open(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the word that a line stands for.
    pub(super) fn word(&self, line: &str) -> Option<&'static str> {
        let line = line.trim().to_lowercase();
        let stands = |word: &&&str| line == **word || word.get(..1) == Some(line.as_str());
        let synonym = || self.synonyms.iter().find(|(said, _)| line == *said);
        self.words.iter().find(stands).copied().or_else(|| synonym().map(|(_, word)| *word))
    }

    /// Returns whether a text that is none of the words may still be meant as an answer: it is
    /// short, or begins like one.
    pub(super) fn may_mean(&self, text: &str) -> bool {
        if self.is_open() {
            return false;
        }
        let mut words = text.split_whitespace();
        let first = words.next().unwrap_or_default();
        let first = first.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let begins = self.word(&first).is_some() || REPLIES.contains(&first.as_str());
        begins || words.count() < SHORT
    }

    /// Returns whether that key is an answer by itself.
    pub(super) fn takes_key(&self, key: char) -> bool {
        self.by_key && self.word(key.encode_utf8(&mut [0; 4])).is_some()
    }
}

/// Returns a word as it is shown, such as `[a]lways (every shell)`.
fn told(word: &str, about: &str) -> String {
    let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
    let about = if about.is_empty() { String::new() } else { format!(" ({about})") };
    format!("[{first}]{rest}{about}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_or_its_first_letter_answers_a_choice() {
        let question = Question::choice("go on? ", &[("yes", ""), ("always", "here"), ("no", "")]);
        assert_eq!(question.prompt, "go on? [y]es, [a]lways (here), [n]o: ");
        assert_eq!(question.word(" Y\n"), Some("yes"));
        assert_eq!(question.word("always"), Some("always"));
        assert_eq!(
            (question.word(""), question.word("yes, but"), question.word("x")),
            (None, None, None)
        );
        assert!(!question.takes_key('y'), "it was not said that a key is enough");
        assert!(question.clone().by_key().takes_key('y'));
        assert!(!question.by_key().takes_key('x'));
        let synonyms = [("no", "later"), ("n", "later")];
        let question = Question::choice("", &[("yes", ""), ("later", "")]).also(&synonyms);
        assert_eq!((question.word("n"), question.word("No ")), (Some("later"), Some("later")));
        assert_eq!(question.prompt, "[y]es, [l]ater: ");
        let open = Question::open("why? ");
        assert!(!open.may_mean("yes"), "any text is an answer");
        assert!(open.is_open() && open.word("y").is_none() && !open.by_key().takes_key('y'));
    }

    #[test]
    fn a_text_may_be_meant_as_an_answer() {
        let question = Question::choice("apply? ", &[("yes", ""), ("not now", ""), ("diff", "")]);
        for text in ["nope", "looks good", "x", "No, I would rather see the tests first", "go on"] {
            assert!(question.may_mean(text), "{text}");
        }
        for text in ["write the tests first", "now rename it to b.txt", "yesterday's log is gone"] {
            assert!(!question.may_mean(text), "{text}");
        }
    }
}
