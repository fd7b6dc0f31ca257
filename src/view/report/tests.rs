//! What a page is whatever stands in it: nothing of it runs or loads, and it stays short.

use super::*;
use crate::verify::{Answered, Criterion, Outcome, ProofVerdict};
use crate::view::{
    CostAnswer, CostRow, Edge, GraphAnswer, GraphForm, Node, VerifyAnswer,
};
use cook_core::diagnostic::{Code, Finding};
use cook_core::model::SliceStatus;
use std::time::{Duration, Instant};

/// What somebody might write into a name, to do something in a browser.
const HOSTILE: &str = "<script>alert(1)</script></style></title><img src=x onerror=alert(1)> \
    \" onload=\"x ' javascript:alert(1) \u{202e}\u{1b}[2J &lt; ]]> <!-- <svg onload=x>";

/// Every field of it is that word; so many of each.
fn fill_report(word: &str, slices: usize, transitions: usize) -> Report {
    let text = || word.to_owned();
    let id = |number: usize| format!("s{number} {word}");
    Report {
        mission: text(),
        source: text(),
        branch: Some(text()),
        made_at: "2026-01-01T00:00:00Z".to_owned(),
        verified: VerifyAnswer {
            scope: "all",
            question: Some(Answered {
                question: text(),
                outcome: Outcome::default(),
                answer: text(),
                has_log: true,
                commit: None,
                base: None,
                criteria: (0..slices * 5)
                    .map(|number| Criterion {
                        slice: id(number / 5),
                        text: text(),
                        anchor: Some(text()),
                        verdict: ProofVerdict::Holds,
                        why: text(),
                        at: Some(text()),
                    })
                    .collect(),
            }),
            strict: false,
            checked: vec![text(); 30],
            findings: vec![Finding::new(Code::NotDone, text()).at(text()); 20],
        },
        required_votes: 3,
        slices: (0..slices)
            .map(|number| SliceStory {
                id: id(number),
                goal: text(),
                status: SliceStatus::Done,
                waits_for: vec![text()],
                head: Some(text()),
                attempts: 1,
                events: (0..transitions / slices.max(1))
                    .map(|seq| SliceEvent {
                        seq: seq as u64,
                        what: "a commit was reported",
                        good: None,
                        says: vec![text(); 3],
                    })
                    .collect(),
            })
            .collect(),
        open: vec![OpenCriterion {
            slice: text(),
            text: text(),
            anchor: Some(text()),
        }],
        judges: vec!["reviewer: 1 of 1 yes; uncalibrated".to_owned()],
        judgments: (0..transitions / 10)
            .map(|seq| Judgment {
                seq: seq as u64,
                session: Some(text()),
                yes: true,
                counts: true,
                reasons: vec![text(); 3],
                concerns: vec![text()],
            })
            .collect(),
        caught: (0..transitions / 10)
            .map(|seq| Catch {
                seq: seq as u64,
                subject: text(),
                what: "a review said no",
                names: text(),
            })
            .collect(),
        unheeded: Some(text()),
        kept: Some(vec![Kept {
            id: text(),
            time: text(),
            why: text(),
            files: vec![text(); 50],
        }]),
        cost: Some(CostAnswer::of(vec![CostRow::new(word, word)])),
        timeline: (0..transitions)
            .map(|seq| Moment {
                seq: seq as u64,
                time: "2026-01-01T00:00:00Z".to_owned(),
                epoch_seconds: seq as i64,
                event: text(),
                actor: text(),
                rule: text(),
                subject: text(),
                undone: seq % 7 == 0,
            })
            .collect(),
        graph: GraphAnswer {
            nodes: (0..slices)
                .map(|number| Node {
                    slice_id: id(number),
                    goal: text(),
                    status: SliceStatus::Done,
                })
                .collect(),
            edges: (1..slices)
                .map(|number| Edge {
                    from: id(number - 1),
                    to: id(number),
                })
                .collect(),
            form: GraphForm::Drawn,
        },
    }
}

/// The tags of a page with what stands in them; text between two tags holds no `<`.
fn tags(page: &str) -> Vec<&str> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let end = rest[at..].find('>').map(|end| at + end);
        let end = end.unwrap_or_else(|| panic!("a tag without an end: {}", &rest[at..]));
        tags.push(&rest[at + 1..end]);
        rest = &rest[end + 1..];
    }
    tags
}

/// Tags that a page is made of: none of them loads or runs anything.
const TAGS: [&str; 48] = [
    "!DOCTYPE", "html", "head", "meta", "title", "style", "body", "a", "header", "h1", "h2", "h3",
    "p", "ul", "li", "b", "s", "main", "section", "nav", "div", "bdi", "code", "table", "caption",
    "thead", "tbody", "tr", "th", "td", "svg", "defs", "marker", "path", "g", "rect", "text",
    "footer", "time", "span", "link", "dl", "dt", "dd", "em", "strong", "br", "hr",
];

