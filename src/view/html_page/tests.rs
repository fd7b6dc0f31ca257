//! Whatever its content, a page runs and loads nothing, and stays short.

use super::*;
use cook_protocol::model::{SchemaVersion, SliceStatus};
use std::time::{Duration, Instant};

/// Text with which somebody might try to do something in a browser.
const HOSTILE: &str = "<script>alert(1)</script></style></title><img src=x onerror=alert(1)> \
    \" onload=\"x ' javascript:alert(1) \u{202e}\u{1b}[2J &lt; ]]> <!-- <svg onload=x>";

/// The limits of a report's tables.
const ROOMS: [usize; 10] = [
    40_000, 250_000, 80_000, 110_000, 50_000, 60_000, 20_000, 20_000, 240_000, 20_000,
];

/// Makes a page in which every text is `word`, with so many slices, and so many rows in each table.
fn fill(word: &str, slices: usize, rows: usize) -> String {
    let texts = vec![word.to_owned(); rows];
    let mut parts: Vec<Part> = Vec::new();
    for room in ROOMS {
        let table = Table {
            caption: "A table",
            heads: &["What", "Where", "Why"],
            room,
            rest: "the rest",
        };
        let table = table.of(&texts, |text| {
            html! { td { (line(text)) } td { (sign(text)) } td { (list(&texts[..rows.min(30)])) } }
        });
        parts.push(("criteria", "A part", table));
    }
    let id = |number: usize| format!("s{number} {word}");
    let plan = Plan {
        schema_version: SchemaVersion,
        mission_anchor: String::new(),
        last_reground_at: None,
        plan_basis: String::new(),
        candidate_slices: (0..slices)
            .map(|number| Slice {
                slice_id: id(number),
                status: SliceStatus::Done,
                blocked_on: number.checked_sub(1).map(id).into_iter().collect(),
                ..Slice::default()
            })
            .map(Into::into)
            .collect(),
    };
    parts.push(("graph", "The plan", draw_plan(&plan)));
    write_page(&HtmlPage {
        word: "NOT DONE",
        is_good: false,
        verdict: word,
        against: vec![word; 5],
        figures: vec![("bad", "2 of 3".to_owned(), "votes")],
        mission: word,
        parts,
        made_at: "2026-01-01T00:00:00Z".to_owned(),
        source: word.to_owned(),
    })
}

/// The tags of a page with their attributes; text between two tags contains no `<`.
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

/// Allowed tags: none of them loads or runs anything.
const TAGS: [&str; 48] = [
    "!DOCTYPE", "html", "head", "meta", "title", "style", "body", "a", "header", "h1", "h2", "h3",
    "p", "ul", "li", "b", "s", "main", "section", "nav", "div", "bdi", "code", "table", "caption",
    "thead", "tbody", "tr", "th", "td", "svg", "defs", "marker", "path", "g", "rect", "text",
    "footer", "time", "span", "link", "dl", "dt", "dd", "em", "strong", "br", "hr",
];

/// Allowed attributes: none of them loads or runs anything, or leads outside the page.
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

/// Checks that the page contains only allowed tags and attributes.
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
        .filter(|c| cook_protocol::model::is_hidden(*c))
        .collect();
    assert!(hidden.is_empty(), "{hidden:?}");
}

#[test]
fn words_that_want_to_do_something_are_only_shown() {
    let told = fill(HOSTILE, 3, 20);
    is_harmless(&told);
    assert!(told.contains("⟨U+202E⟩⟨U+001B⟩[2J"), "{told}");
    assert!(
        told.contains("&lt;script&gt;alert(1)&lt;/script&gt;"),
        "{told}"
    );
    // The check itself finds bad tags and attributes.
    let bad = told.replacen("<main>", "<main><script>", 1);
    assert!(std::panic::catch_unwind(|| is_harmless(&bad)).is_err());
    let bad = told.replacen("<main>", "<p onclick=\"x\"><main>", 1);
    assert!(std::panic::catch_unwind(|| is_harmless(&bad)).is_err());
    let bad = told.replacen("href=\"#", "href=\"https://x", 1);
    assert!(std::panic::catch_unwind(|| is_harmless(&bad)).is_err());
}

#[test]
fn the_policy_lets_nothing_in_but_the_style_that_stands_there() {
    let told = fill("plain", 2, 5);
    let style = told
        .split("<style>")
        .nth(1)
        .and_then(|it| it.split("</style>").next());
    let digest = STANDARD.encode(Sha256::digest(style.expect("a style")));
    assert!(
        told.contains(&format!(
            "content=\"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'\""
        )),
        "{}",
        &told[..600]
    );
}

#[test]
fn a_long_page_is_short_and_soon_there() {
    let usual = "a goal of some words, as people and agents write them down";
    let began = Instant::now();
    let told = fill(usual, 50, 1000);
    assert!(told.len() <= LONGEST, "{}", told.len());
    let worst = fill(&HOSTILE.repeat(100), 200, 1000);
    assert!(worst.len() <= LONGEST, "{}", worst.len());
    is_harmless(&worst);
    for said in ["rows are not shown here", "are not drawn", "cut here"] {
        assert!(worst.contains(said), "{said}");
    }
    let huge = fill(&"w".repeat(1 << 20), 2, 2);
    assert!(huge.len() <= LONGEST, "{}", huge.len());
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "{:?}",
        began.elapsed()
    );
    assert!(told.contains("<title>NOT DONE: a goal"), "{}", &told[..600]);
}

#[test]
fn what_nobody_would_see_is_written_out() {
    let text = "a\u{202e}b\u{1b}[2Jc\u{200b}d\r\ne";
    assert_eq!(show(text, 100, false), "a⟨U+202E⟩b⟨U+001B⟩[2Jc⟨U+200B⟩d e");
    assert_eq!(show("a\nb", 100, true), "a\nb");
}

#[test]
fn a_long_text_is_cut_and_says_so() {
    let long = "é".repeat(1 << 20);
    let cut = show(&long, 10, false);
    assert_eq!(
        cut,
        format!("{}… (cut here: 2097132 more bytes)", "é".repeat(10))
    );
    assert_eq!(show("0123456789", 10, false), "0123456789");
}

#[test]
fn no_word_is_more_than_a_word() {
    let hostile = "</style><script>alert(1)</script>\"'&";
    let told = line(hostile).into_string();
    assert!(told.contains("&lt;/style&gt;&lt;script&gt;"), "{told}");
    assert!(!told.contains("<script"), "{told}");
}
