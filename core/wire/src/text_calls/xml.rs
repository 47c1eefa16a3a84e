//! Calls whose arguments are elements: Qwen3-Coder's `<function=…><parameter=…>`, the `<invoke>` of
//! DeepSeek's DSML and others, and GLM's `<arg_key>` and `<arg_value>`. Values may mention tags,
//! those of calls included, so `value_end` says where they end.

use super::{
    scan::SourceText,
    text_findings::{CallRegion, call},
    typed_arguments::TypedCall,
    value_end::{ValueTags, ends},
};
use alloc::vec::Vec;
use innerloop_types::message::ToolCall;

/// Reads `<tool_call><function=name><parameter=key>value</parameter></function></tool_call>`, also
/// without the outer tags and with closing tags missing.
pub(super) fn qwen(doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
    let outer = doc.after(at, "<tool_call>");
    let mut from = doc.skip_space(outer.unwrap_or(at));
    let mut calls = Vec::new();
    let mut end = from;
    while let Some(next) = doc.after_any(from, &["<function=", "<function name="]) {
        let (behind, call) = match qwen_function(doc, next) {
            Ok(found) if doc.has_room(&calls) => found,
            // What a cut call shows belongs to it and is not a call of its own.
            Err(XmlCallError::Cut) if calls.is_empty() => return Some(CallRegion::cut(doc)),
            _ => break,
        };
        calls.push(call);
        end = behind;
        from = doc.skip_space(behind);
    }
    // Models leave the opening tag out and write the closing one.
    end = doc.after(doc.skip_space(end), "</tool_call>").unwrap_or(end);
    CallRegion::new(end, calls)
}

/// The reason why there is no call where one opens.
#[derive(Clone, Copy)]
enum XmlCallError {
    /// The text there is not a call.
    Malformed,
    /// Its parameters have begun, and the text ends before the call does.
    Cut,
}

fn qwen_function(doc: &mut SourceText<'_>, from: usize) -> Result<(usize, ToolCall), XmlCallError> {
    let (name, mut at) = head(doc, from).ok_or(XmlCallError::Malformed)?;
    let mut found = TypedCall::new(name, doc.schema(name));
    let mut broken = XmlCallError::Malformed;
    loop {
        at = doc.skip_space(at);
        if let Some(end) = doc.after(at, "</function>") {
            return Ok((end, found.finish()));
        }
        // Models leave `</function>` out before the end of the call and before the next function.
        let is_end = doc.after_any(at, &["</tool_call>", "<tool_call>", "<function="]).is_some();
        if is_end {
            return Ok((at, found.finish()));
        }
        let from = doc.after_any(at, &["<parameter=", "<parameter name="]);
        let (key, value_from) = from.and_then(|from| head(doc, from)).ok_or(broken)?;
        // From the first parameter on the model means a call, so a text that ends now cuts it.
        broken = XmlCallError::Cut;
        let (value_to, end) = qwen_value(doc, value_from).ok_or(broken)?;
        let value = doc.between(value_from, value_to);
        // The template puts each value on lines of its own. Only these two line feeds are the
        // template's: all other white space is the value's.
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        found.push(key, value);
        at = end;
    }
}

/// Returns what stands up to the next `>` on the same line, without quotes, and the position behind
/// that.
pub(super) fn head<'a>(doc: &SourceText<'a>, from: usize) -> Option<(&'a str, usize)> {
    let name_end = doc.near(from, &['>', '\n', '<'])?;
    let end = doc.after(name_end, ">")?;
    let name = doc.between(from, name_end).trim().trim_matches(['"', '\'']).trim();
    (!name.is_empty()).then_some((name, end))
}

