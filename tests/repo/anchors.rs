//! Anchors: each verdict, and what may not be followed, read or run.

use crate::support::scratch::Scratch;
use cook::measure::{World, measure};
use cook_core::diagnostic::Failure;
use cook_core::machine::{
    AnchorAnswer, AnchorQuestion, CommitQuestion, FactSet, GateQuestion, OutsideEdit, OwnQuestion,
    Verdict, WorkOf,
};
use cook_core::model::{Basis, Caches, Config};
use cook_git::Repo;
use cook_os::clock::Clock;
use cook_store::receipt::{Receipts, Trust};
use std::collections::{BTreeMap, BTreeSet};

const CODE: &str = "use std::fmt;\n\nfn first_function() {\n    let value = compute();\n}\n\nfn second_function() {\n    let other = compute_more();\n}\n";

struct Stand {
    scratch: Scratch,
    repo: Repo,
    receipts: Receipts,
    trust: Trust,
    config: Config,
    commands: BTreeMap<String, Vec<String>>,
    trees: BTreeMap<String, String>,
}

fn no_messages() -> Result<BTreeMap<String, String>, Failure> {
    Ok(BTreeMap::from([(
        "msg-1".to_owned(),
        "use queues; they\nlast".to_owned(),
    )]))
}

fn no_edits() -> Result<Vec<OutsideEdit>, Failure> {
    Ok(Vec::new())
}

impl Stand {
    fn new() -> Self {
        let scratch = Scratch::new();
        scratch.write("src/code.rs", CODE);
        scratch.commit("code");
        let repo = scratch.repo();
        Self {
            receipts: Receipts::of(&repo).unwrap(),
            trust: Trust::of(&repo).unwrap(),
            config: Config::parse(&format!(
                "[clean_room]\ndir = {:?}\n[sandbox]\nmode = \"off\"",
                scratch.root.with_file_name("rooms")
            ))
            .unwrap(),
            commands: BTreeMap::new(),
            trees: BTreeMap::new(),
            repo,
            scratch,
        }
    }

    /// A stand whose slice has these trusted commands.
    fn with(commands: &[&str]) -> Self {
        let mut stand = Self::new();
        for command in commands {
            stand.trust.trust(command).unwrap();
        }
        let own = commands
            .iter()
            .map(|command| (*command).to_owned())
            .collect();
        stand.commands.insert("s-1".to_owned(), own);
        stand
    }

    fn world(&self) -> World<'_> {
        World {
            repo: &self.repo,
            config: &self.config,
            gates: Some((&self.receipts, &self.trust)),
            caches: Caches::Kept,
            patience: None,
            messages: &no_messages,
            clock: Clock::with_moment("2026-05-06T07:08:09Z").unwrap(),
            not_before: None,
            outside_edits: &no_edits,
            contract_differs: &|| Ok(Vec::new()),
            works: &|| Ok(BTreeMap::new()),
            trees: &self.trees,
            stop_verifier_stale: &|| Ok(false),
            slice_commands: &self.commands,
        }
    }

    fn head(&self) -> String {
        self.repo.head().unwrap().commit.unwrap()
    }

    fn ask(&self, question: AnchorQuestion) -> AnchorAnswer {
        let key = question.key();
        let wanted = FactSet {
            anchors: BTreeSet::from([question]),
            ..FactSet::default()
        };
        measure(&wanted, &self.world())
            .unwrap()
            .anchors
            .remove(&key)
            .unwrap()
    }

    fn fresh(&self, anchor: &str) -> AnchorAnswer {
        self.ask(question(anchor, None, None))
    }

    fn since(&self, anchor: &str, stamp: &str) -> AnchorAnswer {
        self.ask(question(anchor, Some(stamp), None))
    }

    fn of_slice(&self, anchor: &str, basis: &str, slice_head: &str) -> AnchorAnswer {
        self.ask(question(anchor, None, Some((basis, slice_head))))
    }
}