/// Attributes of those tags, none of which loads, runs or leads anywhere but into the page.
const ATTRIBUTES: [&str; 34] = [
    "lang",
    "charset",
    "http-equiv",
    "content",
    "name",
    "class",
    "href",
    "aria-labelledby",
    "aria-label",
    "id",
    "datetime",
    "dir",
    "tabindex",
    "role",
    "scope",
    "viewBox",
    "width",
    "height",
    "refX",
    "refY",
    "markerWidth",
    "markerHeight",
    "orient",
    "d",
    "marker-end",
    "x",
    "y",
    "rx",
    "colspan",
    "rowspan",
    "lang",
    "title",
    "aria-hidden",
    "type",
];

/// Nothing of the page but its own words, tags and attributes.
#[track_caller]
fn is_harmless(page: &str) {
    for tag in tags(page) {
        let name = tag.trim_start_matches('/');
        let name = name.split([' ', '/']).next().unwrap_or_default();
        assert!(TAGS.contains(&name), "<{tag}>");
        let mut rest = &tag[tag.find(' ').unwrap_or(tag.len())..];
        while let Some(at) = rest.find("=\"") {
            let key = rest[..at].trim();
            assert!(ATTRIBUTES.contains(&key), "{key:?} in <{tag}>");
            let end = at + 2 + rest[at + 2..].find('"').expect("an end of the value");
            let value = &rest[at + 2..end];
            if key == "href" {
                assert!(value.starts_with('#'), "<{tag}>");
            }
            rest = &rest[end + 1..];
        }
    }
    let visible = page.chars().filter(|c| *c != '\n');
    let hidden: Vec<char> = visible
        .filter(|c| cook_core::model::is_hidden(*c))
        .collect();
    assert!(hidden.is_empty(), "{hidden:?}");
}

#[test]
fn words_that_want_to_do_something_are_only_shown() {
    let told = page(&fill_report(HOSTILE, 3, 20));
    is_harmless(&told);
    assert!(told.contains("⟨U+202E⟩⟨U+001B⟩[2J"), "{told}");
    assert!(
        told.contains("&lt;script&gt;alert(1)&lt;/script&gt;"),
        "{told}"
    );
    // The check itself sees what it looks for.
    let bad = told.replacen("<main>", "<main><script>", 1);
    assert!(std::panic::catch_unwind(|| is_harmless(&bad)).is_err());
    let bad = told.replacen("<main>", "<p onclick=\"x\"><main>", 1);
    assert!(std::panic::catch_unwind(|| is_harmless(&bad)).is_err());
    let bad = told.replacen("href=\"#", "href=\"https://x", 1);
    assert!(std::panic::catch_unwind(|| is_harmless(&bad)).is_err());
}

#[test]
fn the_policy_lets_nothing_in_but_the_style_that_stands_there() {
    let told = page(&fill_report("plain", 2, 5));
    let style = told
        .split("<style>")
        .nth(1)
        .and_then(|it| it.split("</style>").next());
    let digest = base64(&Sha256::digest(style.expect("a style")));
    assert!(
        told.contains(&format!(
            "content=\"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'\""
        )),
        "{}",
        &told[..600]
    );
    assert_eq!(base64(b"any carnal pleas"), "YW55IGNhcm5hbCBwbGVhcw==");
    assert_eq!(base64(b"any carnal pleasu"), "YW55IGNhcm5hbCBwbGVhc3U=");
}

#[test]
fn the_page_of_a_long_log_is_short_and_soon_there() {
    let usual = "a goal of some words, as people and agents write them down";
    let began = Instant::now();
    let told = page(&fill_report(usual, 50, 1000));
    assert!(told.len() <= LONGEST, "{}", told.len());
    let worst = page(&fill_report(&HOSTILE.repeat(100), 200, 10_000));
    assert!(worst.len() <= LONGEST, "{}", worst.len());
    is_harmless(&worst);
    for said in ["rows are not shown here", "are not drawn", "cut here"] {
        assert!(worst.contains(said), "{said}");
    }
    let huge = page(&fill_report(&"w".repeat(1 << 20), 2, 2));
    assert!(huge.len() <= LONGEST, "{}", huge.len());
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn the_first_word_is_the_verdict() {
    let mut report = fill_report("x", 1, 1);
    assert_eq!(Standing::of(&report), Standing::NotDone);
    let told = page(&report);
    let first = told.find("<h1>").expect("a heading");
    assert!(told[first..].starts_with("<h1>NOT DONE</h1>"));
    report.verified.findings = vec![Finding::new(Code::CriterionDiffers, "x")];
    assert_eq!(Standing::of(&report), Standing::NotProven);
    report.verified.findings.clear();
    assert_eq!(Standing::of(&report), Standing::Proven);
    assert!(page(&report).contains("<title>DONE AND PROVEN: x</title>"));
}