/// Returns where a parameter's value ends, and where its closing tag ends. Where that is missing,
/// the next parameter on a line of its own closes it too, and so does the function's end.
fn qwen_value(doc: &mut SourceText<'_>, from: usize) -> Option<(usize, usize)> {
    const OPENS: [&str; 2] = ["<parameter=", "<parameter name="];
    const ENDS: [&str; 4] = ["</function>", "</tool_call>", "<tool_call>", "<function="];
    let goes_on = |doc: &SourceText<'_>, at: usize| {
        let at = doc.skip_space(at);
        doc.after_any(at, &OPENS).or_else(|| doc.after_any(at, &ENDS)).is_some()
            || doc.rest(at).is_empty()
    };
    let is_open = |doc: &SourceText<'_>, at: usize| begins_line(doc, at);
    let close = "</parameter>";
    let tags = ValueTags { opens: &OPENS, is_open: &is_open, close, goes_on: &goes_on };
    let found = ends(doc, from, &tags);
    // A closing tag behind the next opening belongs to the next value.
    let first = found.first.filter(|first| found.next.is_none_or(|next| *first < next));
    if let Some(own) = found.own.or(first) {
        return Some((own, own + close.len()));
    }
    let end = function_end(doc, from).into_iter().chain(found.next).min()?;
    // What closes a call that the value shows does not close this one, which was cut.
    let shows_call = ["\n<tool_call>", "\n<function="];
    let shows_call = shows_call.iter().any(|open| doc.between(from, end).contains(open));
    (!shows_call).then_some((end, end))
}

/// Returns whether `at` begins a line.
fn begins_line(doc: &SourceText<'_>, at: usize) -> bool {
    let before = doc.between(at.saturating_sub(1), at);
    before.is_empty() || before == "\n"
}

/// Returns where the function ends whose last parameter is not closed.
fn function_end(doc: &mut SourceText<'_>, from: usize) -> Option<usize> {
    let mut at = from;
    let function = loop {
        let Some(found) = doc.find("</function>", at) else { break None };
        let behind = doc.skip_space(found + "</function>".len());
        // Within a line, a closing tag may be text of the value; it counts if the call is closed
        // behind it, too.
        if begins_line(doc, found)
            || doc.after_any(behind, &["</tool_call>", "<function="]).is_some()
        {
            break Some(found);
        }
        at = behind;
    };
    let others = ["</tool_call>", "<function="];
    let others = others.map(|end| doc.find(end, from).filter(|at| begins_line(doc, *at)));
    others.into_iter().flatten().chain(function).min()
}

/// The words before `invoke` and `parameter` in the dialects that use them. Where one begins like
/// another, the longer one comes first.
const PREFIXES: [&str; 7] =
    ["｜DSML｜ ", "｜DSML｜", "|DSML| ", "|DSML|", "minimax:", "steptml:", ""];

/// Elements that hold `<invoke>`s.
const BLOCKS: [&str; 4] = ["function_calls>", "tool_calls>", "tool_call>", "calls>"];

/// Reads `<invoke name="…">` with its parameters, or several in a block, with or without a
/// dialect's prefix.
pub(super) fn invokes(doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
    let from = doc.after_any(doc.after(at, "<")?, &PREFIXES)?;
    let block = doc.after_any(from, &BLOCKS);
    let mut next = block.map_or(at, |inner| doc.skip_space(inner));
    let (mut end, mut calls) = (at, Vec::new());
    while let Some((behind, call)) = invoke(doc, next).filter(|_| doc.has_room(&calls)) {
        calls.push(call);
        end = behind;
        next = doc.skip_space(behind);
    }
    // The block's closing tag often comes without the opening one.
    end = BLOCKS.iter().find_map(|name| closing(doc, next, name)).unwrap_or(end);
    CallRegion::new(end, calls)
}

