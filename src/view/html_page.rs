//! A self-contained HTML page: its frame, its tables and the graph of a plan. Text of others is escaped by `maud`,
//! shortened, and shown with its hidden characters visible.
//!
//! Invariants: the page loads and runs nothing (its own policy forbids it), and each text from a log or a file passes
//! through [`line`], [`sign`], [`list`] or [`block`]. Each table has a limit in bytes, so that even the page of the
//! longest log stays below [`LONGEST`].

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cook_protocol::diagnostic::{count_noun, shorten, without_tokens};
use cook_protocol::model::{Plan, Slice, is_hidden};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The maximum size of a page in bytes.
#[cfg(test)]
const LONGEST: usize = 1 << 20;

const STYLE: &str = include_str!("html_page/style.css");

/// A part of the page: its anchor, heading and content.
pub(crate) type Part = (&'static str, &'static str, Markup);

/// The content of a page; texts are as in the log.
pub(crate) struct HtmlPage<'a> {
    /// The first word of the page.
    pub word: &'static str,
    pub is_good: bool,
    /// The question and its answer.
    pub verdict: &'a str,
    /// The findings that fail the work, worst first.
    pub against: Vec<&'a str>,
    /// The CSS class, the number, and the text for what it counts.
    pub figures: Vec<(&'static str, String, &'static str)>,
    pub mission: &'a str,
    pub parts: Vec<Part>,
    /// When the page was made, in the form of RFC 3339.
    pub made_at: String,
    /// The log and its commit.
    pub source: String,
}

/// Allows nothing but this page's own style, which is identified by its digest.
fn policy() -> String {
    let digest = STANDARD.encode(Sha256::digest(STYLE));
    format!("default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'")
}

/// The verdict, the question, and the worst findings.
fn banner(page: &HtmlPage) -> Markup {
    let class = if page.is_good { "good" } else { "bad" };
    let against = &page.against;
    html! {
        header class=(class) {
            h1 { (page.word) }
            p { (line(page.verdict)) }
            @for message in against.iter().take(3) { p { "✗ " (line(message)) } }
            @if against.len() > 3 {
                p { a href="#findings" { (count_noun(against.len() as u64 - 3, "finding")) " more" } " against it" }
            }
        }
    }
}

/// Writes the whole page.
pub(crate) fn write_page(page: &HtmlPage) -> String {
    let text = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (page.word) ": " (shorten(&show(page.mission, 80, false).replace('`', ""), 80)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#criteria" { "To the criteria" }
                (banner(page))
                main {
                    ul.figures {
                        @for (class, figure, what) in &page.figures { li class=(class) { b { (figure) } (what) } }
                    }
                    section aria-labelledby="mission" {
                        h2 id="mission" { "Mission" }
                        (block(page.mission))
                    }
                    nav aria-label="Parts of this page" {
                        ul { @for (id, heading, _) in &page.parts { li { a href={ "#" (id) } { (heading) } } } }
                    }
                    @for (id, heading, markup) in &page.parts {
                        section aria-labelledby=(id) {
                            h2 id=(id) { (heading) }
                            (markup)
                        }
                    }
                }
                footer {
                    p { "Made " time datetime=(page.made_at) { (page.made_at) } " by cook " (env!("CARGO_PKG_VERSION"))
                        " from " (line(&page.source)) ". A page is no proof: make it again in a clone with "
                        code { "cook verify --from origin --rerun --trust-repo" } "." }
                }
            }
        }
    };
    text.into_string()
}

/// The bytes around the cells of a row.
const AROUND: usize = "<tr></tr>\n".len();

/// A table with a limited number of bytes.
pub(crate) struct Table {
    pub caption: &'static str,
    pub heads: &'static [&'static str],
    /// The maximum size of its rows in bytes.
    pub room: usize,
    /// The text that names the command for the other rows.
    pub rest: &'static str,
}

