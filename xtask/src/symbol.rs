//! Symbols of a module's functions as the paths that stand in the source.

/// A symbol as a path. Both manglings of rustc write a step as its length and its text; what else
/// stands in them is left out. Other symbols stay as they are.
pub(crate) fn path(symbol: &str) -> String {
    let (mut rest, is_older) = match (symbol.strip_prefix("_ZN"), symbol.strip_prefix("_R")) {
        (Some(rest), _) => (rest, true),
        (_, Some(rest)) => (rest, false),
        _ => return symbol.to_owned(),
    };
    let mut steps = Vec::new();
    while let Some(first) = rest.chars().next() {
        // The newer mangling's numbers, and its ways to say the same again.
        let number = rest.strip_prefix(['s', 'B']).filter(|_| !is_older);
        if let Some((_, behind)) = number.and_then(|rest| rest.split_once('_')) {
            rest = behind;
            continue;
        }
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, behind) = rest.split_at(end);
        let length = digits.parse().unwrap_or(usize::MAX);
        match behind.split_at_checked(length) {
            Some((step, behind)) => {
                steps.push(readable(step));
                rest = behind;
            }
            None => rest = rest.get(first.len_utf8()..).unwrap_or_default(),
        }
    }
    if is_older {
        // The hash.
        steps.pop();
    }
    steps.join("::")
}

fn readable(step: &str) -> String {
    let marks =
        [("..", "::"), ("$LT$", "<"), ("$GT$", ">"), ("$u20$", " "), ("$C$", ","), ("$RF$", "&")];
    marks.iter().fold(step.to_owned(), |step, (mark, text)| step.replace(mark, text))
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn symbols_become_paths() {
        let of = "_$LT$innerloop_core..types..Action$u20$as$u20$serde..de..Deserialize$GT$";
        let symbol = format!("_ZN{}{of}11deserialize17h0123456789abcdefE", of.len());
        let expected = "_<innerloop_core::types::Action as serde::de::Deserialize>::deserialize";
        assert_eq!(path(&symbol), expected);
        let symbol = "_RNvMs3_NtCs5cOc02OMXlo_5alloc3stre12to_lowercase";
        assert_eq!(path(symbol), "alloc::str::to_lowercase");
        assert_eq!(path("memcpy"), "memcpy");
    }
}
