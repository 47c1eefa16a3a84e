//! The text of an HTML page as a model reads it: headings, paragraphs, lists, links with their
//! addresses, tables by rows, preformatted text as it stands. One pass over the tokens builds no
//! tree, so that time and memory are in proportion to the page, however deeply it is nested.

use super::layout::{TextGap, TextLayout, readable};
use html5gum::{
    Span, State, Tokenizer,
    emitters::callback::{CallbackEmitter, CallbackEvent},
};
use reqwest::Url;
use std::mem::take;

/// The number of levels of lists that are indented.
// Without a limit, nested lists would make the text grow with the square of the page.
const LEVELS: usize = 8;

/// The longest address of a link, and of the base that links start from.
// Each short link becomes as long as its base, so that a long base would multiply the page.
const LONGEST_LINK: usize = 2 << 10;

/// The number of characters of a title that are kept.
const TITLE: usize = 200;

/// The number of tokens after which a conversion checks whether it is still wanted.
const PATIENCE: u32 = 1024;

/// Returns the text of a page, at most about `limit` bytes of it, and whether there is more. Links
/// start from `address`. It ends early if `is_stopped` says so.
pub(super) fn from_html(
    html: &str,
    address: &Url,
    limit: usize,
    is_stopped: impl Fn() -> bool,
) -> (String, bool) {
    let mut reader = HtmlReader::new(address, limit);
    let mut seen = 0_u32;
    let emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| {
        seen = seen.wrapping_add(1);
        let next = reader.take(&event);
        let is_over = reader.layout.is_full() || (seen.is_multiple_of(PATIENCE) && is_stopped());
        if is_over { Some(TokenizerAction::Stop) } else { next }
    });
    let mut tokenizer = Tokenizer::new_with_emitter(html, emitter);
    while let Some(Ok(next)) = tokenizer.next() {
        match next {
            TokenizerAction::Stop => break,
            // Without a tree the tokenizer does not know in which element it is, and would read the
            // text of a script as tags.
            TokenizerAction::Switch(state) => tokenizer.set_state(state),
        }
    }
    drop(tokenizer);
    reader.finish()
}

/// The next action of the tokenizer.
enum TokenizerAction {
    /// Read the content of an element in the state that the standard gives for it.
    Switch(State),
    Stop,
}

/// The state of the conversion.
struct HtmlReader {
    layout: TextLayout,
    /// The open lists: the number of the next item, or none for bullets.
    lists: Vec<Option<u32>>,
    /// The number of `pre` elements that are open, and whether the last one has just begun.
    pre: u32,
    is_pre_begun: bool,
    /// True if a piece of inline code is open.
    is_code: bool,
    link: Option<OpenLink>,
    /// The address that links start from, and whether the page has named it.
    base: Url,
    has_base: bool,
    title: Option<String>,
    /// The open element whose content is skipped, if there is one.
    aside: Option<SkippedElement>,
    tag: StartTag,
}

struct OpenLink {
    href: String,
    /// The place where its text begins.
    from: usize,
}

/// An open element whose content is not part of the page's text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SkippedElement {
    /// An element with text only, up to its end tag.
    Dropped,
    Title,
    /// Templates, nested this deep.
    Templates(u32),
}

/// The start tag that is being read.
#[derive(Default)]
struct StartTag {
    name: Vec<u8>,
    attribute: Vec<u8>,
    href: Option<String>,
    alt: Option<String>,
    start: Option<String>,
}

impl StartTag {
    /// Stores an attribute. Of several with one name the first counts.
    fn set(&mut self, value: &[u8]) {
        let place = match self.attribute.as_slice() {
            b"href" => &mut self.href,
            b"alt" => &mut self.alt,
            b"start" => &mut self.start,
            _ => return,
        };
        place.get_or_insert_with(|| String::from_utf8_lossy(value).trim().to_owned());
    }
}

