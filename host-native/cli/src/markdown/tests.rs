//! Tests of Markdown on a terminal: ordinary texts, and texts that try to break it.

use super::*;
use crate::{args::ColourChoice, style::OutputStyle};
use expect_test::{Expect, expect};

/// Returns the text as it is laid out, which does not depend on the pieces in which it arrives.
fn set(text: &str, columns: usize, when: ColourChoice) -> String {
    let of = |pieces: &mut dyn Iterator<Item = &str>| {
        let mut flow = LineWrapper::new(OutputStyle::new(when), Some(columns));
        let mut markdown = Markdown::new(TextStyle::PLAIN);
        pieces.for_each(|piece| markdown.read(piece, &mut flow));
        markdown.finish(&mut flow);
        flow.take()
    };
    let whole = of(&mut std::iter::once(text));
    let chars: Vec<String> = text.chars().map(String::from).collect();
    assert_eq!(of(&mut chars.iter().map(String::as_str)), whole);
    whole
}

fn check(text: &str, columns: usize, want: &Expect) {
    want.assert_eq(&set(text, columns, ColourChoice::Never));
}

/// Returns the same with escape sequences shown as `‹1›` in place of `ESC[1m`.
fn check_colour(text: &str, columns: usize, want: &Expect) {
    let text = set(text, columns, ColourChoice::Always);
    let mut shown = String::new();
    let mut pieces = text.split("\x1b[");
    shown.extend(pieces.next());
    for piece in pieces {
        let (codes, rest) = piece.split_once('m').unwrap();
        shown.push_str(&format!("‹{codes}›{rest}"));
    }
    want.assert_eq(&shown);
}

