//! `cook report --html`: the work and its proof as one page that stands by itself.
//!
//! Invariants: nothing is loaded, nothing runs (the page's own policy says so), and every word that
//! comes from a log or a file passes through `text`. Each part has room for a number of bytes, so that
//! the page of the longest log stays below [`LONGEST`].

mod answer;
mod graph;
mod head;
mod parts;
mod rows;
mod text;
mod told;

pub(crate) use answer::{PageAnswer, ReportAnswer};
pub(crate) use told::{
    Catch, Judgment, Kept, Moment, OpenCriterion, Report, SliceEvent, SliceStory,
};

use head::Standing;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// Bytes of a page.
#[cfg(test)]
const LONGEST: usize = 1 << 20;

const STYLE: &str = include_str!("style.css");

/// Nothing but this page's own style, which is named by what it is.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let digest = base64(&Sha256::digest(STYLE));
    format!("default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'")
});

/// A part of the page: where it begins, its heading, what stands there.
type Part = (&'static str, &'static str, Markup);

/// The whole page.
pub(crate) fn page(report: &Report) -> String {
    let standing = Standing::of(report);
    let parts: Vec<Part> = vec![
        ("findings", "What was found", parts::findings(report)),
        (
            "criteria",
            "Criteria and their proof",
            parts::criteria(report),
        ),
        ("slices", "Slices", parts::slices(report)),
        ("judges", "What the judges said", parts::judgments(report)),
        ("caught", "Caught and put back", parts::catches(report)),
        ("cost", "Time and cost", parts::cost(report)),
        ("graph", "The plan", graph::picture(&report.graph)),
        ("timeline", "Timeline", parts::timeline(report)),
        ("checked", "What was looked at", parts::checks(report)),
    ];
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(*POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (standing.word()) ": " (text::split_off(&text::show(&report.mission, 80, false), 80)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#criteria" { "To the criteria" }
                (standing.banner(report))
                main {
                    (standing.figures(report))
                    section aria-labelledby="mission" {
                        h2 id="mission" { "Mission" }
                        (text::block(&report.mission))
                    }
                    nav aria-label="Parts of this page" {
                        ul { @for (id, heading, _) in &parts { li { a href={ "#" (id) } { (heading) } } } }
                    }
                    @for (id, heading, markup) in &parts {
                        section aria-labelledby=(id) {
                            h2 id=(id) { (heading) }
                            (markup)
                        }
                    }
                }
                footer {
                    p { "Made " time datetime=(report.made_at) { (report.made_at) } " by cook " (env!("CARGO_PKG_VERSION"))
                        " from " (text::line(&report.source)) ". A page is no proof: make it again in a clone with "
                        code { "cook verify --from origin --rerun --trust-repo" } "." }
                }
            }
        }
    };
    page.into_string()
}

/// As a policy names a digest.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or_default());
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS[(group >> (18 - 6 * at) & 63) as usize];
            text.push(match at <= three.len() {
                true => char::from(letter),
                false => '=',
            });
        }
    }
    text
}

#[cfg(test)]
mod tests;
