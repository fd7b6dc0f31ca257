//! The first look: whether the work is done, and the figures that say how it stands.

use super::text;
use super::told::Report;
use crate::verify::ProofVerdict;
use crate::view::results::Weight;
use cook_core::diagnostic::{Code, count_noun};
use cook_core::model::SliceStatus;
use maud::{Markup, html};

/// What the page says first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Done, and the proof holds.
    Proven,
    /// Found done, and something of the proof does not hold.
    NotProven,
    /// Work is open.
    NotDone,
}

impl Standing {
    pub fn of(report: &Report) -> Self {
        let verified = &report.verified;
        let is_open = |code: Code| verified.findings.iter().any(|found| found.code == code);
        match verified.has_passed() {
            true => Self::Proven,
            false if is_open(Code::NotDone) => Self::NotDone,
            false => Self::NotProven,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Proven => "DONE AND PROVEN",
            Self::NotProven => "NOT PROVEN",
            Self::NotDone => "NOT DONE",
        }
    }

    /// The verdict, what was asked, and the worst of what stands against it.
    pub fn banner(self, report: &Report) -> Markup {
        let results = report.verified.as_results();
        let against: Vec<&String> = results
            .found
            .iter()
            .filter(|found| found.weight == Weight::Fails)
            .map(|found| &found.message)
            .collect();
        let class = match self {
            Self::Proven => "good",
            Self::NotProven | Self::NotDone => "bad",
        };
        html! {
            header class=(class) {
                h1 { (self.word()) }
                p { (text::line(&results.verdict)) }
                @for message in against.iter().take(3) { p { "✗ " (text::line(message)) } }
                @if against.len() > 3 {
                    p { a href="#findings" { (count_noun(against.len() as u64 - 3, "finding")) " more" } " against it" }
                }
            }
        }
    }

    pub fn figures(self, report: &Report) -> Markup {
        let question = report.verified.question.as_ref();
        let criteria = question.map_or(&[][..], |question| &question.criteria);
        let of = |wanted: &[ProofVerdict]| {
            let is_wanted = |verdict: &ProofVerdict| wanted.contains(verdict);
            criteria
                .iter()
                .filter(|one| is_wanted(&one.verdict))
                .count()
        };
        let good = of(&[ProofVerdict::Reproduced, ProofVerdict::Holds]);
        let said = of(&[ProofVerdict::Recorded]);
        let bad = criteria.len() - good - said;
        let all = criteria.len() + report.open.len();
        let counts = |status: SliceStatus| {
            report
                .slices
                .iter()
                .filter(|one| one.status == status)
                .count()
        };
        let slices = report.slices.len() - counts(SliceStatus::Cancelled);
        let votes = report.judgments.iter().filter(|vote| vote.counts);
        let yes = votes.filter(|vote| vote.yes).count();
        html! {
            ul.figures {
                li { b { (good) " of " (all) } "criteria looked up or run again, and true" }
                @if said > 0 { li.warn { b { (said) } "on somebody's word" } }
                @if bad > 0 { li.bad { b { (bad) } "lost, other, or not to be made again" } }
                @if !report.open.is_empty() { li.warn { b { (report.open.len()) } "of slices that are not done" } }
                li { b { (counts(SliceStatus::Done)) " of " (slices) } "slices done" }
                li { b { (yes) " of " (report.required_votes) } "judges say yes" }
                li { b { (report.caught.len()) } "reports refused, or rejections that changed something" }
                li { b { (report.timeline.len()) } "transitions" }
            }
        }
    }
}
