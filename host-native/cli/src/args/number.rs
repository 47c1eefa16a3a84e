//! The parsers of whole numbers, with one error message for all options.

/// Parses a number that may be 0.
pub(super) fn whole<T: TryFrom<u128>>(text: &str) -> Result<T, String> {
    read(text, 0)
}

/// Parses a number that is not 0.
pub(super) fn positive<T: TryFrom<u128>>(text: &str) -> Result<T, String> {
    read(text, 1)
}

fn read<T: TryFrom<u128>>(text: &str, least: u128) -> Result<T, String> {
    // The widest type comes first, so that a large number is told to be too large, not malformed.
    let number = text.trim().parse::<u128>().ok().filter(|number| *number >= least);
    let number = number.ok_or_else(|| format!("give a whole number, {least} or more"))?;
    T::try_from(number).map_err(|_| "that is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_and_have_a_least_one() {
        assert_eq!(whole::<u32>(" 0 "), Ok(0));
        assert_eq!(positive::<u64>("500000"), Ok(500_000));
        assert!(positive::<u32>("0").unwrap_err().contains("1 or more"));
        for text in ["", "-1", "1.5", "1e3", "1,000", "many"] {
            assert!(whole::<u32>(text).unwrap_err().contains("whole number"), "{text}");
        }
        assert_eq!(whole::<u32>("4294967296"), Err("that is too large".to_owned()));
    }
}
