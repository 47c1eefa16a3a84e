//! What a person is asked: to say something, or to choose one of a few words.

/// A question, as far as it concerns the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    /// What stands before the answer.
    pub(super) prompt: String,
    /// The words that answer it; none where any text does.
    words: Vec<&'static str>,
    /// Whether the first letter of a word answers without Enter, where keys are read.
    by_key: bool,
}

impl Question {
    /// One that any text answers.
    pub(super) fn open(prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), words: Vec::new(), by_key: false }
    }

    /// One that a word answers, or its first letter. Each stands with what it is about, which may
    /// be nothing.
    pub(super) fn choice(asked: &str, words: &[(&'static str, &str)]) -> Self {
        let told: Vec<String> = words.iter().map(|(word, about)| told(word, about)).collect();
        let prompt = format!("{asked}{}: ", told.join(", "));
        Self { prompt, words: words.iter().map(|(word, _)| *word).collect(), by_key: false }
    }

    /// The same, where the first letter of a word is enough.
    pub(super) fn by_key(self) -> Self {
        Self { by_key: true, ..self }
    }

    /// Whether any text answers it.
    pub(super) fn is_open(&self) -> bool {
        self.words.is_empty()
    }

    /// The word that a line stands for.
    pub(super) fn word(&self, line: &str) -> Option<&'static str> {
        let line = line.trim().to_lowercase();
        let stands = |word: &&&str| line == **word || word.get(..1) == Some(line.as_str());
        self.words.iter().find(stands).copied()
    }

    /// Whether that key is an answer by itself.
    pub(super) fn takes_key(&self, key: char) -> bool {
        self.by_key && self.word(key.encode_utf8(&mut [0; 4])).is_some()
    }
}

/// For example `[a]lways (every shell)`.
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
        let open = Question::open("why? ");
        assert!(open.is_open() && open.word("y").is_none() && !open.by_key().takes_key('y'));
    }
}