fn question(anchor: &str, stamp: Option<&str>, range: Option<(&str, &str)>) -> AnchorQuestion {
    let basis = match anchor.split(':').next().unwrap() {
        "test" => Basis::Test,
        "cmd" | "receipt" => Basis::Output,
        "doc" => Basis::Doc,
        user if user.starts_with("user@") => Basis::User,
        _ => Basis::Observed,
    };
    AnchorQuestion {
        slice_id: "s-1".to_owned(),
        criterion: "it works".to_owned(),
        anchor: anchor.to_owned(),
        basis,
        stamped_at: stamp.map(str::to_owned),
        work: range.map(|(basis, head)| {
            WorkOf::Claimed(OwnQuestion {
                slice_id: "s-1".to_owned(),
                basis: basis.to_owned(),
                head: head.to_owned(),
                claimed: BTreeSet::from([head.to_owned()]),
                earlier_bases: Vec::new(),
                arrivals: Vec::new(),
                earlier: None,
            })
        }),
    }
}

use Verdict::{Changed, Malformed, Missing, Moved, Stale, Unverifiable, Verified};

#[test]
fn fresh_places_hold_at_head() {
    let stand = Stand::new();
    for (anchor, verdict) in [
        ("src/code.rs:3", Verified),
        ("src/code.rs:3-5", Verified),
        ("src/code.rs:9", Unverifiable),
        ("src/code.rs:2", Unverifiable),
        ("src/code.rs:10", Missing),
        ("src/code.rs:8-12", Missing),
        ("src/code.rs:second_function", Verified),
        ("src/code.rs:second", Missing),
        ("src/none.rs:1", Missing),
        ("src:1", Unverifiable),
        ("src/code.rs", Malformed),
        ("src/code.rs:0", Malformed),
        ("src/code.rs:5-3", Malformed),
        ("../repo/src/code.rs:3", Malformed),
        ("/etc/passwd:1", Malformed),
    ] {
        assert_eq!(stand.fresh(anchor).verdict, verdict, "{anchor}");
    }
    // The worktree is not what is looked at.
    std::fs::remove_file(stand.scratch.path("src/code.rs")).unwrap();
    assert_eq!(stand.fresh("src/code.rs:3").verdict, Verified);
    assert_eq!(
        stand.fresh("src/code.rs:3").target,
        stand.fresh("src/code.rs:first_function").target
    );
    let mut misfit = question("src/code.rs:3", None, None);
    misfit.basis = Basis::User;
    assert_eq!(stand.ask(misfit).verdict, Malformed);
}

#[cfg(unix)]
#[test]
fn what_is_no_plain_file_cannot_be_anchored_in() {
    let stand = Stand::new();
    let library = Scratch::new();
    stand.scratch.git(&[
        "submodule",
        "--quiet",
        "add",
        library.root.to_str().unwrap(),
        "lib",
    ]);
    std::os::unix::fs::symlink("/etc/passwd", stand.scratch.path("link.txt")).unwrap();
    std::os::unix::fs::symlink("/etc", stand.scratch.path("linked")).unwrap();
    stand.scratch.write("binary.bin", b"text\0more text\n");
    stand
        .scratch
        .write("huge.txt", "a line of some length\n".repeat(500_000));
    stand.scratch.commit("odd");
    for (anchor, verdict) in [
        ("link.txt:1", Unverifiable),
        ("linked/passwd:1", Missing),
        ("lib:1", Unverifiable),
        ("lib/a.txt:1", Missing),
        ("binary.bin:1", Unverifiable),
        ("huge.txt:1", Unverifiable),
    ] {
        let answer = stand.fresh(anchor);
        assert_eq!(answer.verdict, verdict, "{anchor}: {}", answer.why);
    }
}

