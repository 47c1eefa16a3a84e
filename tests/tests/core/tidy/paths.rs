//! Reads a Rust file as tokens: the modules it declares, the paths it names, in `use` items, in
//! code, in macros and in the strings of attributes, and where its functions begin and end.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

/// What stands in a file.
#[derive(Default)]
pub(super) struct Reading {
    /// Modules with a file of their own, as `a` or, within an inline module, `inner::a`.
    pub(super) declared: Vec<String>,
    pub(super) paths: Vec<Named>,
    pub(super) functions: Vec<Lines>,
    /// Inline modules of unit tests.
    pub(super) tests: Vec<Lines>,
}

/// A path of two segments or more, `use` groups unfolded: `a::{b, c::d}` is `a::b` and `a::c::d`.
#[derive(Clone)]
pub(super) struct Named {
    /// The inline modules that it stands in.
    pub(super) inside: Vec<String>,
    pub(super) segments: Vec<String>,
}

/// A first and a last line, counted from 1.
pub(super) struct Lines {
    pub(super) first: usize,
    pub(super) last: usize,
}

impl Lines {
    pub(super) fn count(&self) -> usize {
        self.last + 1 - self.first
    }
}

impl Reading {
    /// Reads a file's text.
    pub(super) fn of(text: &str) -> Self {
        let mut reading = Self::default();
        let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{error}: {text}"));
        reading.walk(tokens, &mut Vec::new());
        reading
    }

    fn walk(&mut self, tokens: TokenStream, inside: &mut Vec<String>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let (mut at, mut is_test) = (0, false);
        while let Some(rest) = tokens.get(at..).filter(|rest| !rest.is_empty()) {
            at += match rest {
                [TokenTree::Punct(hash), TokenTree::Group(attribute), ..]
                    if hash.as_char() == '#' =>
                {
                    is_test |= attribute.stream().to_string().replace(' ', "") == "cfg(test)";
                    self.read_attribute(attribute, inside);
                    2
                }
                // In a macro's body `$crate` is the crate of whoever calls it.
                [TokenTree::Punct(dollar), TokenTree::Ident(_), ..] if dollar.as_char() == '$' => 2,
                [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(end), ..]
                    if word == "mod" && end.as_char() == ';' =>
                {
                    let steps = inside.iter().cloned().chain([name.to_string()]);
                    self.declared.push(steps.collect::<Vec<_>>().join("::"));
                    2
                }
                [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Group(body), ..]
                    if word == "mod" =>
                {
                    self.tests.extend(is_test.then(|| lines(word, body)));
                    is_test = false;
                    inside.push(name.to_string());
                    self.walk(body.stream(), inside);
                    inside.pop();
                    3
                }
                [TokenTree::Ident(word), TokenTree::Ident(_), ..] if word == "fn" => {
                    self.functions.extend(body_of(rest).map(|body| lines(word, body)));
                    2
                }
                [TokenTree::Ident(_), ..] => self.read_path(Vec::new(), rest, inside),
                [TokenTree::Group(group), ..] => {
                    is_test &= group.delimiter() != Delimiter::Brace;
                    self.walk(group.stream(), inside);
                    1
                }
                [TokenTree::Punct(end), ..] => {
                    is_test &= end.as_char() != ';';
                    1
                }
                _ => 1,
            };
        }
    }