impl HtmlReader {
    fn new(address: &Url, limit: usize) -> Self {
        Self {
            layout: TextLayout::new(limit),
            lists: Vec::new(),
            pre: 0,
            is_pre_begun: false,
            is_code: false,
            link: None,
            base: address.clone(),
            has_base: false,
            title: None,
            aside: None,
            tag: StartTag::default(),
        }
    }

    fn take(&mut self, event: &CallbackEvent<'_>) -> Option<TokenizerAction> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag = StartTag { name: name.to_vec(), ..StartTag::default() };
            }
            CallbackEvent::AttributeName { name } => self.tag.attribute = name.to_vec(),
            CallbackEvent::AttributeValue { value } => self.tag.set(value),
            CallbackEvent::CloseStartTag { .. } => {
                let tag = take(&mut self.tag);
                return self.start(tag).map(TokenizerAction::Switch);
            }
            CallbackEvent::EndTag { name } => self.end(name),
            CallbackEvent::String { value } => self.string(&String::from_utf8_lossy(value)),
            CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => {}
        }
        None
    }

    fn string(&mut self, text: &str) {
        match self.aside {
            Some(SkippedElement::Title) => {
                let readable = text.chars().filter_map(readable).take(TITLE);
                self.title.get_or_insert_with(|| readable.collect());
            }
            Some(SkippedElement::Dropped | SkippedElement::Templates(_)) => {}
            None if self.pre > 0 => {
                // As in the standard, a line feed right behind the tag is not part of the text.
                let text = if take(&mut self.is_pre_begun) {
                    text.strip_prefix('\n').unwrap_or(text)
                } else {
                    text
                };
                self.layout.verbatim(text);
            }
            None => self.layout.words(text),
        }
    }

    /// Handles the start of an element, and returns the state in which the tokenizer reads its
    /// content, if that is a special one.
    fn start(&mut self, tag: StartTag) -> Option<State> {
        let (aside, state) = match tag.name.as_slice() {
            b"script" => (Some(SkippedElement::Dropped), Some(State::ScriptData)),
            b"style" | b"iframe" | b"noembed" | b"noframes" => {
                (Some(SkippedElement::Dropped), Some(State::RawText))
            }
            b"title" => (Some(SkippedElement::Title), Some(State::RcData)),
            b"textarea" => (None, Some(State::RcData)),
            b"xmp" => (None, Some(State::RawText)),
            b"plaintext" => (None, Some(State::PlainText)),
            _ => (None, None),
        };
        // The state below holds even inside of a template: the tokenizer has to read a script as a
        // script there, too.
        match (&mut self.aside, aside) {
            (Some(SkippedElement::Templates(depth)), _) => {
                *depth += u32::from(tag.name == b"template");
            }
            (None, None) if tag.name == b"template" => {
                self.aside = Some(SkippedElement::Templates(1));
            }
            (None, None) => self.element(tag),
            (place, aside) => *place = aside,
        }
        state
    }

    /// Handles the start of an element of the page's text.
    fn element(&mut self, tag: StartTag) {
        match tag.name.as_slice() {
            &[b'h', level @ b'1'..=b'6'] => {
                let marker = "#".repeat(usize::from(level - b'0')) + " ";
                self.layout.begin_line(TextGap::Blank, marker);
            }
            b"a" => {
                // Links do not nest: a second one ends the first, as in browsers.
                self.end_link();
                let from = self.layout.end();
                self.link = tag.href.map(|href| OpenLink { href, from });
            }
            b"base" if !self.has_base => {
                let base = tag.href.and_then(|href| self.resolve(&href));
                self.has_base = base.is_some();
                self.base = base.unwrap_or_else(|| self.base.clone());
            }
            b"br" if self.pre > 0 => self.layout.verbatim("\n"),
            b"br" => self.layout.break_line(),
            b"hr" => self.rule(),
            b"img" => {
                if let Some(alt) = tag.alt.filter(|alt| !alt.is_empty()) {
                    self.layout.words(&format!("[image: {alt}]"));
                }
            }
            b"ul" | b"menu" => self.begin_list(None),
            b"ol" => {
                let start = tag.start.and_then(|start| start.parse().ok());
                self.begin_list(Some(start.unwrap_or(1)));
            }
            b"li" => self.begin_item(),
            b"pre" | b"listing" | b"xmp" => self.begin_pre(),
            b"code" if self.pre == 0 && !self.is_code => {
                self.is_code = true;
                self.layout.piece("`");
            }
            b"tr" => self.layout.begin_row(),
            b"td" | b"th" => self.layout.begin_cell(),
            name => self.layout.gap(gap_around(name)),
        }
    }

    fn end(&mut self, name: &[u8]) {
        match &mut self.aside {
            Some(SkippedElement::Templates(depth)) if name == b"template" && *depth > 1 => {
                *depth -= 1;
            }
            Some(SkippedElement::Templates(_)) if name != b"template" => {}
            // The tokenizer reports no other end tag inside of these elements, so it is their own.
            Some(_) => self.aside = None,
            None => self.end_element(name),
        }
    }

    fn end_element(&mut self, name: &[u8]) {
        match name {
            [b'h', b'1'..=b'6'] => self.layout.end_line(TextGap::Blank),
            b"a" => self.end_link(),
            b"ul" | b"menu" | b"ol" => {
                self.lists.pop();
                let gap = if self.lists.is_empty() { TextGap::Blank } else { TextGap::Line };
                self.layout.end_line(gap);
            }
            b"li" => self.layout.end_line(TextGap::Line),
            b"pre" | b"listing" | b"xmp" => self.end_pre(),
            b"code" if self.is_code => {
                self.is_code = false;
                self.layout.append("`");
            }
            b"tr" => self.layout.end_row(),
            b"p" => self.layout.gap(TextGap::Blank),
            // The gap is set by the cell that follows; a row has none at its end.
            b"td" | b"th" => {}
            name => self.layout.gap(gap_around(name)),
        }
    }

    fn rule(&mut self) {
        self.layout.gap(TextGap::Blank);
        self.layout.piece("---");
        self.layout.gap(TextGap::Blank);
    }

    fn begin_list(&mut self, next: Option<u32>) {
        self.layout.gap(if self.lists.is_empty() { TextGap::Blank } else { TextGap::Line });
        self.lists.push(next);
    }

    fn begin_item(&mut self) {
        let indent = "  ".repeat(self.lists.len().clamp(1, LEVELS) - 1);
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{indent}{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            _ => format!("{indent}- "),
        };
        self.layout.begin_line(TextGap::Line, marker);
    }

    fn begin_pre(&mut self) {
        if self.pre == 0 {
            self.layout.gap(TextGap::Blank);
            self.layout.piece("```\n");
        }
        self.pre += 1;
        self.is_pre_begun = true;
    }

    fn end_pre(&mut self) {
        // Pages have end tags without a start.
        let Some(rest) = self.pre.checked_sub(1) else { return };
        self.pre = rest;
        if rest == 0 {
            self.layout.close_fence();
        }
    }

    /// Adds the link's address behind its text, if it has one that differs.
    fn end_link(&mut self) {
        let Some(OpenLink { href, from }) = self.link.take() else { return };
        let text = self.layout.since(from);
        if text.is_empty() || href.is_empty() || href.starts_with('#') {
            return;
        }
        let Some(address) = self.resolve(&href) else { return };
        // Other schemes, such as `javascript:` and `data:`, hold no address that a model could
        // read.
        if matches!(address.scheme(), "http" | "https" | "mailto") && text != address.as_str() {
            self.layout.append(&format!(" ({address})"));
        }
    }

    /// Returns the absolute address of a link.
    fn resolve(&self, href: &str) -> Option<Url> {
        let longest = href.len().max(self.base.as_str().len());
        if longest > LONGEST_LINK { None } else { self.base.join(href).ok() }
    }

    fn finish(mut self) -> (String, bool) {
        self.end_link();
        if self.pre > 0 {
            self.layout.close_fence();
        }
        let (text, is_cut) = self.layout.finish();
        let title = self.title.unwrap_or_default();
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = if title.is_empty() { text } else { format!("Title: {title}\n\n{text}") };
        (text.trim_end().to_owned(), is_cut)
    }
}

