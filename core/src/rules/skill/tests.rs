//! What the files of skills say, which of a workspace's files are some, and what an input selects.

use super::{selection::selected, *};
use alloc::{vec, vec::Vec};
use innerloop_types::skills::SkillUse;

fn read(head: &str) -> SkillFacts {
    let text = format!("---\nname: pdf\n{head}\n---\n\nDo this.\n---\nAnd that.\n");
    read_skill(".agents/skills/pdf/SKILL.md", &text).unwrap()
}

#[test]
fn n3_descriptions_come_in_all_forms_of_yaml_that_people_write() {
    for (head, want) in [
        ("description: Reads PDFs. Use when: a file ends with .pdf", None),
        ("description: \"Reads \\\"PDFs\\\": all\"", Some("Reads \"PDFs\": all")),
        ("description: 'It''s # one' # a comment", Some("It's # one")),
        ("description: plain # a comment", Some("plain")),
        ("description: >-\n  Reads: 'a' # b\n  PDFs\n\n  whole", Some("Reads: 'a' # b PDFs whole")),
        ("description: |\n  Reads\n   PDFs", Some("Reads PDFs")),
        ("description: over\n  two lines", Some("over two lines")),
        ("description:\n  below: with a colon\nlicense: MIT", None),
        ("description: \"no end", Some("\"no end")),
        ("# a comment\n\ndescription: \ttabs\t", Some("tabs")),
        ("description: C:\\x and http://y", Some("C:\\x and http://y")),
    ] {
        let text = format!("---\r\nname: pdf\r\n{head}\n---\nBody");
        let found = read_skill("a/pdf/SKILL.md", &text).map(|skill| skill.description);
        let repaired =
            head.split_once(": ").map(|(_, text)| text.into()).filter(|_| want.is_none());
        if head.contains("below") {
            assert!(found.is_err(), "a map is no text");
            continue;
        }
        assert_eq!(found.ok(), want.map(String::from).or(repaired), "{head}");
    }
}

#[test]
fn n3_metadata_holds_what_selection_needs_and_the_rest_is_the_body() {
    let skill = read(
        "description: Reads\nmetadata:\n  keywords: \"pdf, form fields\"\n  tags: paper\n  \
         exclude: image,\n  max-tokens: 900\n  author: me\nallowed-tools:\n- Bash(a:*)\n- Read",
    );
    assert_eq!(skill.body.as_deref(), Some("Do this.\n---\nAnd that."));
    assert_eq!(skill.keywords, ["pdf", "form fields"]);
    assert_eq!((skill.tags, skill.exclude), (vec!["paper".into()], vec!["image".into()]));
    assert_eq!(skill.max_tokens, 900);
}

#[test]
fn n3_what_is_no_skill_says_why() {
    let mut set = SkillSet::default();
    let good = "---\nname: a\ndescription: b\n---\n";
    set.add("1/a/SKILL.md", good);
    for text in ["# None", "---\nname: a\n", "---\nname: b\n---\n", "---\ndescription: b\n---\n"] {
        set.add("2/b/SKILL.md", text);
    }
    set.add("3/a/SKILL.md", good);
    assert_eq!(set.skills.len(), 1);
    let whys = ["front matter", "front matter", "no description", "no name", "another skill"];
    for (warning, why) in set.warnings.iter().zip(whys) {
        assert!(warning.contains(why), "{warning}");
    }
    assert_eq!(set.warnings.len(), whys.len());
}

#[test]
fn n3_skills_are_found_by_their_places() {
    let deep = |depth: usize| format!(".agents/skills/{}SKILL.md", "x/".repeat(depth));
    let (near, far) = (deep(MAX_SKILL_DEPTH), deep(MAX_SKILL_DEPTH + 1));
    let paths = [
        ".claude/skills/b/SKILL.md",
        ".agents/skills/SKILL.md",
        ".agents/skills/a/SKILL.md",
        ".agents/skills/a/README.md",
        ".agents/skills/a/OTHER-SKILL.md",
        ".agents/skills/a\nb/SKILL.md",
        "web/.agents/skills/c/SKILL.md",
        &near,
        &far,
    ];
    let found = skill_files(&paths);
    assert_eq!(found, [".agents/skills/a/SKILL.md", &near, ".claude/skills/b/SKILL.md"]);
}

fn skill(name: &str, keywords: &[&str]) -> SkillFacts {
    SkillFacts {
        name: name.into(),
        description: "Fill in the forms of a document".into(),
        keywords: keywords.iter().map(|word| String::from(*word)).collect(),
        body: Some("x".repeat(4_000)),
        ..SkillFacts::default()
    }
}

fn names(text: &str, skills: &[SkillFacts], how: SkillUse) -> Vec<String> {
    selected(text, skills, how).into_iter().map(|skill| skill.name.clone()).collect()
}

#[test]
fn j18_words_select_skills_and_equal_inputs_the_same() {
    let mut veto = skill("veto", &["pdf"]);
    veto.exclude = vec!["Draft".into()];
    let mut tagged = skill("tagged", &[]);
    tagged.tags = ["paper", "ink", "print", "press"].map(String::from).to_vec();
    let skills =
        [skill("b", &["pdf"]), skill("a", &["pdf"]), skill("form-filler", &[]), veto, tagged];
    let names = |text: &str| names(text, &skills, SkillUse::Selected);
    assert_eq!(names("Make a PDF."), ["a", "b", "veto"]);
    assert_eq!(names("Make a pdf draft"), ["a", "b"], "an exclusion vetoes");
    assert_eq!(names("Open pdfs"), [""; 0], "half a word is 5 points");
    assert_eq!(names("paper, ink, print"), [""; 0], "three tags are 9 points");
    assert_eq!(names("paper, ink, print and press"), ["tagged"]);
    assert_eq!(names("the form filler"), [""; 0], "a name alone is 8 points");
    assert_eq!(names("the form filler fills the forms of it"), ["form-filler"]);
    assert_eq!(names("Make a PDF. Make a PDF."), ["a", "b", "veto"]);
}

#[test]
fn j18_a_name_forces_and_limits_hold() {
    let mut big = skill("big", &["pdf", "page", "form"]);
    big.max_tokens = 3_500;
    let skills = [skill("a", &["pdf"]), big, skill("c", &["pdf"]), skill("d", &["pdf"])];
    // The best first, and then only what still fits into 4,000 tokens.
    assert_eq!(names("pdf page form", &skills, SkillUse::Selected), ["big"]);
    assert_eq!(names("pdf", &skills, SkillUse::Selected), ["a", "c"], "the first three count");
    for text in ["/d do it", "do it by $d.", "first\n$D"] {
        assert_eq!(names(text, &skills, SkillUse::Catalogue), ["d"], "{text}");
        assert_eq!(names(text, &skills, SkillUse::Off), [""; 0]);
    }
    for text in ["d", "/d/x", "a/d", "$dd", "x$d"] {
        assert_eq!(names(text, &skills, SkillUse::Catalogue), [""; 0], "{text}");
    }
}