#[test]
fn a_stamped_place_is_verified_moved_changed_or_missing() {
    let stand = Stand::new();
    let stamp = stand.head();
    assert_eq!(stand.since("src/code.rs:4", &stamp).verdict, Verified);

    stand
        .scratch
        .write("src/code.rs", format!("// one more line\n{CODE}"));
    stand.scratch.commit("shift");
    let moved = stand.since("src/code.rs:4-5", &stamp);
    assert_eq!(
        (moved.verdict, moved.now.as_deref()),
        (Moved, Some("src/code.rs:5-6"))
    );
    assert_eq!(
        stand.since("src/code.rs:second_function", &stamp).verdict,
        Verified
    );

    stand.scratch.write(
        "src/code.rs",
        CODE.replace("compute()", "guess()")
            .replace("fn second_function()", "fn second_function(x: u8)"),
    );
    stand.scratch.commit("change");
    assert_eq!(stand.since("src/code.rs:4", &stamp).verdict, Changed);
    assert_eq!(
        stand.since("src/code.rs:second_function", &stamp).verdict,
        Changed
    );

    stand.scratch.write("src/code.rs", CODE);
    stand.scratch.commit("back");
    stand.scratch.git(&["mv", "src/code.rs", "src/renamed.rs"]);
    stand.scratch.commit("rename");
    let moved = stand.since("src/code.rs:4", &stamp);
    assert_eq!(
        (moved.verdict, moved.now.as_deref()),
        (Moved, Some("src/renamed.rs:4"))
    );
    let moved = stand.since("src/code.rs:second_function", &stamp);
    assert_eq!(
        (moved.verdict, moved.now.as_deref()),
        (Moved, Some("src/renamed.rs:second_function"))
    );

    stand.scratch.git(&["rm", "-q", "src/renamed.rs"]);
    stand.scratch.commit("remove");
    assert_eq!(stand.since("src/code.rs:4", &stamp).verdict, Missing);
    assert_eq!(
        stand.since("src/code.rs:second_function", &stamp).verdict,
        Missing
    );
    assert_eq!(
        stand.since("src/code.rs:4", &"0".repeat(40)).verdict,
        Changed
    );
}

#[test]
fn text_that_cannot_be_told_is_never_followed() {
    let stand = Stand::new();
    let twice = "alpha beta gamma\nmiddle of it\nalpha beta gamma\nx\n";
    stand.scratch.write("t.txt", twice);
    let stamp = stand.scratch.commit("twice");
    // One of two equal lines goes: the other is not where the first one went.
    stand
        .scratch
        .write("t.txt", "middle of it\nalpha beta gamma\nx\n");
    stand.scratch.commit("once");
    assert_eq!(stand.since("t.txt:1", &stamp).verdict, Changed);
    // A short line is where what is around it says.
    let short = stand.since("t.txt:4", &stamp);
    assert_eq!(
        (short.verdict, short.now.as_deref()),
        (Moved, Some("t.txt:3"))
    );
    // A line that is copied: which one it is now cannot be told.
    stand
        .scratch
        .write("t.txt", "new\nmiddle of it\nmiddle of it\n");
    stand.scratch.commit("copied");
    let stamped = stand.since("t.txt:2", &stamp);
    assert_eq!(stamped.verdict, Verified, "its own place still holds it");
    // Elsewhere it stood already: it did not move there.
    stand.scratch.write("u.txt", "unique words here\n");
    stand.scratch.write("v.txt", "unique words here\n");
    let stamp = stand.scratch.commit("two files");
    stand.scratch.write("u.txt", "something else altogether\n");
    stand
        .scratch
        .write("v.txt", "unique words here\nand more\n");
    stand.scratch.commit("changed");
    assert_eq!(stand.since("u.txt:1", &stamp).verdict, Changed);
}

#[test]
fn a_place_counts_when_the_slice_changed_it() {
    let stand = Stand::new();
    let basis = stand.head();
    stand
        .scratch
        .write("src/code.rs", CODE.replace("compute()", "compute(1)"));
    stand.scratch.write("src/new.rs", "pub fn brand_new() {}\n");
    let slice_head = stand.scratch.commit("slice");
    let related = |anchor: &str| {
        let answer = stand.of_slice(anchor, &basis, &slice_head);
        assert_eq!(answer.verdict, Verified, "{anchor}");
        answer.related
    };
    assert!(related("src/code.rs:4"));
    assert!(related("src/code.rs:3-5"));
    assert!(
        !related("src/code.rs:7"),
        "a line of the same file that it left alone"
    );
    assert!(related("src/new.rs:1"));
    assert!(related("src/code.rs:first_function"));
    assert!(!related("src/code.rs:1"));
    // A commit shows nothing of what it holds.
    assert!(!related(&format!("commit:{slice_head}")));
    // A foreign commit above moves the lines: they are still the slice's.
    stand.scratch.write(
        "src/code.rs",
        format!("// above\n{}", CODE.replace("compute()", "compute(1)")),
    );
    stand.scratch.commit("foreign");
    assert!(related("src/code.rs:5") && !related("src/code.rs:8"));
    // Without a slice the place need not be anyone's.
    assert!(stand.fresh("src/code.rs:2").related);
    assert!(
        !stand
            .of_slice("src/code.rs:5", &"0".repeat(40), &slice_head)
            .related
    );
}