/// Returns the gap before and after the content of an element.
const fn gap_around(name: &[u8]) -> TextGap {
    match name {
        b"p" | b"table" | b"blockquote" | b"article" | b"section" | b"header" | b"footer"
        | b"nav" | b"main" | b"aside" | b"figure" | b"form" | b"fieldset" | b"details" | b"dl"
        | b"hgroup" | b"search" => TextGap::Blank,
        b"div" | b"address" | b"dt" | b"dd" | b"option" | b"summary" | b"figcaption"
        | b"caption" | b"legend" | b"thead" | b"tbody" | b"tfoot" | b"optgroup" | b"center"
        | b"body" => TextGap::Line,
        b"button" | b"input" | b"select" | b"textarea" | b"label" | b"video" | b"audio"
        | b"svg" | b"text" => TextGap::Space,
        _ => TextGap::None,
    }
}

#[cfg(test)]
mod tests {
    use super::from_html;
    use reqwest::Url;
    use std::time::{Duration, Instant};

    fn text(html: &str) -> String {
        let address = Url::parse("https://example.com/docs/page?x").unwrap();
        let (text, is_cut) = from_html(html, &address, 100_000, || false);
        assert!(!is_cut);
        text
    }

    #[test]
    fn c16_html_is_told_as_text() {
        for (html, expected) in [
            ("", ""),
            ("plain", "plain"),
            (
                "a &amp; b &lt;c&gt; &eacute;&#x20AC;&nbsp;d &nonsense; &#0;",
                "a & b <c> é€ d &nonsense; \u{fffd}",
            ),
            ("<!doctype html><html><head><title> A\n b </title></head><body>c", "Title: A b\n\nc"),
            ("<p>a\n  b<p>c</p>\n<p>d", "a b\n\nc\n\nd"),
            ("<div>a</div><div>b<div>c</div></div>d", "a\nb\nc\nd"),
            ("a<br>b<br><br>c", "a\nb\n\nc"),
            ("<h1>A</h1><h3>B <em>c</em></h3>d", "# A\n\n### B c\n\nd"),
            ("<h2></h2>a", "a"),
            ("a<b>b</b> <i>c</i>d", "ab cd"),
            ("a <hr> b", "a\n\n---\n\nb"),
            ("Call <code>f(<var>x</var>)</code>, please", "Call `f(x)`, please"),
            ("<pre>\n  a\n\tb &lt;\n</pre>c", "```\n  a\n\tb <\n```\n\nc"),
            ("<p>x</p><pre><code>a\n\nb</code></pre>", "x\n\n```\na\n\nb\n```"),
            ("<pre>a", "```\na\n```"),
            ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e", "- a\n- b\n  - c\n- d\n\ne"),
            ("<ol start=3><li>a</li><li><p>b</p></li></ol>", "3. a\n4. b"),
            ("<ul><li></li><li>a</li></ul><p>b", "- a\n\nb"),
            ("<dl><dt>a<dd>b</dl>", "a\nb"),
            ("<table><tr><th>a<th>b<tr><td>1</td><td></td><td>3</table>x", "a | b\n1 |  | 3\n\nx"),
            ("<table><tr><td><p>a</p></td><td><div>b</div></td></tr></table>", "a | b"),
            ("see <a href='/x'>this</a>, ok", "see this (https://example.com/x), ok"),
            (
                "<a href=y#z>a</a> <a href='#z'>b</a> <a>c</a> <a href=/x></a>d",
                "a (https://example.com/docs/y#z) b c d",
            ),
            ("<a href='https://a.example/'>https://a.example/</a>", "https://a.example/"),
            (
                "<a href='javascript:f()'>a</a> <a href='mailto:a@b.example'>b</a>",
                "a b (mailto:a@b.example)",
            ),
            ("<base href=https://b.example/c/><a href=d>a</a>", "a (https://b.example/c/d)"),
            (
                "<a href=/1>a <a href=/2>b</a>",
                "a (https://example.com/1) b (https://example.com/2)",
            ),
            ("<a href=/1><h2>a</h2></a>b", "## a (https://example.com/1)\n\nb"),
            ("<img src=x alt='A cat'> <img alt=''><img>b", "[image: A cat] b"),
            ("a<script>if (x < 1) '<p>b</p>'</script><style>p{}</style>c", "ac"),
            ("a<!-- b <p> --><![CDATA[c]]>d", "ad"),
            ("a<template>b<template>c</template>d</template>e", "ae"),
            ("<noscript>Needs <b>JavaScript</b></noscript>", "Needs JavaScript"),
            ("<textarea><p>a</p></textarea>", "<p>a</p>"),
            ("<svg><title>b</title><text>c</text></svg>", "Title: b\n\nc"),
            ("<title>a</title><title>b</title>c", "Title: a\n\nc"),
            ("a\u{200b}b\u{202e}c\u{e0041}d\u{7}e", "abcde"),
            ("</p></a></ul></pre></template></code>a", "a"),
            ("a <b", "a"),
            ("a < b", "a < b"),
        ] {
            assert_eq!(text(html), expected, "{html}");
        }
    }

