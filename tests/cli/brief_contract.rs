//! The brief's contract without a repository: the rendering byte for byte, and the
//! properties of rendering and reconciliation.

use cook_protocol::brief::{
    Artifact, Author, Brief, Guide, Reconciled, entry_id, normalise, read, reconcile, render,
};
use cook_protocol::diagnostic::Code;
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

#[test]
fn the_artifact_schema_accepts_what_is_written() {
    let schema = include_str!("../../protocol/schema/brief-artifact.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let artifact = read(EXAMPLE.as_bytes()).unwrap().artifact;
    assert!(validator.is_valid(&artifact.to_json()));
    assert!(!validator.is_valid(&serde_json::json!({"version": "x"})));
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

fn make_learned(text: &str) -> BriefLine {
    BriefLine::new(Slot::Learned, text, "s")
}

fn forbid(text: &str, source: &str) -> BriefLine {
    BriefLine::new(Slot::Forbid, text, source)
}

fn make_established(claim: &str, evidence: &str, basis: Basis, reopen: &str) -> BriefLine {
    BriefLine::establish(claim, evidence, basis, reopen)
}

fn fate(id: &str, verdict: BriefVerdict, by: Option<&str>) -> BriefOutcome {
    BriefOutcome {
        id: id.to_owned(),
        verdict,
        by: by.map(str::to_owned),
        why: "it is so".to_owned(),
    }
}

fn start(lines: Vec<BriefLine>) -> BriefDocument {
    let change = change(lines, Vec::new(), false);
    reconcile(
        &BriefDocument::default(),
        &change,
        &BriefFacts::default(),
        &author(1, true),
    )
    .unwrap()
    .document
}

fn find_id(document: &BriefDocument, head: &str) -> String {
    let found = document
        .entries
        .iter()
        .find(|entry| entry.line.head == head);
    found.unwrap().id.clone()
}

#[test]
fn a_whole_brief_that_leaves_something_out_names_what_is_lost() {
    let prior = start(vec![
        make_learned("one"),
        make_learned("two"),
        forbid("never", "u"),
    ]);
    let next = change(vec![make_learned("one")], Vec::new(), true);
    let refusal = reconcile(&prior, &next, &BriefFacts::default(), &author(2, true)).unwrap_err();
    assert_eq!(refusal.code, Code::SilentDrop);
    let named: Vec<&str> = refusal
        .findings
        .iter()
        .map(|f| f.message.as_str())
        .collect();
    assert!(
        named.len() == 2 && named[0].contains("two") && named[1].contains("never"),
        "{named:?}"
    );
    // With causes it passes, and the history says so.
    let two = find_id(&prior, "two");
    let never = find_id(&prior, "never");
    let one = find_id(&prior, "one");
    let next = change(
        vec![make_learned("one")],
        vec![
            fate(&two, BriefVerdict::Superseded, Some(&one)),
            fate(&never, BriefVerdict::Retired, Some("user@msg-7")),
        ],
        true,
    );
    let mut known = BriefFacts::default();
    let refusal = reconcile(&prior, &next, &known, &author(2, true)).unwrap_err();
    assert_eq!(refusal.code, Code::SilentDrop, "an unknown message");
    known.messages.insert("msg-7".to_owned());
    let refusal = reconcile(&prior, &next, &known, &author(2, false)).unwrap_err();
    assert_eq!(
        refusal.code,
        Code::UserOnly,
        "a forbid is the user's to end"
    );
    let done = reconcile(&prior, &next, &known, &author(2, true)).unwrap();
    assert_eq!(done.document.entries.len(), 1);
    let kinds: Vec<Cause> = done.records.iter().map(|record| record.kind).collect();
    assert_eq!(kinds, [Cause::Superseded, Cause::Retired]);
}

#[test]
fn causes_that_do_not_stand_are_refused() {
    let prior = start(vec![
        make_learned("one"),
        make_learned("two"),
        forbid("never", "u"),
    ]);
    let (one, two) = (find_id(&prior, "one"), find_id(&prior, "two"));
    let refused = |entries: Vec<BriefLine>, fates: Vec<BriefOutcome>| {
        let next = change(entries, fates, false);
        reconcile(&prior, &next, &BriefFacts::default(), &author(2, false))
            .unwrap_err()
            .code
    };
    let retired = BriefVerdict::Retired;
    // Each is the other's cause, so neither is left.
    let circle = vec![
        fate(&one, BriefVerdict::Superseded, Some(&two)),
        fate(&two, BriefVerdict::Superseded, Some(&one)),
    ];
    assert_eq!(refused(Vec::new(), circle), Code::SilentDrop);
    let itself = vec![fate(&one, retired, Some(&one))];
    assert_eq!(refused(Vec::new(), itself), Code::SilentDrop);
    let nothing = vec![fate(&one, retired, None)];
    assert_eq!(refused(Vec::new(), nothing), Code::SilentDrop);
    let unknown = vec![fate("e000000000000", retired, Some(&two))];
    assert_eq!(refused(Vec::new(), unknown), Code::BriefEntryUnknown);
    let twice = vec![
        fate(&one, retired, Some(&two)),
        fate(&one, retired, Some(&two)),
    ];
    assert_eq!(refused(Vec::new(), twice), Code::BriefContradictory);
    let kept = vec![fate(&one, retired, Some(&two))];
    assert_eq!(
        refused(vec![make_learned("one")], kept),
        Code::BriefContradictory
    );
    let question = vec![fate(&one, BriefVerdict::Demoted, None)];
    assert_eq!(refused(Vec::new(), question), Code::BriefContradictory);
    let source = vec![forbid("never", "another source")];
    assert_eq!(refused(source, Vec::new()), Code::UserOnly);
    let bare = vec![make_established("c", "README.md", Basis::Observed, "r")];
    assert_eq!(refused(bare, Vec::new()), Code::BriefInvalid);
    let empty = vec![make_learned("\u{200b}")];
    assert_eq!(refused(empty, Vec::new()), Code::BriefInvalid);
    let many = (0..501).map(|n| make_learned(&n.to_string())).collect();
    assert_eq!(refused(many, Vec::new()), Code::BriefInvalid);
    let more = (0..499).map(|n| make_learned(&n.to_string())).collect();
    assert_eq!(refused(more, Vec::new()), Code::BriefFull);
}

#[test]
fn another_source_is_a_supersession_with_the_old_text_kept() {
    let prior = start(vec![make_established("c", "user@m", Basis::User, "none")]);
    let next = change(
        vec![make_established(
            "c",
            "user@m",
            Basis::User,
            "when they say so",
        )],
        Vec::new(),
        false,
    );
    let done = reconcile(&prior, &next, &BriefFacts::default(), &author(2, false)).unwrap();
    assert_eq!(done.document.entries.len(), 1);
    assert_eq!(done.records.len(), 1);
    assert_eq!(done.records[0].kind, Cause::Superseded);
    assert!(done.records[0].text.contains("reopen: none"));
}

fn standing(verdict: Verdict, now: Option<&str>) -> BriefStanding {
    BriefStanding {
        verdict,
        why: "measured".to_owned(),
        now: now.map(str::to_owned),
    }
}

#[test]
fn a_changed_claim_becomes_a_question_and_a_moved_one_is_followed() {
    let prior = start(vec![
        make_established("stays", "a.rs:1", Basis::Observed, "r"),
        make_established("changes", "b.rs:1", Basis::Observed, "r"),
        make_established("goes", "c.rs:1", Basis::Observed, "r"),
        make_established("moves", "d.rs:1", Basis::Observed, "r"),
        make_established("red", "test:t", Basis::Test, "r"),
    ]);
    let mut known = BriefFacts::default();
    for (head, what) in [
        ("changes", standing(Verdict::Changed, None)),
        ("goes", standing(Verdict::Missing, None)),
        ("moves", standing(Verdict::Moved, Some("e.rs:7"))),
        ("red", standing(Verdict::Missing, None)),
    ] {
        known.standings.insert(find_id(&prior, head), what);
    }
    let moves = find_id(&prior, "moves");
    known.followed.insert(moves.clone(), Default::default());
    let done = reconcile(
        &prior,
        &change(vec![make_learned("new")], Vec::new(), false),
        &known,
        &author(2, false),
    )
    .unwrap();
    let of = |slot: Slot| {
        let entries = done.document.entries.iter();
        entries
            .filter(|entry| entry.line.slot == slot)
            .map(|entry| entry.line.head.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(of(Slot::Established), ["stays", "moves", "red"]);
    let questions: BTreeSet<String> = of(Slot::Open).into_iter().collect();
    assert_eq!(
        questions,
        BTreeSet::from([
            "Does this still hold: changes".to_owned(),
            "Does this still hold: goes".to_owned()
        ])
    );
    let followed = done
        .document
        .entries
        .iter()
        .find(|e| e.id == moves)
        .unwrap();
    assert_eq!(followed.line.tail, "e.rs:7");
    let demoted: Vec<_> = done
        .document
        .entries
        .iter()
        .filter_map(|entry| entry.demoted_from.clone())
        .collect();
    assert_eq!(demoted.len(), 2);
    assert!(done.findings.iter().any(|f| f.code == Code::BriefDemoted));
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

    /// A normalised field is one line and holds nothing that cannot be seen.
    #[test]
    fn a_field_is_one_visible_line(given in "\\PC*|[\\x00-\\x20\\-*a]{0,40}") {
        if let Ok(kept) = normalise(&given) {
            prop_assert!(!kept.is_empty() && kept.lines().count() == 1);
            prop_assert!(!kept.chars().any(cook_protocol::model::is_hidden));
        }
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

/// What may stand around an artifact, with the artifact itself in it.
fn around() -> impl Strategy<Value = (String, String)> {
    let prose = "[ -~\n]{0,60}|[\u{a0}-\u{2fff}\u{feff}\n]{0,20}|[{}\\[\\]\"'`~<>/,:a]{0,40}";
    let fence = prop::sample::select(vec![
        ("", ""),
        ("```json\n", "\n```\n"),
        ("```\n", "\n```"),
        ("````jsonc\n", "\n````\n"),
        ("~~~\n", "\n~~~\n"),
        ("   ```JSON5 title=\"x\"\n", "\n   ```\n"),
        ("> ", "\n"),
        ("<artifact>", "</artifact>"),
    ]);
    let thought = prop::sample::select(vec![
        "",
        "<think>it is {\"version\": 1}</think>\n",
        "<think>never closed {\"brief\":\n",
        "<thinking>a { b</thinking>",
        "<THINK>\n```json\n{}\n```\n</THINK>",
    ]);
    (prose, thought, fence, prose).prop_map(|(before, thought, (open, close), after)| {
        (
            format!("{before}\n{thought}{open}"),
            format!("{close}{after}"),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever stands around it, the artifact is read as it is or the reading says why
    /// not; nothing else is made of it.
    #[test]
    fn an_artifact_is_found_in_any_surroundings_or_refused(artifact in artifact(), (before, after) in around()) {
        let text = format!("{before}{}{after}", artifact.to_json());
        let plain = read(artifact.to_json().to_string().as_bytes());
        match read(text.as_bytes()) {
            Ok(reading) => prop_assert_eq!(Some(reading.artifact), plain.ok().map(|plain| plain.artifact)),
            Err(failure) => prop_assert!(
                [Code::ArtifactUnreadable, Code::ArtifactInvalid].contains(&failure.code),
                "{failure:?}"
            ),
        }
    }

    /// Any bytes end in an artifact or an error, soon.
    #[test]
    fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..400), text in "[{}\\[\\]\"\\\\:,ntf0-9a-z`~<>/ \n]{0,400}") {
        let _ = read(&bytes);
        let _ = read(text.as_bytes());
    }
}

#[test]
fn what_is_huge_ends_soon_with_its_reason() {
    let began = std::time::Instant::now();
    let whole = |established: Vec<serde_json::Value>| {
        serde_json::json!({"version": "pi-continue-artifacts/v4",
            "brief": {"task": "t", "done_when": "d", "forbid": [], "established": established,
                "learned": [], "open": [], "next": []},
            "agentGuideUpdate": {"content": null, "reason": ""}})
        .to_string()
    };
    let entry =
        serde_json::json!({"claim": "c", "evidence": "a.rs:1", "basis": "observed", "reopen": "r"});
    let many = whole(vec![entry.clone(); 501]);
    assert!(
        read(many.as_bytes())
            .unwrap_err()
            .to_string()
            .contains("500")
    );
    for huge in [
        whole(vec![entry; 100_000]),
        format!("{{\"version\": \"{}\"}}", "x".repeat(10 << 20)),
        "{".repeat(10 << 20),
        "\"".repeat(10 << 20),
        "`".repeat(10 << 20),
        "<think>".repeat(2 << 20),
    ] {
        let failure = read(huge.as_bytes()).unwrap_err();
        assert_eq!(failure.code, Code::ArtifactUnreadable, "{failure}");
    }
    for deep in ["{\"brief\":", "[", "<think>", "```\n{", "{\"a\":\"}", "{}"] {
        let text = deep.repeat((1 << 20) / deep.len() - 1);
        assert!(read(text.as_bytes()).is_err());
    }
    assert!(
        began.elapsed() < std::time::Duration::from_secs(60),
        "{:?}",
        began.elapsed()
    );
}