#[test]
fn commits_documents_and_users() {
    let stand = Stand::new();
    let head = stand.head();
    assert_eq!(
        stand.fresh(&format!("commit:{}", &head[..10])).verdict,
        Verified
    );
    assert_eq!(stand.fresh("commit:0000000000").verdict, Missing);
    stand
        .scratch
        .git(&["commit", "-q", "--amend", "-m", "other"]);
    assert_eq!(stand.fresh(&format!("commit:{head}")).verdict, Missing);
    stand
        .scratch
        .write("docs/guide.md", "# Guide\n\n## How to `start`\n");
    stand.scratch.commit("docs");
    for (anchor, verdict) in [
        ("doc:docs/guide.md", Verified),
        ("doc:docs/guide.md#how-to-start", Verified),
        ("doc:docs/guide.md#How to start", Verified),
        ("doc:docs/guide.md#how-to-stop", Missing),
        ("doc:docs/none.md", Missing),
        ("doc:https://example.org/x", Unverifiable),
        ("doc:../x", Malformed),
        ("user@m1: 'yes'", Missing),
        ("user@msg-1", Verified),
        ("user@msg-1: 'queues; they last'", Verified),
        ("user@msg-1: 'queues never'", Missing),
    ] {
        assert_eq!(stand.fresh(anchor).verdict, verdict, "{anchor}");
    }
}

#[test]
fn test_names_rest_on_receipts_of_heads_tree() {
    let gate = "sh -c 'echo test m::works ... ok; echo test m::broken ... FAILED; echo test m::later ... ignored; echo test a::same ... ok; echo test b::same ... FAILED'";
    let stand = Stand::with(&[gate, "true"]);
    for (anchor, verdict) in [
        ("test:m::works", Verified),
        ("test:works", Verified),
        ("test:m::broken", Missing),
        ("test:m::later", Missing),
        ("test:m::unheard_of", Missing),
        ("test:same", Missing),
        ("test:a::same", Verified),
        ("test:ork", Missing),
    ] {
        let answer = stand.fresh(anchor);
        assert_eq!(answer.verdict, verdict, "{anchor}: {}", answer.why);
        assert_eq!(
            answer.receipt.is_some(),
            verdict == Verified || answer.why.contains("failed"),
            "{anchor}"
        );
    }
    assert_ne!(
        stand.fresh("test:works").target,
        stand.fresh("test:a::same").target
    );
    let none = Stand::new();
    assert_eq!(none.fresh("test:works").verdict, Unverifiable);
}

#[test]
fn output_anchors_rest_on_green_gates() {
    let gate = "sh -c 'echo checked 12 files in total; echo short'";
    let red = "sh -c 'echo checked nothing at all; exit 1'";
    let stand = Stand::with(&[gate, red]);
    for (command, text, verdict) in [
        (gate, "exit", Verified),
        (gate, "exit-status-line", Verified),
        (gate, "short", Verified),
        (gate, "checked 12 files in total", Verified),
        (gate, "checked 12 files", Verified),
        (gate, "shor", Missing),
        (gate, "12 files in total", Missing),
        (red, "exit", Missing),
        (red, "checked nothing at all", Missing),
    ] {
        let answer = stand.fresh(&format!("cmd:{command}#{text}"));
        assert_eq!(answer.verdict, verdict, "{command} {text}: {}", answer.why);
    }
    let exit = stand.fresh(&format!("cmd:{gate}#exit"));
    let receipt = exit.receipt.clone().unwrap();
    assert_eq!(
        stand.fresh(&format!("receipt:{receipt}")).target,
        exit.target
    );
    assert_ne!(
        stand.fresh(&format!("cmd:{gate}#short")).target,
        exit.target
    );
    assert_eq!(stand.fresh(&format!("receipt:{receipt}")).verdict, Verified);
    assert_eq!(
        stand.fresh(&format!("receipt:{}", "0".repeat(64))).verdict,
        Missing
    );
    let of_red = stand.fresh(&format!("cmd:{red}#exit")).receipt.unwrap();
    assert_eq!(stand.fresh(&format!("receipt:{of_red}")).verdict, Missing);
    stand.scratch.write("more.txt", "more");
    stand.scratch.commit("another tree");
    assert_eq!(stand.fresh(&format!("receipt:{receipt}")).verdict, Stale);
}