impl Table {
    /// Makes the table; `row` makes the cells of an item.
    pub fn of<T>(&self, items: &[T], row: impl Fn(&T) -> Markup) -> Markup {
        let mut rows = String::new();
        let mut told = 0;
        for item in items {
            let PreEscaped(cells) = row(item);
            if rows.len() + cells.len() + AROUND > self.room {
                break;
            }
            rows.push_str("<tr>");
            rows.push_str(&cells);
            rows.push_str("</tr>\n");
            told += 1;
        }
        let left = items.len() - told;
        html! {
            div.scroll tabindex="0" role="region" aria-label=(self.caption) {
                table {
                    caption { (self.caption) }
                    thead { tr { @for head in self.heads { th scope="col" { (head) } } } }
                    tbody { (PreEscaped(rows)) }
                }
            }
            @if left > 0 {
                p.more { (left) " of " (items.len()) " rows are not shown here: " (self.rest) }
            }
        }
    }
}

/// The maximum length of a text in a row in characters.
const LINE: usize = 600;
/// The maximum length of a text that stands alone in characters.
const BLOCK: usize = 6000;

/// Text in a row. Text in backquotes becomes code, unless a backquote is not closed.
pub(crate) fn line(text: &str) -> Markup {
    html! { bdi { (mark_code(&show(text, LINE, false))) } }
}

fn mark_code(shown: &str) -> Markup {
    let parts: Vec<&str> = shown.split('`').collect();
    let is_closed = parts.len() % 2 == 1;
    html! {
        @for (at, part) in parts.iter().enumerate().filter(|(_, part)| is_closed && !part.is_empty()) {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
        @if !is_closed { (shown) }
    }
}

/// Text in a row that is read character by character: anchors, commits, commands.
pub(crate) fn sign(text: &str) -> Markup {
    html! { code { bdi { (show(text, LINE, false)) } } }
}

/// Text with several lines.
fn block(text: &str) -> Markup {
    html! { div.words dir="auto" { (mark_code(&show(text, BLOCK, true))) } }
}

pub(crate) fn list(texts: &[String]) -> Markup {
    let texts = texts.iter().filter(|text| !text.trim().is_empty());
    let texts: Vec<&String> = texts.collect();
    html! {
        @match texts.as_slice() {
            [] => {}
            [only] => { (line(only)) }
            several => { ul { @for text in several.iter().take(MOST) { li { (line(text)) } } } }
        }
        @if texts.len() > MOST { p.more { (texts.len() - MOST) " more not shown here." } }
    }
}

/// The maximum number of texts in a list.
const MOST: usize = 20;

/// Makes hidden characters visible, redacts secrets, and shortens the text.
fn show(text: &str, longest: usize, keeps_lines: bool) -> String {
    // Cuts first, so that a text of a megabyte costs no more than a short one.
    let (text, more) = split(text, longest.saturating_mul(2));
    let text = without_tokens(text);
    let (text, cut) = split(&text, longest);
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\r' => {}
            '\n' | '\u{2028}' | '\u{2029}' if keeps_lines => shown.push('\n'),
            '\n' | '\t' | '\u{2028}' | '\u{2029}' => shown.push(' '),
            c if is_hidden(c) => shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
            c => shown.push(c),
        }
    }
    match more + cut {
        0 => {}
        left => shown.push_str(&format!("… (cut here: {left} more bytes)")),
    }
    shown
}

/// The first `longest` characters, and the number of bytes after them.
fn split(text: &str, longest: usize) -> (&str, usize) {
    match text.char_indices().nth(longest) {
        None => (text, 0),
        Some((end, _)) => (&text[..end], text.len() - end),
    }
}

/// How many slices are drawn.
const MOST_SLICES: usize = 120;
/// How many arrows are drawn.
const MOST_EDGES: usize = 300;
/// The size of a box, and the gaps between boxes.
const WIDTH: usize = 196;
const HEIGHT: usize = 46;
const GAP: (usize, usize) = (54, 16);
/// How many letters fit in a box.
const LETTERS: usize = 24;