    #[test]
    fn c16_a_long_page_is_cut() {
        let address = Url::parse("https://example.com/").unwrap();
        let page = "é ".repeat(1000);
        let (text, is_cut) = from_html(&page, &address, 100, || false);
        assert!(is_cut && text.len() <= 100 && text.ends_with('é'), "{text}");
        let links = "<a href=x>y</a>".repeat(1000);
        let (text, is_cut) = from_html(&links, &address, 1000, || false);
        assert!(is_cut && text.len() <= 1000, "{text}");
        let (text, _) = from_html(&"<p>a".repeat(10_000), &address, 1 << 20, || true);
        assert!(text.len() < 2000, "it was told to stop");
    }

    /// Checks that pages that cost a reader with a tree time or stack cost this one neither.
    #[test]
    fn c16_hostile_pages_take_time_in_proportion() {
        // Of the largest page that is read, 5 MiB, a build for release takes 0.2 s at most.
        const SIZE: usize = 256 << 10;
        let filled = |piece: &str| piece.repeat(SIZE / piece.len());
        let address = Url::parse(&format!("https://example.com/{}/", "x".repeat(2000))).unwrap();
        let base = filled("<a href=b>c</a>");
        for (name, page) in [
            ("div", filled("<div>")),
            ("table", filled("<table>")),
            ("table, row, cell", filled("<table><tr><td>")),
            ("cells", filled("<td>")),
            ("lists", filled("<ul><li>")),
            ("items", filled("<ol><li>a")),
            ("formatting", filled("<b><i><a>")),
            ("pre", filled("<pre>")),
            ("templates", filled("<template>")),
            ("ends", filled("</div>")),
            ("comments", filled("<!--")),
            ("comments that almost end", format!("<!--{}", filled("--!-"))),
            ("CDATA", filled("<![CDATA[")),
            ("doctypes", filled("<!doctype a PUBLIC 'b'>")),
            ("a name", format!("<{}", filled("a"))),
            ("attributes", format!("<a {}", filled("b=c "))),
            ("one attribute", format!("<a href='{}'>b</a>", filled("c"))),
            ("quotes", filled("<a href='\"")),
            ("scripts", filled("<script><!--<script>")),
            ("open titles", filled("<title>")),
            ("entities", filled("&amp;&CounterClockwiseContourIntegral;&#x1f600;")),
            ("almost entities", filled("&CounterClockwiseContourIntegra")),
            ("numbers", format!("&#{}", filled("9"))),
            ("white space", filled(" \n\u{a0}")),
            ("less than", filled("<")),
            ("links", base),
            ("zeros", filled("\0")),
        ] {
            let begun = Instant::now();
            let (text, _) = from_html(&page, &address, 2 << 20, || false);
            let took = begun.elapsed();
            assert!(took < Duration::from_secs(5), "{name}: {took:?}");
            assert!(text.len() <= (2 << 20) + 2000, "{name}");
        }
    }
}
