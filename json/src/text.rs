//! Joining of texts. The standard library compiles its own function for each kind of text and each
//! length of the separator.

use alloc::string::String;

/// Returns the texts, with `between` between them.
#[must_use]
pub fn joined<T: AsRef<str>>(texts: &[T], between: &str) -> String {
    let mut joined = String::new();
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            joined.push_str(between);
        }
        joined.push_str(text.as_ref());
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::joined;
    use alloc::string::String;

    #[test]
    fn texts_are_joined_as_the_standard_library_does_it() {
        for texts in [&[][..], &["a"], &["a", "", "b"]] {
            for between in ["", ", "] {
                assert_eq!(joined(texts, between), texts.join(between));
            }
        }
        assert_eq!(joined(&[String::from("a"), String::from("b")], "-"), "a-b");
    }
}