#[test]
fn a_command_in_an_anchor_is_never_run_because_it_is_there() {
    let mut stand = Stand::new();
    let mark = stand.scratch.root.with_file_name("ran");
    let command = format!("touch {}", mark.display());
    assert_eq!(
        stand.fresh(&format!("cmd:{command}#exit")).verdict,
        Unverifiable
    );
    // Trusted, and no gate.
    stand.trust.trust(&command).unwrap();
    assert_eq!(
        stand.fresh(&format!("cmd:{command}#exit")).verdict,
        Unverifiable
    );
    assert!(!mark.exists());
    // A gate, and not trusted.
    let mut other = Stand::new();
    other
        .commands
        .insert("s-1".to_owned(), vec![command.clone()]);
    assert_eq!(
        other.fresh(&format!("cmd:{command}#exit")).verdict,
        Unverifiable
    );
    assert_eq!(other.fresh("test:any").verdict, Unverifiable);
    assert!(!mark.exists());
    // A gate of another slice.
    other.trust.trust(&command).unwrap();
    let own = other.commands.remove("s-1").unwrap();
    other.commands.insert("s-2".to_owned(), own);
    assert_eq!(
        other.fresh(&format!("cmd:{command}#exit")).verdict,
        Unverifiable
    );
    assert!(!mark.exists());
    // Both.
    stand
        .commands
        .insert("s-1".to_owned(), vec![command.clone()]);
    assert_eq!(
        stand.fresh(&format!("cmd:{command}#exit")).verdict,
        Verified
    );
    assert!(mark.exists());
}

#[test]
fn stale_and_related_receipts() {
    let gate = "sh -c 'echo test m::works ... ok'";
    let mut stand = Stand::with(&[gate]);
    let basis = stand.head();
    stand.scratch.write("src/new.rs", "x");
    let slice_head = stand.scratch.commit("slice");
    let anchor = format!("cmd:{gate}#exit");
    assert!(stand.of_slice(&anchor, &basis, &slice_head).related);
    assert!(stand.of_slice("test:works", &basis, &slice_head).related);
    stand.scratch.write("foreign.txt", "x");
    stand.scratch.commit("foreign");
    // HEAD's tree is proved anew, and the slice head's own receipt holds too.
    let answer = stand.of_slice(&anchor, &basis, &slice_head);
    assert_eq!((answer.verdict, answer.related), (Verified, true));
    // A slice head that was never run.
    let empty = ["hash-object", "-w", "-t", "tree", "/dev/null"];
    let unproved = stand.scratch.git(&[
        "commit-tree",
        &stand.scratch.git(&empty),
        "-p",
        &basis,
        "-m",
        "x",
    ]);
    assert!(!stand.of_slice("test:works", &basis, &unproved).related);
    // The gate is no longer trusted: its old receipts are of another tree.
    stand.scratch.write("foreign.txt", "y");
    stand.scratch.commit("foreign again");
    std::fs::remove_file(stand.repo.cook_dir().unwrap().join("trust.json")).unwrap();
    stand.trust = Trust::of(&stand.repo).unwrap();
    assert_eq!(stand.of_slice(&anchor, &basis, &slice_head).verdict, Stale);
    assert_eq!(
        stand.of_slice("test:works", &basis, &slice_head).verdict,
        Stale
    );
}