/// Returns the call of the `<invoke>` that opens at `at`, and where it ends.
pub(super) fn invoke(doc: &mut SourceText<'_>, at: usize) -> Option<(usize, ToolCall)> {
    let from = doc.after_any(doc.after(at, "<")?, &PREFIXES)?;
    let from = doc.after(from, "invoke name=")?;
    let (name, kind, inner) = attributes(doc, from)?;
    if kind == ValueKind::Closed {
        return Some((inner, call(name, "{}")));
    }
    let mut at = doc.skip_space(inner);
    if doc.rest(at).starts_with('{') {
        let (end, json) = doc.json(at)?;
        let end = closing(doc, doc.skip_space(end), "invoke>")?;
        return Some((end, call(name, json)));
    }
    let mut found = TypedCall::new(name, doc.schema(name));
    loop {
        at = doc.skip_space(at);
        if let Some(end) = closing(doc, at, "invoke>") {
            return Some((end, found.finish()));
        }
        let (key, kind, value_from) = attributes(doc, parameter(doc, at)?)?;
        let (value_to, end) = match kind {
            ValueKind::Closed => (value_from, value_from),
            _ => parameter_end(doc, value_from)?,
        };
        let value = doc.between(value_from, value_to);
        if doc.is_spent() {
            return None;
        }
        if kind == ValueKind::Value {
            found.push_value(key, value);
        } else {
            found.push(key, value);
        }
        at = end;
    }
}

/// Returns the position behind a closing tag of that name, with any prefix.
fn closing(doc: &SourceText<'_>, at: usize, name: &str) -> Option<usize> {
    let from = doc.after(at, "</")?;
    PREFIXES.iter().find_map(|prefix| doc.after(doc.after(from, prefix)?, name))
}

/// Returns the position behind what opens a parameter, where its name begins.
fn parameter(doc: &SourceText<'_>, at: usize) -> Option<usize> {
    let from = doc.after_any(doc.after(at, "<")?, &PREFIXES)?;
    doc.after(from, "parameter name=")
}

/// Returns where a parameter's value ends, and where its closing tag ends. Behind that another
/// parameter opens or the call is closed.
fn parameter_end(doc: &mut SourceText<'_>, from: usize) -> Option<(usize, usize)> {
    let goes_on = |doc: &SourceText<'_>, at: usize| {
        let at = doc.skip_space(at);
        parameter(doc, at).or_else(|| closing(doc, at, "invoke>")).is_some()
    };
    let is_open = |_: &SourceText<'_>, _: usize| false;
    let tags = ValueTags { opens: &[], is_open: &is_open, close: "parameter>", goes_on: &goes_on };
    let mut search = from;
    loop {
        let at = ends(doc, search, &tags).own?;
        let end = at + tags.close.len();
        // The search is for the tag without its prefix, which differs between dialects. So what
        // stands before it must be `</` and a prefix.
        let before = doc.between(from, at);
        let open = PREFIXES
            .iter()
            .find_map(|prefix| before.strip_suffix(prefix)?.strip_suffix("</").map(str::len));
        if let Some(length) = open {
            return Some((from + length, end));
        }
        search = end;
    }
}

/// The kind of value that a tag announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    /// The tag does not say.
    Unknown,
    /// Text, to be taken as it is or converted to the schema's type.
    Text,
    /// JSON, not text.
    Value,
    /// Nothing: the tag closes itself.
    Closed,
}

/// Reads `"name" string="true">`: the name, the kind of value, and where the tag ends.
fn attributes<'a>(doc: &SourceText<'a>, from: usize) -> Option<(&'a str, ValueKind, usize)> {
    let tag_end = doc.near(from, &['>', '\n'])?;
    let end = doc.after(tag_end, ">")?;
    let tag = doc.between(from, tag_end);
    let quote = tag.chars().next().filter(|c| matches!(c, '"' | '\''));
    let (name, others) = match quote {
        Some(quote) => tag.get(1..)?.split_once(quote)?,
        None => tag.split_once(' ').unwrap_or((tag.strip_suffix('/').unwrap_or(tag), "")),
    };
    let kind = match others.trim() {
        "string=\"true\"" => ValueKind::Text,
        "string=\"false\"" => ValueKind::Value,
        _ if tag.ends_with('/') => ValueKind::Closed,
        _ => ValueKind::Unknown,
    };
    (!name.is_empty()).then_some((name, kind, end))
}