const TEXT: &str = "\
# Title of *it*
Some **bold words** and *italic* ones, `code **x**`, a [link](https://example.com/a) and
[https://example.com](https://example.com).

- first item that is long enough to be wrapped
  - nested `item`, which is also long enough for that
* another
12. numbered item that is long enough to be wrapped

> quoted words that are long enough to be wrapped
> - item

```rust
fn main() {
    println!(\"**no** `mark` and a line that is too long\");
}
```
***
| Name | Count |
|:-----|------:|
| `a`  | 1 |
| 日本 | 1,234 |
done
";

#[test]
fn blocks_are_laid_out_and_words_wrapped() {
    check(
        TEXT,
        40,
        &expect![[r##"
        # Title of *it*
        Some **bold words** and *italic* ones,
        `code **x**`, a link
        (https://example.com/a) and
        https://example.com.

        - first item that is long enough to be
          wrapped
          - nested `item`, which is also long
            enough for that
        - another
        12. numbered item that is long enough to
            be wrapped

        │ quoted words that are long enough to
        │ be wrapped
        │ - item

          rust:
          fn main() {
              println!("**no** `mark` and a line
           that is too long");
          }
        ────────────────────────────────────────
        Name │ Count
        ─────┼──────
        `a`  │     1
        日本 │ 1,234
        done
    "##]],
    );
    check_colour(
        TEXT,
        60,
        &expect![[r#"
        ‹1›Title of ‹0›‹1;3›it‹0›
        Some ‹1›bold words‹0› and ‹3›italic‹0› ones, ‹36›code **x**‹0›, a ‹4›link‹0›
        ‹2›(https://example.com/a)‹0› and
        ‹4›https://example.com‹0›.

        - first item that is long enough to be wrapped
          - nested ‹36›item‹0›, which is also long enough for that
        - another
        12. numbered item that is long enough to be wrapped

        │ quoted words that are long enough to be wrapped
        │ - item

          ‹2›rust:‹0›
          fn main() {
              println!("**no** `mark` and a line that is too long");
          }
        ‹2›────────────────────────────────────────‹0›
        ‹1›Name‹0› │ ‹1›Count‹0›
        ─────┼──────
        ‹36›a‹0›    │     1
        日本 │ 1,234
        done
    "#]],
    );
}

#[test]
fn marks_mean_what_they_can_hardly_not_mean() {
    let text = "2 * 3 * 4, 2**8, a_b_c, **/*.rs and *.rs, src/*.rs, __init__, snake_case_, \
                \\*no\\*, a ~~gone~~ b ~ c, **重点**内容, (*x*), ***both***, ``a ` b``, [1], [x] y, \
                [a](b c), **`code`**, [*it*](u), [](u), ![alt](i.png), ****, **open";
    check_colour(
        text,
        40,
        &expect![[r#"
        2 * 3 * 4, 2**8, a_b_c, **/*.rs and
        *.rs, src/*.rs, ‹1›init‹0›, snake_case_, *no*,
        a ‹9›gone‹0› b ~ c, ‹1›重点‹0›内容, (‹3›x‹0›), ‹1;3›both‹0›, ‹36›a `‹0›
        ‹36›b‹0›, [1], [x] y, [a](b c), ‹1;36›code‹0›, ‹3;4›it‹0›‹2› (u)‹0›,
        ‹2›u‹0›, !‹4›alt‹0›‹2› (i.png)‹0›, ****, ‹1›open‹0›
    "#]],
    );
    check(
        text,
        80,
        &expect![[r#"
        2 * 3 * 4, 2**8, a_b_c, **/*.rs and *.rs, src/*.rs, __init__, snake_case_, *no*,
        a ~~gone~~ b ~ c, **重点**内容, (*x*), ***both***, ``a ` b``, [1], [x] y, [a](b
        c), **`code`**, *it* (u), u, !alt (i.png), ****, **open
    "#]],
    );
}

#[test]
fn what_is_no_block_is_text() {
    let text =
        "#no\n####### no\n1.5 is\n2026\n-x\n--\n+1\n```a``` b\n| a\n| b\n|c|\n\n| a |\n|---|\n";
    check(
        text,
        40,
        &expect![[r#"
        #no
        ####### no
        1.5 is
        2026
        -x
        --
        +1
        ```a``` b
        | a
        | b
        |c|

        a
        ─
    "#]],
    );
}

#[test]
fn the_cells_of_a_wide_table_are_wrapped() {
    let text = "| Option | What it does | n |\n|---|:-:|--:|\n\
                | `--apply` | writes the *changes* to the folder at the end | 1 |\n\
                | `--very-long-name-of-one` | shows | 22 |\n| | |\n";
    check(
        text,
        40,
        &expect![[r#"
        Option           │   What it does   │  n
        ─────────────────┼──────────────────┼───
        `--apply`        │    writes the    │  1
                         │ *changes* to the │
                         │  folder at the   │
                         │       end        │
        `--very-long-nam │      shows       │ 22
        e-of-one`        │                  │
                         │                  │
    "#]],
    );
    check_colour(
        text,
        40,
        &expect![[r#"
        ‹1›Option‹0›           │   ‹1›What it does‹0›   │  ‹1›n‹0›
        ─────────────────┼──────────────────┼───
        ‹36›--apply‹0›          │    writes the    │  1
                         │  ‹3›changes‹0› to the  │
                         │  folder at the   │
                         │       end        │
        ‹36›--very-long-name‹0› │      shows       │ 22
        ‹36›-of-one‹0›          │                  │
                         │                  │
    "#]],
    );
}

#[test]
fn lists_stand_in_lists_as_deep_as_there_is_room() {
    let text = "1. one\n   - two is long enough to be wrapped\n     1) three\n        * four `x`\n\
                \n          and more of four that is long enough\n   - again\n2. last\n";
    check(
        text,
        30,
        &expect![[r#"
        1. one
           - two is long enough to be
             wrapped
             1) three
                - four `x`

                  and more of four
                  that is long enough
           - again
        2. last
    "#]],
    );
}

#[test]
fn a_fence_that_is_cut_at_its_end_is_code() {
    check(
        "a\n```ru",
        40,
        &expect![[r#"
        a
          ru:
    "#]],
    );
    check(
        "a\n```\nlet x = 1;\n``",
        40,
        &expect![[r#"
            a
              let x = 1;
              ``
        "#]],
    );
    check(
        "a\n```\nlet x = 1;\n```",
        40,
        &expect![[r#"
            a
              let x = 1;
        "#]],
    );
    check(
        "- ~~~\n  x",
        40,
        &expect![[r#"
            -
                x
        "#]],
    );
}

/// Tests that text without spaces is broken at the edge in every kind of block.
#[test]
fn a_very_long_line_is_broken_at_the_edge() {
    let long = "x".repeat(1_000);
    let fits = |text: &str| {
        let set = set(text, 40, ColourChoice::Never);
        assert!(set.lines().all(|line| columns_in(line) <= 40), "{set}");
        assert!(set.lines().count() >= 25, "{set}");
    };
    fits(&long);
    fits(&format!("> - {long}"));
    fits(&format!("```\n{long}\n```"));
    fits(&format!("[{long}](https://example.com/{long})"));
    fits(&format!("| a |\n|---|\n| {long} |\n"));
    fits(&format!("# {}", "漢".repeat(500)));
}

#[test]
fn a_table_that_does_not_fit_comes_as_it_is() {
    let text = "> | a long head | another | one | two |\n> |---|---|---|---|\n\
                > | a long text | | and a very | long one |\n";
    check(
        text,
        30,
        &expect![[r#"
            │ | a long head | another |
            │   one | two |
            │ |---|---|---|---|
            │ | a long text | | and a very
            │   | long one |
        "#]],
    );
    check(
        text,
        60,
        &expect![[r#"
            │ a long head │ another │ one        │ two
            │ ────────────┼─────────┼────────────┼─────────
            │ a long text │         │ and a very │ long one
        "#]],
    );
    let text = "- | a | b |\n  |---|---|\n  | 1 | 2 |\n\n| c |\n> |---|\n";
    check(
        text,
        30,
        &expect![[r#"
        - a │ b
          ──┼──
          1 │ 2

        | c |
        │ |---|
    "#]],
    );
}

#[test]
fn code_keeps_its_lines() {
    let text = "- item:\n  ~~~\n  a\n    b\n\n  ```\n  ~~~\n- next\n\
                > ```\n> quoted\n>\n> ```\n> on\n```\nopen";
    check(
        text,
        40,
        &expect![[r#"
        - item:
            a
              b

            ```
        - next
        │   quoted
        │
        │ on
          open
    "#]],
    );
}

#[test]
fn a_mark_is_shown_as_soon_as_it_is_known() {
    let mut flow = LineWrapper::new(OutputStyle::new(ColourChoice::Never), Some(80));
    let mut markdown = Markdown::new(TextStyle::PLAIN);
    let mut read = |text: &str| {
        markdown.read(text, &mut flow);
        flow.take()
    };
    let seen = ["- ", "one ", "two ", "**th", "ree** ", "[x", "] ", "y ", "z"].map(&mut read);
    assert_eq!(seen.concat(), "- one two **three** [x] y");
    assert_eq!(seen[1], "- one", "no more than a word is held back");
}

#[test]
fn what_was_cut_off_leaves_nothing_behind() {
    for cut in ["**bold", "```rust\nfn", "| a |\n|---|", "> - x", "[a](b", "# ", "`"] {
        let mut flow = LineWrapper::new(OutputStyle::new(ColourChoice::Always), Some(80));
        let mut markdown = Markdown::new(TextStyle::PLAIN);
        markdown.read(cut, &mut flow);
        markdown.discard();
        flow.end_line();
        drop(flow.take());
        markdown.read("plain *x*", &mut flow);
        markdown.finish(&mut flow);
        assert_eq!(flow.take(), "plain \x1b[3mx\x1b[0m\n", "behind {cut:?}");
    }
}

/// Tests that for any text the work is linear, little is held back, and nothing is lost.
#[test]
fn hostile_text_costs_what_it_is_long() {
    const LENGTH: usize = 60_000;
    let units = [
        "*",
        "_",
        "`",
        "~",
        "[",
        "]",
        "](",
        "[a](",
        "[a]",
        "(",
        "\\",
        "#",
        "# ",
        ">",
        "> ",
        "- ",
        "1. ",
        "|",
        "|\n",
        "|-|\n",
        "| a |\n|---|\n",
        "```\n",
        "~~~",
        "-",
        " ",
        "\t",
        "\n",
        "* *\n",
        "**a",
        "a*",
        "x",
        "é\u{301}",
        "漢",
        "a ",
        "[`*_",
        "<",
        "- > ",
        "\n> ```\n",
        "| a",
        "``` `",
    ];
    for unit in units {
        let text: String = unit.chars().cycle().take(LENGTH).collect();
        for when in [ColourChoice::Never, ColourChoice::Always] {
            let mut flow = LineWrapper::new(OutputStyle::new(when), Some(40));
            let mut markdown = Markdown::new(TextStyle::PLAIN);
            let mut out = String::new();
            let mut buffer = [0; 4];
            for c in text.chars() {
                markdown.read(c.encode_utf8(&mut buffer), &mut flow);
                out.push_str(&flow.take());
                let held = markdown.held();
                assert!(held <= table::HELD + 2 * HELD + 2_300, "{unit:?}: {held}");
            }
            markdown.finish(&mut flow);
            out.push_str(&flow.take());
            let steps = markdown.inline.steps;
            assert!(steps <= 4 * LENGTH, "{unit:?}: {steps} steps");
            assert!(out.len() <= 24 * LENGTH, "{unit:?}: {} bytes", out.len());
            // Marks may be consumed and blanks laid out; everything else must be there.
            let rest = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
            let (given, kept) = (rest(&text), rest(&uncoloured(&out)));
            assert_eq!(kept, given, "{unit:?}");
        }
    }
}

fn uncoloured(text: &str) -> String {
    let mut pieces = text.split("\x1b[");
    let first = pieces.next().unwrap_or_default().to_owned();
    first + &pieces.filter_map(|piece| Some(piece.split_once('m')?.1)).collect::<String>()
}