#[test]
fn measure_answers_exactly_what_is_asked() {
    let mut stand = Stand::new();
    stand.config = Config::parse(
        "[gates.unit]\nrun = \"true\"\n[rules]\nprotected = [\"src/**\"]\nstrict = true\n",
    )
    .unwrap();
    let nothing = measure(&FactSet::default(), &stand.world()).unwrap();
    let only_now = cook_core::machine::Facts {
        now: nothing.now.clone(),
        untrusted: Some(BTreeSet::new()),
        ..Default::default()
    };
    assert_eq!(nothing, only_now);
    assert!(!stand.repo.common_dir().join("cook/receipts").exists());

    let head = stand.head();
    let basis = stand.scratch.git(&["rev-parse", "HEAD~1"]);
    let wanted = FactSet {
        brief: None,
        head: true,
        contract: true,
        existing_receipts_only: false,
        contract_committed: true,
        view: true,
        worktree: true,
        ranges: BTreeMap::from([(basis.clone(), None), ("nonsense".to_owned(), None)]),
        since: Some(basis.clone()),
        on_head: BTreeSet::from([basis.clone(), "feedfeed".to_owned()]),
        commit: Some(CommitQuestion {
            commit: head[..8].to_owned(),
            basis: basis.clone(),
            since: None,
            slice_id: "s-1".to_owned(),
            claimed: BTreeSet::new(),
            earlier_bases: Vec::new(),
            arrivals: Vec::new(),
            earlier: None,
        }),
        gates: Some(GateQuestion {
            commit: head.clone(),
            basis: basis.clone(),
            commands: vec!["false".to_owned()],
        }),
        anchors: BTreeSet::new(),
        rebound: None,
        own: None,
        committed: None,
        standing: None,
        survivals: BTreeMap::new(),
        stop_verifier: Some(Caches::Kept),
        room: true,
        trust: BTreeSet::from(["true".to_owned(), "false".to_owned()]),
        config: true,
    };
    stand.trust.trust("true").unwrap();
    let facts = measure(&wanted, &stand.world()).unwrap();
    assert_eq!(
        facts.head.as_ref().unwrap().commit.as_deref(),
        Some(head.as_str())
    );
    assert_eq!(facts.contract_missing.as_ref().unwrap().len(), 5);
    assert_eq!(facts.contract_uncommitted.as_ref().unwrap().len(), 5);
    assert_eq!(facts.outside_edits.as_deref(), Some(&[][..]));
    assert!(facts.worktree.as_ref().unwrap().is_clean());
    assert_eq!(facts.ranges[&basis].commits.len(), 1);
    assert!(facts.ranges[&basis].commits[0].paths.is_empty() && !facts.ranges["nonsense"].resolves);
    assert_eq!(
        facts.since.as_ref().unwrap().commits[0].paths,
        ["src/code.rs"]
    );
    assert!(facts.on_head[&basis] && !facts.on_head["feedfeed"]);
    // The settings given here are in no commit, which counts as a change of theirs.
    assert_eq!(
        facts.commit.as_ref().unwrap().protected,
        ["src/code.rs", ".agent/cook.toml"]
    );
    let gates = facts.gates.as_ref().unwrap();
    assert!(gates[0].gate.name == "unit" && gates[0].has_passed());
    assert!(
        gates[1].receipt.is_none()
            && gates[1]
                .problem
                .as_ref()
                .unwrap()
                .contains("cook trust false")
    );
    assert!(!facts.stop_verifier.as_ref().unwrap().has_passed());
    assert_eq!(facts.untrusted, Some(BTreeSet::from(["false".to_owned()])));
    assert!(facts.config.as_ref().unwrap().strict);
    // A retry in the same process does not run the gate again; another process does.
    let again = measure(&wanted, &stand.world()).unwrap();
    let id = |facts: &cook_core::machine::Facts| {
        facts.gates.as_ref().unwrap()[0].receipt.clone().unwrap().id
    };
    assert_eq!(id(&again), id(&facts));
    let missing = FactSet {
        gates: Some(GateQuestion {
            commit: "feedfeed".to_owned(),
            basis,
            commands: Vec::new(),
        }),
        ..FactSet::default()
    };
    let facts = measure(&missing, &stand.world()).unwrap();
    assert!(facts.gates.unwrap()[0].problem.is_some());
    let later = World {
        not_before: Some("2030-01-01T00:00:00Z"),
        ..stand.world()
    };
    assert_eq!(
        measure(&FactSet::default(), &later).unwrap().now,
        "2030-01-01T00:00:00Z"
    );
}