    /// Reads a path at the front of the tokens, and says how many of them it took.
    fn read_path(
        &mut self,
        mut segments: Vec<String>,
        tokens: &[TokenTree],
        inside: &[String],
    ) -> usize {
        let mut at = 0;
        loop {
            match tokens.get(at) {
                Some(TokenTree::Ident(word)) => {
                    segments.push(word.to_string());
                    at += 1;
                }
                Some(TokenTree::Punct(star)) if star.as_char() == '*' && at > 0 => break,
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    for item in items(group.stream()) {
                        self.read_path(segments.clone(), &item, inside);
                    }
                    return at + 1;
                }
                _ => break,
            }
            if !is_separator(tokens, at) {
                break;
            }
            at += 2;
        }
        if segments.len() > 1 {
            self.paths.push(Named { inside: inside.to_vec(), segments });
        }
        at.max(1)
    }

    /// An attribute may name a path in a string, as `#[serde(with = "crate::json")]` does.
    fn read_attribute(&mut self, attribute: &Group, inside: &mut Vec<String>) {
        for token in attribute.stream() {
            match token {
                TokenTree::Group(group) => self.read_attribute(&group, inside),
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    let path = text.trim_matches('"');
                    let is_path = path.contains("::")
                        && path.chars().all(|c| c.is_alphanumeric() || "_:".contains(c));
                    if let (true, Ok(path)) = (is_path, path.parse()) {
                        self.walk(path, inside);
                    }
                }
                _ => {}
            }
        }
    }
}

fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    let is_colon =
        |at| matches!(tokens.get(at), Some(TokenTree::Punct(colon)) if colon.as_char() == ':');
    is_colon(at) && is_colon(at + 1)
}

/// The items of a `use` group.
fn items(group: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut items = vec![Vec::new()];
    for token in group {
        match token {
            TokenTree::Punct(comma) if comma.as_char() == ',' => items.push(Vec::new()),
            token => items.last_mut().unwrap().push(token),
        }
    }
    items.retain(|item| !item.is_empty());
    items
}

/// The body of the function that the tokens begin with, if it has one.
fn body_of(tokens: &[TokenTree]) -> Option<&Group> {
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return Some(group),
            TokenTree::Punct(end) if end.as_char() == ';' => return None,
            _ => {}
        }
    }
    None
}

fn lines(first: &Ident, last: &Group) -> Lines {
    Lines { first: first.span().start().line, last: last.span_close().end().line }
}

#[cfg(test)]
mod tests {
    use super::Reading;

    fn paths(text: &str) -> Vec<String> {
        Reading::of(text).paths.iter().map(|path| path.segments.join("::")).collect()
    }

    #[test]
    fn paths_in_use_items_are_seen() {
        let text = "use crate::{a::{b, c as d}, e::*};\npub(crate) use super::x::Y;\n\
                    // use no::no;\nuse f::{self, g};";
        let expected = ["crate::a::b", "crate::a::c", "crate::e", "super::x::Y", "f::self", "f::g"];
        assert_eq!(paths(text), expected);
    }

    #[test]
    fn paths_in_code_in_macros_and_in_attributes_are_seen() {
        let text = r#"
            #[serde(with = "crate::json")]
            struct S { field: crate::a::T<super::b::U> }
            fn f() -> impl Fn(self::c::V) { assert!(crate::d::e(), "crate::no::no {}", g::h()); }
        "#;
        let expected =
            ["crate::json", "crate::a::T", "super::b::U", "self::c::V", "crate::d::e", "g::h"];
        assert_eq!(paths(text), expected);
    }

    #[test]
    fn functions_of_every_kind_are_measured() {
        let text = "impl S {\npub(super) const fn a(\n) {\n}\n}\nasync unsafe fn b() {}\n\
                    trait T { fn c(); fn d() {\n} }\nmacro_rules! m { () => { fn e() {\n\n} } }";
        let lengths: Vec<_> = Reading::of(text).functions.iter().map(|f| f.count()).collect();
        assert_eq!(lengths, [3, 1, 2, 3]);
    }

    #[test]
    fn unit_tests_and_inline_modules_are_known() {
        let reading = Reading::of(
            "mod a { mod b; use super::c::D; }\n#[cfg(test)]\nmod tests {\n}\nmod not {}",
        );
        assert_eq!(reading.declared, ["a::b"]);
        assert_eq!(reading.paths[0].inside, ["a"]);
        assert_eq!(reading.tests.iter().map(|t| (t.first, t.last)).collect::<Vec<_>>(), [(3, 4)]);
    }
}
