//! The parts of the page below the first look.

use super::rows::Table;
use super::text::{line, list, sign};
use super::told::{Moment, Report};
use crate::verify::{Criterion, ProofVerdict};
use crate::view::results::Weight;
use cook_core::diagnostic::{Severity, count_noun};
use cook_core::machine::short;
use maud::{Markup, html};
use std::time::Duration;

fn commit(id: &str) -> Markup {
    sign(short(id))
}

/// What `cook verify` found, worst first.
pub(super) fn findings(report: &Report) -> Markup {
    let results = report.verified.as_results();
    if results.found.is_empty() {
        return html! { p { "Nothing." } };
    }
    let table = Table {
        caption: "Findings, those first that the work fails by",
        heads: &["Weight", "Code", "What", "What to do"],
        room: 40_000,
        rest: "`cook verify` lists all of them.",
    };
    table.of(&results.found, |found| {
        let (class, word) = match found.weight {
            Weight::Fails => ("bad", "✗ fails"),
            Weight::Look => ("warn", "! look"),
            Weight::Note => ("dim", "note"),
        };
        html! {
            td { b class=(class) { (word) } }
            td { (sign(&found.code.to_string())) }
            td { (line(&found.message)) }
            td { (line(&found.next)) }
        }
    })
}

/// A row of the table of criteria.
enum Proof<'a> {
    Judged(&'a Criterion),
    Open(&'a super::OpenCriterion),
}

/// Each criterion, its evidence, and what looking it up or running it again said.
pub(super) fn criteria(report: &Report) -> Markup {
    let question = report.verified.question.as_ref();
    let judged = question.into_iter().flat_map(|it| &it.criteria);
    let mut rows: Vec<Proof> = judged.map(Proof::Judged).collect();
    rows.extend(report.open.iter().map(Proof::Open));
    if rows.is_empty() {
        return html! { p { "No slice has criteria yet." } };
    }
    let table = Table {
        caption: "Each criterion, where its proof is, and what it is worth now",
        heads: &["Proof", "Slice", "Criterion", "Evidence", "What was seen"],
        room: 250_000,
        rest: "`cook verify --json` has all of them.",
    };
    table.of(&rows, |row| match row {
        Proof::Judged(one) => {
            let (class, word) = verdict(one.verdict);
            html! {
                td { b class=(class) { (word) } }
                td { (sign(&one.slice)) }
                td { (line(&one.text)) }
                td {
                    @match &one.anchor { Some(anchor) => { (sign(anchor)) }, None => "none on record" }
                    @if let Some(at) = &one.at { " at " (commit(at)) }
                }
                td { (line(&one.why)) }
            }
        }
        Proof::Open(one) => html! {
            td { b.warn { "… open" } }
            td { (sign(&one.slice)) }
            td { (line(&one.text)) }
            td { @match &one.anchor { Some(anchor) => { (sign(anchor)) }, None => "none on record" } }
            td { "the slice is not done" }
        },
    })
}

fn verdict(verdict: ProofVerdict) -> (&'static str, &'static str) {
    match verdict {
        ProofVerdict::Reproduced => ("good", "✓ reproduced"),
        ProofVerdict::Holds => ("good", "✓ holds"),
        ProofVerdict::Recorded => ("warn", "~ recorded"),
        ProofVerdict::NotReproducible => ("warn", "? not reproducible"),
        ProofVerdict::Differs => ("bad", "✗ differs"),
        ProofVerdict::Lost => ("bad", "✗ lost"),
    }
}

/// The slices, and below them what became of each try.
pub(super) fn slices(report: &Report) -> Markup {
    if report.slices.is_empty() {
        return html! { p { "There is no plan yet." } };
    }
    let table = Table {
        caption: "The slices of the plan",
        heads: &["Slice", "Goal", "Status", "Waits for", "Tries", "Commit"],
        room: 80_000,
        rest: "`cook status` lists all of them.",
    };
    let plan = table.of(&report.slices, |slice| {
        html! {
            th scope="row" { (sign(&slice.id)) }
            td { (line(&slice.goal)) }
            td { (slice.status.id().replace('_', " ")) }
            td { @match slice.waits_for.is_empty() { true => "nothing", false => (list(slice.waits_for.iter())) } }
            td.number { (slice.attempts) }
            td { @match &slice.head { Some(head) => { (commit(head)) }, None => "none" } }
        }
    });
    let events: Vec<_> = report
        .slices
        .iter()
        .flat_map(|slice| slice.events.iter().map(move |event| (slice, event)))
        .collect();
    let tries = Table {
        caption: "What was reported of each slice, oldest first",
        heads: &["Slice", "Transition", "What", "What it says"],
        room: 110_000,
        rest: "`cook log` lists the transitions, `cook log N` shows one.",
    };
    html! {
        (plan)
        @if !events.is_empty() {
            h3 { "Tries and rejections" }
            (tries.of(&events, |(slice, event)| html! {
                td { (sign(&slice.id)) }
                td.number { "#" (event.seq) }
                td {
                    @match event.good {
                        Some(true) => b.good { "✓ " (event.what) },
                        Some(false) => b.bad { "✗ " (event.what) },
                        None => (event.what),
                    }
                }
                td { (list(event.says.iter())) }
            }))
        }
    }
}

/// Every vote with its reasons.
pub(super) fn judgments(report: &Report) -> Markup {
    let table = Table {
        caption: "Every vote, newest first",
        heads: &["Transition", "Judge", "Vote", "Reasons"],
        room: 50_000,
        rest: "`cook log` lists the transitions, `cook log N` shows one.",
    };
    let newest: Vec<_> = report.judgments.iter().rev().collect();
    let votes = table.of(&newest, |vote| {
        html! {
            td.number { "#" (vote.seq) }
            td { @match &vote.session { Some(session) => { (sign(session)) }, None => "not recorded" } }
            td {
                @match vote.yes { true => b.good { "✓ yes" }, false => b.bad { "✗ no" } }
                @if !vote.counts { " " span.dim { "(of an earlier wave)" } }
            }
            td {
                (list(vote.reasons.iter()))
                @if !vote.concerns.is_empty() { div.dim { "Not passed: " (list(vote.concerns.iter())) } }
            }
        }
    });
    html! {
        @if !report.judges.is_empty() {
            h3 { "Whose word it is, and how many planted faults that judge caught" }
            (list(report.judges.iter()))
        }
        @match newest.is_empty() {
            true => p { "No judge was heard yet." },
            false => (votes),
        }
    }
}

/// What was refused, sent back or put back.
pub(super) fn catches(report: &Report) -> Markup {
    let catches = Table {
        caption: "Reports that were refused, and rejections that changed what was done after them",
        heads: &["Transition", "About", "What", "It names"],
        room: 60_000,
        rest: "`cook log` lists the transitions, `cook log N` shows one.",
    };
    let kept = Table {
        caption: "What sessions changed without a right to, or was edited outside: kept, then put back",
        heads: &["Copy", "When", "Why", "Files"],
        room: 20_000,
        rest: "`cook doctor rescue list` lists all of them.",
    };
    html! {
        @match report.caught.is_empty() {
            true => p { "No report was refused, and no no changed anything." },
            false => (catches.of(&report.caught, |one| html! {
                td.number { "#" (one.seq) }
                td { (sign(&one.subject)) }
                td { (one.what) }
                td { (line(&one.names)) }
            })),
        }
        @if let Some(others) = &report.unheeded { p.dim { (line(others)) } }
        @match &report.kept {
            None => p.dim { "Copies of what was put back stay where the work was done; a fetched log holds none." },
            Some(copies) if copies.is_empty() => p { "Nothing had to be put back." },
            Some(copies) => {
                h3 { "Put back" }
                (kept.of(copies, |one| html! {
                    td { (commit(&one.id)) }
                    td { (line(&one.time)) }
                    td { (line(&one.why)) }
                    td { (list(one.files.iter())) }
                }))
            }
        }
    }
}

fn describe_span(seconds: u64) -> String {
    humantime::format_duration(Duration::from_secs(seconds)).to_string()
}

/// From the first transition to the last, and what agents took.
pub(super) fn cost(report: &Report) -> Markup {
    let span = match (report.timeline.first(), report.timeline.last()) {
        (Some(first), Some(last)) => {
            let seconds = last.epoch_seconds - first.epoch_seconds;
            Some((first, last, u64::try_from(seconds).unwrap_or_default()))
        }
        _ => None,
    };
    let table = Table {
        caption: "What agents took, by role and agent",
        heads: &["Role", "Agent", "Calls", "Failed", "Time", "Cost"],
        room: 20_000,
        rest: "`cook status --cost` lists all of them.",
    };
    html! {
        @if let Some((first, last, seconds)) = span {
            p { "From " time datetime=(first.time) { (first.time) } " to " time datetime=(last.time) { (last.time) }
                ": " (describe_span(seconds)) "." }
        }
        @match &report.cost {
            None => p { "The record of calls stays where the work was done; a fetched log holds none." },
            Some(cost) if cost.rows.is_empty() => p { "No agent was called through cook for this work." },
            Some(cost) => {
                @let all: Vec<_> = cost.rows.iter().chain([&cost.total]).collect();
                (table.of(&all, |row| html! {
                    th scope="row" { (line(&row.role)) }
                    td { (line(&row.agent)) }
                    td.number { (row.calls) }
                    td.number { (row.failed) }
                    td.number { (describe_span(row.milliseconds / 1000)) }
                    td { (row.cost()) }
                }))
            }
        }
    }
}

/// The transitions, newest first.
pub(super) fn timeline(report: &Report) -> Markup {
    let table = Table {
        caption: "Transitions, newest first",
        heads: &["#", "When", "What", "By", "Rule", "About"],
        room: 240_000,
        rest: "`cook log -n 100000` lists all of them.",
    };
    let newest: Vec<&Moment> = report.timeline.iter().rev().collect();
    table.of(&newest, |one| {
        let event = one.event.replace('_', " ");
        html! {
            td.number { (one.seq) }
            td { (one.time) }
            td { @match one.undone { true => { s { (line(&event)) } " (taken back)" }, false => (line(&event)) } }
            td { (line(&one.actor)) }
            td { (line(&one.rule)) }
            td { (line(&one.subject)) }
        }
    })
}

/// What the verification looked at.
pub(super) fn checks(report: &Report) -> Markup {
    let verified = &report.verified;
    let open = verified.findings.iter();
    let table = Table {
        caption: "What was looked at, and found as it should be where nothing else is said",
        heads: &["What"],
        room: 20_000,
        rest: "`cook verify` lists all of it.",
    };
    let errors = open
        .filter(|found| found.severity() == Severity::Error)
        .count();
    html! {
        p { (count_noun(verified.checked.len() as u64, "check")) ", " (count_noun(errors as u64, "error"))
            @if let Some(branch) = &report.branch { ", branch " (sign(branch)) } "." }
        (table.of(&verified.checked, |one| html! { td { (line(one)) } }))
    }
}