/// A slice and its position.
struct Placed<'a> {
    slice: &'a Slice,
    x: usize,
    y: usize,
}

/// Draws the plan, and says what the drawing leaves out.
pub(crate) fn draw_plan(plan: &Plan) -> Markup {
    if plan.candidate_slices.is_empty() {
        return html! { p { "There is no plan yet." } };
    }
    let (placed, edges) = place(plan);
    let width = placed.iter().map(|one| one.x).max().unwrap_or_default() + WIDTH + 8;
    let height = placed.iter().map(|one| one.y).max().unwrap_or_default() + HEIGHT + 8;
    let all = plan.candidate_slices.len();
    let left = all - placed.len();
    let arrows = plan
        .candidate_slices
        .iter()
        .flat_map(|slice| &slice.blocked_on);
    let lost = arrows.count().saturating_sub(MOST_EDGES);
    html! {
        div.scroll tabindex="0" role="region" aria-label="The plan as a graph" {
            svg role="img" aria-labelledby="graph-title" viewBox=(format!("0 0 {width} {height}"))
                width=(width) height=(height) {
                title id="graph-title" {
                    "The plan: " (all) " slices, each with an arrow to those that wait for it; \
                    the table of slices says the same in words"
                }
                defs {
                    marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"
                        orient="auto" { path.head d="M0 0L8 4L0 8z" {} }
                }
                @for (from, to) in &edges {
                    @let (a, b) = (&placed[*from], &placed[*to]);
                    path.edge marker-end="url(#head)" d=(curve(a, b)) {}
                }
                @for one in &placed {
                    g class=(one.slice.status.id()) {
                        rect x=(one.x) y=(one.y) width=(WIDTH) height=(HEIGHT) rx="6" {}
                        text x=(one.x + 10) y=(one.y + 19) { (shorten(&show(&one.slice.slice_id, LETTERS, false), LETTERS)) }
                        text.word x=(one.x + 10) y=(one.y + 36) { (one.slice.status.id().replace('_', " ")) }
                    }
                }
            }
        }
        @if left > 0 || lost > 0 {
            p.more { (left) " slices and " (lost) " arrows are not drawn; " code { "cook status --graph=dot" } " has all of them." }
        }
    }
}

/// A curve from the right side of `a` to the left side of `b`.
fn curve(a: &Placed, b: &Placed) -> String {
    let (x, y) = (a.x + WIDTH, a.y + HEIGHT / 2);
    let (to_x, to_y) = (b.x, b.y + HEIGHT / 2);
    let middle = x.midpoint(to_x);
    format!("M{x} {y}C{middle} {y} {middle} {to_y} {to_x} {to_y}")
}

/// Places each slice one column after the last of its dependencies.
fn place(plan: &Plan) -> (Vec<Placed<'_>>, Vec<(usize, usize)>) {
    let slices = &plan.candidate_slices[..plan.candidate_slices.len().min(MOST_SLICES)];
    let find = |id: &String| slices.iter().position(|slice| slice.slice_id == *id);
    let edges = slices.iter().enumerate().flat_map(|(to, slice)| {
        let from = slice.blocked_on.iter().filter_map(&find);
        from.map(move |from| (from, to))
    });
    let edges: Vec<(usize, usize)> = edges.take(MOST_EDGES).collect();
    let mut columns = vec![0_usize; slices.len()];
    // No path through the plan has more steps than the plan has slices.
    for _ in slices {
        for (from, to) in &edges {
            columns[*to] = columns[*to].max(columns[*from] + 1).min(slices.len());
        }
    }
    let mut filled: BTreeMap<usize, usize> = BTreeMap::new();
    let placed = slices.iter().zip(columns).map(|(slice, column)| {
        let row = filled.entry(column).or_default();
        let y = 4 + *row * (HEIGHT + GAP.1);
        *row += 1;
        Placed {
            slice,
            x: 4 + column * (WIDTH + GAP.0),
            y,
        }
    });
    (placed.collect(), edges)
}

#[cfg(test)]
mod tests;