/// The beginnings of a dialect's tags, behind which a suffix may follow.
#[derive(Debug)]
struct TagNames {
    call: [&'static str; 2],
    key: [&'static str; 2],
    value: [&'static str; 2],
}

const GLM: TagNames = TagNames {
    call: ["<tool_call", "</tool_call"],
    key: ["<arg_key", "</arg_key"],
    value: ["<arg_value", "</arg_value"],
};

const LONGCAT: TagNames = TagNames {
    call: ["<longcat_tool_call", "</longcat_tool_call"],
    key: ["<longcat_arg_key", "</longcat_arg_key"],
    value: ["<longcat_arg_value", "</longcat_arg_value"],
};

/// Reads `<tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>`, or
/// several in `<tool_calls>`. Hunyuan writes a token behind the name and a suffix in each tag,
/// LongCat its own name before that of each tag.
pub(super) fn glm(doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
    let block = tag(doc, at, "<tool_calls");
    let mut next = block.map_or(at, |inner| doc.skip_space(inner));
    let is_longcat = doc.after(at, LONGCAT.call[0]).is_some();
    let names = if is_longcat { &LONGCAT } else { &GLM };
    let (mut end, mut calls) = (at, Vec::new());
    loop {
        let (behind, call) = match glm_call(doc, next, names) {
            Ok(found) if doc.has_room(&calls) => found,
            // What a cut call shows belongs to it and is not a call of its own.
            Err(XmlCallError::Cut) if calls.is_empty() => return Some(CallRegion::cut(doc)),
            _ => break,
        };
        calls.push(call);
        end = behind;
        if block.is_none() {
            break;
        }
        next = doc.skip_space(behind);
    }
    let closed = block.and_then(|_| tag(doc, next, "</tool_calls"));
    CallRegion::new(closed.unwrap_or(end), calls)
}

/// Returns the position behind a tag that begins with `start`, with or without a suffix.
fn tag(doc: &SourceText<'_>, at: usize, start: &str) -> Option<usize> {
    suffix_end(doc, doc.after(at, start)?)
}

/// Returns the position behind a tag whose name ends at `at`.
fn suffix_end(doc: &SourceText<'_>, at: usize) -> Option<usize> {
    let end = doc.after(at, ":").and_then(|from| doc.near(from, &['>', '<', ' '])).unwrap_or(at);
    doc.after(end, ">")
}

fn glm_call(
    doc: &mut SourceText<'_>,
    at: usize,
    names: &TagNames,
) -> Result<(usize, ToolCall), XmlCallError> {
    let (name, name_end) = glm_name(doc, at, names).ok_or(XmlCallError::Malformed)?;
    let mut found = TypedCall::new(name, doc.schema(name));
    let mut at = tag(doc, name_end, "<tool_sep").unwrap_or(name_end);
    let mut broken = XmlCallError::Malformed;
    loop {
        at = skip_breaks(doc, at);
        if let Some(end) = tag(doc, at, names.call[1]) {
            return Ok((end, found.finish()));
        }
        let (key, key_to) = glm_key(doc, at, names).ok_or(broken)?;
        broken = XmlCallError::Cut;
        let value_from = tag(doc, key_to, names.key[1]).ok_or(broken)?;
        let (value, end) = glm_value(doc, value_from, names).ok_or(broken)?;
        // A key with the value's tag in it was never closed, so its end is that of a later key.
        if key.contains(names.value[0]) || doc.is_spent() {
            return Err(XmlCallError::Malformed);
        }
        found.push(key, value);
        at = end;
    }
}

/// Returns the name of the call that opens at `at`, and where it ends.
fn glm_name<'a>(doc: &SourceText<'a>, at: usize, names: &TagNames) -> Option<(&'a str, usize)> {
    let from = doc.skip_space(tag(doc, at, names.call[0])?);
    let name_end = doc.near(from, &['<', '\n', '{', '['])?;
    let name = doc.between(from, name_end).trim();
    let name = name.strip_suffix("\\n").unwrap_or(name);
    // What follows the tag may as well be JSON, Python or prose: names have none of these.
    let is_odd = |c: char| c.is_whitespace() || matches!(c, '(' | '"' | '}' | ']');
    (!name.is_empty() && !name.contains(is_odd)).then_some((name, name_end))
}

/// Returns the key that opens at `at`, and where it ends.
fn glm_key<'a>(doc: &mut SourceText<'a>, at: usize, names: &TagNames) -> Option<(&'a str, usize)> {
    let from = tag(doc, at, names.key[0])?;
    let to = doc.find(names.key[1], from)?;
    Some((doc.between(from, to).trim(), to))
}

/// Returns the value behind a key, and where it ends. One of the value's two tags may be missing.
fn glm_value<'a>(
    doc: &mut SourceText<'a>,
    from: usize,
    names: &TagNames,
) -> Option<(&'a str, usize)> {
    let open = tag(doc, skip_breaks(doc, from), names.value[0]);
    let value_from = open.unwrap_or(from);
    let goes_on = |doc: &SourceText<'_>, at: usize| {
        let Some(at) = suffix_end(doc, at) else { return false };
        doc.after_any(skip_breaks(doc, at), &[names.key[0], names.call[1]]).is_some()
    };
    // A key counts only if its value follows: the value itself may mention a key's tag.
    let is_open = |doc: &SourceText<'_>, at: usize| {
        let key = tag(doc, at, names.key[0]).and_then(|key| doc.near(key, &['<', '\n']));
        let key_end = key.and_then(|end| tag(doc, end, names.key[1]));
        key_end.is_some_and(|end| doc.after(skip_breaks(doc, end), names.value[0]).is_some())
    };
    let (opens, close) = ([names.key[0]], names.value[1]);
    let tags = ValueTags { opens: &opens, is_open: &is_open, close, goes_on: &goes_on };
    let found = ends(doc, value_from, &tags);
    let first = found.first.filter(|first| found.next.is_none_or(|next| *first < next));
    let (to, end) = match found.own.or(first) {
        Some(own) => (own, tag(doc, own, close)?),
        None if open.is_some() => {
            let end = doc.find(names.call[1], value_from);
            let end = end.filter(|end| closes_call(doc, value_from, *end, names));
            let end = end.into_iter().chain(found.next).min()?;
            // What closes a call that the value shows does not close this one, which was cut.
            let mut lines = doc.between(value_from, end).lines().skip(1);
            if lines.any(|line| line.starts_with(names.call[0])) {
                return None;
            }
            (end, end)
        }
        None => return None,
    };
    let value = doc.between(value_from, to);
    // White space around a value without its opening tag is the template's, not the value's.
    Some((if open.is_some() { value } else { value.trim() }, end))
}

/// Returns whether the closing tag of a call at `end` also closes the call whose value begins at
/// `from` and has no closing tag. It does if it has a line of its own, or if it ends the text and
/// closes no call that the value shows.
fn closes_call(doc: &mut SourceText<'_>, from: usize, end: usize, names: &TagNames) -> bool {
    let behind = suffix_end(doc, end + names.call[1].len());
    let is_last = behind.is_some_and(|behind| {
        let rest = doc.rest(doc.skip_space(behind));
        rest.is_empty() || rest.starts_with('<')
    });
    begins_line(doc, end)
        || is_last && doc.find(names.call[0], from).is_none_or(|shown| shown > end)
}

/// Returns the position behind white space and behind line breaks that are written out as `\n`.
fn skip_breaks(doc: &SourceText<'_>, at: usize) -> usize {
    let mut at = doc.skip_space(at);
    while let Some(behind) = doc.after(at, "\\n") {
        doc.read(2);
        at = doc.skip_space(behind);
    }
    at
}
