//! The brief's contract without a repository: the rendering byte for byte, and the
//! properties of rendering and reconciliation.

use cook_protocol::brief::{
    Artifact, Author, Brief, Guide, Reconciled, entry_id, read, reconcile, render,
};
use cook_protocol::model::{
    Basis, BriefChange, BriefDocument, BriefFacts, BriefLine, BriefOutcome, BriefStanding,
    BriefVerdict, Cause, Count, Slot, Timestamp, Verdict,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The example of the artifact's own specification: the envelope, and its rendering.
const EXAMPLE: &str = include_str!("../data/brief-example.json");
const RENDERED: &str = include_str!("../data/brief-example.md");

#[test]
fn the_published_example_renders_byte_for_byte() {
    let reading = read(EXAMPLE.as_bytes()).unwrap();
    assert!(reading.warnings.is_empty());
    assert_eq!(format!("{}\n", render(&reading.artifact.brief)), RENDERED);
    // What is written is read back.
    let again = read(reading.artifact.to_json().to_string().as_bytes()).unwrap();
    assert_eq!(again.artifact, reading.artifact);
}

fn author(seq: u64, is_user: bool) -> Author {
    Author {
        by: "tester".to_owned(),
        session: None,
        seq: Count(seq),
        at: Timestamp::from("2026-01-02T03:04:05Z"),
        is_user,
    }
}

fn change(entries: Vec<BriefLine>, reconciliation: Vec<BriefOutcome>, whole: bool) -> BriefChange {
    BriefChange {
        entries,
        reconciliation,
        whole,
        guide: None,
    }
}

fn fate(id: &str, verdict: BriefVerdict, by: Option<&str>) -> BriefOutcome {
    BriefOutcome {
        id: id.to_owned(),
        verdict,
        by: by.map(str::to_owned),
        why: "it is so".to_owned(),
    }
}

fn standing(verdict: Verdict, now: Option<&str>) -> BriefStanding {
    BriefStanding {
        verdict,
        why: "measured".to_owned(),
        now: now.map(str::to_owned),
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{1,3}",
        "[ \\-*#\n\r\t→—;a-b\u{200b}\u{202e}\u{feff}]{0,12}x",
        "## [A-Z][a-z]{2,6}\n- [a-z]{1,5} — source: [a-z]{1,3}",
    ]
}

fn line() -> impl Strategy<Value = BriefLine> {
    let anchor = prop_oneof![Just("a.rs:1"), Just("b/c.rs:2-3"), Just("a.rs:name")];
    prop_oneof![
        (text(), text()).prop_map(|(rule, source)| BriefLine::new(Slot::Forbid, rule, source)),
        (text(), anchor, text()).prop_map(|(claim, evidence, reopen)| {
            BriefLine::establish(claim, evidence.to_owned(), Basis::Observed, reopen)
        }),
        (text(), text()).prop_map(|(lesson, source)| BriefLine::new(Slot::Learned, lesson, source)),
        (text(), text()).prop_map(|(question, verifies)| BriefLine::new(
            Slot::Open,
            question,
            verifies
        )),
        (text(), text()).prop_map(|(action, outcome)| BriefLine::new(Slot::Next, action, outcome)),
    ]
}

fn artifact() -> impl Strategy<Value = Artifact> {
    (text(), text(), prop::collection::vec(line(), 0..12)).prop_map(|(task, done_when, lines)| {
        Artifact {
            brief: Brief {
                task,
                done_when,
                lines,
            },
            guide: Guide::default(),
            reconciliation: Vec::new(),
        }
    })
}

/// One step of a history: what comes in, which entries are given up, which anchors
/// were found changed or moved, and who does it.
#[derive(Debug, Clone)]
struct Step {
    lines: Vec<BriefLine>,
    ends: Vec<(usize, u8)>,
    standings: Vec<(usize, bool)>,
    whole: bool,
    keep: Vec<usize>,
    is_user: bool,
}

fn step() -> impl Strategy<Value = Step> {
    (
        prop::collection::vec(line(), 0..4),
        prop::collection::vec((0..8_usize, 0..3_u8), 0..3),
        prop::collection::vec((0..8_usize, any::<bool>()), 0..3),
        any::<bool>(),
        prop::collection::vec(0..8_usize, 0..8),
        any::<bool>(),
    )
        .prop_map(|(lines, ends, standings, whole, keep, is_user)| Step {
            lines,
            ends,
            standings,
            whole,
            keep,
            is_user,
        })
}

fn take(prior: &BriefDocument, step: &Step, seq: u64) -> Option<Reconciled> {
    let at = |number: usize| prior.entries.get(number % prior.entries.len().max(1));
    let mut lines = step.lines.clone();
    if step.whole {
        lines.extend(
            step.keep
                .iter()
                .filter_map(|n| at(*n))
                .map(|e| e.line.clone()),
        );
    }
    let last = prior.entries.last().map(|entry| entry.id.clone());
    let fates = step.ends.iter().filter_map(|(number, kind)| {
        let verdict = [
            BriefVerdict::Superseded,
            BriefVerdict::Demoted,
            BriefVerdict::Retired,
        ][usize::from(*kind)];
        Some(fate(&at(*number)?.id, verdict, last.as_deref()))
    });
    let change = change(lines, fates.collect(), step.whole);
    let mut known = BriefFacts::default();
    for (number, moved) in &step.standings {
        let Some(entry) = at(*number) else { continue };
        let what = match moved {
            true => standing(Verdict::Moved, Some("z.rs:9")),
            false => standing(Verdict::Changed, None),
        };
        known.standings.insert(entry.id.clone(), what);
        known.followed.insert(entry.id.clone(), Default::default());
    }
    reconcile(prior, &change, &known, &author(seq, step.is_user)).ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The rendering is a function of the artifact alone, and no field forges a line.
    #[test]
    fn a_rendering_has_the_lines_of_its_entries_and_no_others(artifact in artifact()) {
        let Ok(brief) = artifact.brief.clone().normalise() else { return Ok(()) };
        let text = render(&brief);
        prop_assert_eq!(&text, &render(&brief.clone()));
        prop_assert!(!text.ends_with('\n'));
        let headings = text.lines().filter(|line| line.starts_with("## ")).count();
        let slots = Slot::ALL.iter().filter(|slot| brief.of(**slot).next().is_some()).count();
        // Task and its end are a line each, whatever they hold.
        let forged = [&brief.task, &brief.done_when].iter().filter(|field| field.starts_with("## ")).count();
        prop_assert_eq!(headings, 2 + slots + forged);
        prop_assert_eq!(text.lines().count(), 2 + 2 + 1 + slots * 2 + brief.lines.len());
        prop_assert!(!text.chars().any(|c| c != '\n' && cook_protocol::model::is_hidden(c)));
        // Through an artifact and back it is the same; blanks that hid something fold once.
        let again = Artifact { brief: brief.clone(), ..Artifact::default() };
        let read = read(again.to_json().to_string().as_bytes()).unwrap().artifact.brief;
        let sorted: Vec<&BriefLine> = Slot::ALL.iter().flat_map(|slot| brief.of(*slot)).collect();
        prop_assert_eq!(read.lines.len(), sorted.len());
    }

    /// reconcile(x, x) = x, as a whole brief and as single notes.
    #[test]
    fn the_same_brief_again_changes_nothing(lines in prop::collection::vec(line(), 0..10), whole in any::<bool>()) {
        let change = change(lines, Vec::new(), whole);
        let first = reconcile(&BriefDocument::default(), &change, &BriefFacts::default(), &author(1, true));
        let Ok(first) = first else { return Ok(()) };
        let own: Vec<BriefLine> = first.document.entries.iter().map(|entry| entry.line.clone()).collect();
        let again = BriefChange { entries: own, ..change };
        let second = reconcile(&first.document, &again, &BriefFacts::default(), &author(2, false)).unwrap();
        prop_assert_eq!(&second.document, &first.document);
        prop_assert!(second.records.is_empty());
        for entry in &first.document.entries {
            prop_assert_eq!(&entry.id, &entry_id(&entry.line, entry.stamp.as_ref()));
        }
    }

    /// Whatever is done, an entry that is no longer there has left with a cause that
    /// stands, and a forbid never without the user.
    #[test]
    fn nothing_is_lost_without_a_cause(steps in prop::collection::vec(step(), 1..8)) {
        let mut brief = BriefDocument::default();
        for (number, step) in steps.iter().enumerate() {
            let Some(done) = take(&brief, step, number as u64 + 1) else { continue };
            for entry in &brief.entries {
                let live = done.document.entries.iter().find(|next| next.id == entry.id);
                let same = live.is_some_and(|next| next.line == entry.line);
                let record = done.records.iter().find(|record| record.id == entry.id && record.kind != Cause::Added);
                prop_assert!(same || record.is_some(), "{} went without a word", entry.id);
                if let Some(record) = record.filter(|_| live.is_none()) {
                    let cause = record.cause.clone().unwrap_or_default();
                    prop_assert!(done.document.entries.iter().any(|next| next.id == cause), "no cause for {}", entry.id);
                    prop_assert!(record.why.is_some());
                }
                if entry.line.slot == Slot::Forbid && !step.is_user {
                    prop_assert!(same, "a forbid went without the user");
                }
            }
            let ids: BTreeSet<&String> = done.document.entries.iter().map(|entry| &entry.id).collect();
            prop_assert_eq!(ids.len(), done.document.entries.len(), "an id twice");
            brief = done.document;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bytes end in an artifact or an error, soon.
    #[test]
    fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..400), text in "[{}\\[\\]\"\\\\:,ntf0-9a-z`~<>/ \n]{0,400}") {
        let _ = read(&bytes);
        let _ = read(text.as_bytes());
    }
}
