//! The options of a command, read as GNU's programs read them: short ones in clusters, long ones by
//! any unambiguous beginning, values joined or as the next word, operands anywhere, and `--` before
//! the rest.

/// The options that a command knows: the short ones, with `:` behind those that take a value, and
/// the long names of options by their letters.
pub(super) struct OptionSpec {
    /// The name of the command, for messages.
    pub(super) command: &'static str,
    /// The letters of the short options, written as for `getopts`.
    pub(super) short: &'static str,
    /// A long name for a letter; the letter need not be one of `short`. A `:` behind a name means
    /// that it takes a value, `?` that it may have one behind `=`.
    pub(super) long: &'static [(&'static str, char)],
}

/// The options and operands that were given, in their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ParsedArguments {
    /// The letters of the options with their values.
    pub(super) options: Vec<(char, String)>,
    /// The words that are not options.
    pub(super) operands: Vec<String>,
    /// The number of options before each of these words.
    pub(super) options_before: Vec<usize>,
}

impl ParsedArguments {
    /// Returns whether an option was given.
    pub(super) fn has(&self, letter: char) -> bool {
        self.options.iter().any(|(given, _)| *given == letter)
    }

    /// Returns the last value that an option was given.
    pub(super) fn value(&self, letter: char) -> Option<&str> {
        let mut given = self.options.iter().rev();
        given.find(|(given, _)| *given == letter).map(|(_, value)| value.as_str())
    }

    /// Returns the one of these options that was given last.
    pub(super) fn last(&self, letters: &str) -> Option<char> {
        let mut given = self.options.iter().rev();
        given.find(|(given, _)| letters.contains(*given)).map(|(letter, _)| *letter)
    }
}

impl OptionSpec {
    /// Reads the words of a command.
    ///
    /// # Errors
    /// The message for a word that the command does not know.
    pub(super) fn read(&self, args: &[String]) -> Result<ParsedArguments, String> {
        let mut given = ParsedArguments::default();
        let mut args = args.iter();
        while let Some(word) = args.next() {
            if word == "--" {
                given.operands.extend(args.by_ref().cloned());
            } else if let Some(long) = word.strip_prefix("--") {
                given.options.push(self.long(long, &mut args)?);
            } else if word.len() > 1 && word.starts_with('-') {
                self.cluster(word, &mut args, &mut given)?;
            } else {
                given.operands.push(word.clone());
            }
            given.options_before.resize(given.operands.len(), given.options.len());
        }
        Ok(given)
    }

    fn cluster<'a>(
        &self,
        word: &str,
        rest: &mut impl Iterator<Item = &'a String>,
        given: &mut ParsedArguments,
    ) -> Result<(), String> {
        let mut letters = word.chars();
        letters.next();
        while let Some(letter) = letters.next() {
            let mut known = self.short.chars().skip_while(|known| *known != letter);
            if letter == ':' || known.next().is_none() {
                return Err(self.wrong(&format!("invalid option -- '{letter}'")));
            }
            let mut value = String::new();
            if known.next() == Some(':') {
                value = letters.as_str().to_owned();
                if value.is_empty() {
                    let wanted = format!("option requires an argument -- '{letter}'");
                    value = rest.next().ok_or_else(|| self.wrong(&wanted))?.clone();
                }
                letters = "".chars();
            }
            given.options.push((letter, value));
        }
        Ok(())
    }

    fn long<'a>(
        &self,
        word: &str,
        rest: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(char, String), String> {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let bare = |known: &str| known.trim_end_matches([':', '?']).to_owned();
        // A full name counts even if it is the beginning of another one.
        let exact = self.long.iter().find(|(known, _)| bare(known) == name);
        let mut begun = self.long.iter().filter(|(known, _)| known.starts_with(name));
        let (known, letter) = match (exact, begun.next(), begun.next()) {
            (Some(known), _, _) | (None, Some(known), None) => known,
            (None, Some(_), Some(_)) => {
                return Err(self.wrong(&format!("option '--{name}' is ambiguous")));
            }
            _ => return Err(self.wrong(&format!("unrecognized option '--{word}'"))),
        };
        let full = bare(known);
        let value = match (known.chars().last(), value) {
            (Some(':' | '?'), Some(value)) => value.to_owned(),
            (Some(':'), None) => {
                let wanted = format!("option '--{full}' requires an argument");
                rest.next().ok_or_else(|| self.wrong(&wanted))?.clone()
            }
            (_, None) => String::new(),
            (_, Some(_)) => {
                return Err(self.wrong(&format!("option '--{full}' doesn't allow an argument")));
            }
        };
        Ok((*letter, value))
    }

    /// Returns the message for a mistake in the options.
    pub(super) fn wrong(&self, what: &str) -> String {
        let command = self.command;
        format!("{command}: {what}\nTry '{command} --help' for more information.\n")
    }
}
