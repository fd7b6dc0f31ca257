//! A finished log in which one thing was changed and everything was hashed again: git finds nothing,
//! `cook verify` names it.

use crate::support::store::{Fixture, WAIT};
use crate::support::workflow::store;
use crate::support::{Repo, run};
use crate::verify::job::{codes, make_finished};
use cook_protocol::machine::{self, Facts};
use cook_protocol::model::{CitedExchange, Event, ReportRecord, RubricVerdict, Snapshot};
use cook_protocol::report::{self, Provenance, Reported};
use cook_repo::store::{Store, Transition};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The demonstration's log: its reports came out of sessions, which it keeps.
fn demo() -> Repo {
    Repo::stage("a finished demonstration", || {
        let repo = Repo::directory();
        repo.cook(&["demo", "--dir", "."]).ok();
        repo
    })
}

pub struct Forger<'a> {
    repo: &'a Repo,
    log: PathBuf,
}

impl<'a> Forger<'a> {
    pub fn new(repo: &'a Repo) -> Self {
        let log = repo.root.join(".git/cook/log.git");
        Self { repo, log }
    }

    pub fn git(&self, args: &[&str], input: &[u8]) -> String {
        let mut command = self.repo.command("git");
        command.arg("--git-dir").arg(&self.log).args(args);
        run(command, input)
            .ok()
            .out
            .trim_end_matches('\n')
            .to_owned()
    }

    pub fn branch(&self) -> String {
        self.git(&["for-each-ref", "--format=%(refname)", "refs/heads/"], b"")
    }

    /// The first file of the chain that a change applies to is changed, and what comes after it is
    /// made anew; `None` drops the transition. In this process: git would be started for each file.
    pub fn forge(&self, change: impl Fn(&str, &str) -> Option<Option<String>>) {
        let log = git2::Repository::open_bare(&self.log).unwrap();
        let odb = log.odb().unwrap();
        let branch = self.branch();
        let mut walk = log.revwalk().unwrap();
        walk.push_ref(&branch).unwrap();
        let mut chain: Vec<git2::Oid> = walk.map(Result::unwrap).collect();
        chain.reverse();
        let mut parent: Option<git2::Oid> = None;
        let mut done = false;
        for id in chain {
            let mut tree = log.find_commit(id).unwrap().tree().unwrap();
            if !done {
                let found = files(&log, &tree)
                    .into_iter()
                    .find_map(|(file, text)| Some((change(&file, &text)?, file)));
                done = found.is_some();
                match found {
                    None => {}
                    Some((None, _)) => continue,
                    Some((Some(new), file)) => {
                        let blob = log.blob(format!("{new}\n").as_bytes()).unwrap();
                        let mut update = git2::build::TreeUpdateBuilder::new();
                        update.upsert(file, blob, git2::FileMode::Blob);
                        let changed = update.create_updated(&log, &tree).unwrap();
                        tree = log.find_tree(changed).unwrap();
                    }
                }
            }
            let raw = String::from_utf8(odb.read(id).unwrap().data().to_vec()).unwrap();
            let (head, message) = raw.split_once("\n\n").unwrap();
            let mut lines = vec![format!("tree {}", tree.id())];
            lines.extend(parent.iter().map(|parent| format!("parent {parent}")));
            let rest = head
                .lines()
                .filter(|line| !line.starts_with("tree ") && !line.starts_with("parent "));
            lines.extend(rest.map(str::to_owned));
            let made = format!("{}\n\n{message}", lines.join("\n"));
            parent = Some(
                odb.write(git2::ObjectType::Commit, made.as_bytes())
                    .unwrap(),
            );
        }
        assert!(done, "nothing was changed");
        log.reference(&branch, parent.unwrap(), true, "").unwrap();
        self.git(&["fsck", "--strict"], b"");
        // The view follows, as it would in a clone.
        let _ = std::fs::remove_file(self.repo.root.join(".git/cook-checkout.json"));
    }
}

/// Paths and texts of a tree, in git's order.
fn files(log: &git2::Repository, tree: &git2::Tree) -> Vec<(String, String)> {
    let mut files = Vec::new();
    tree.walk(git2::TreeWalkMode::PreOrder, |folder, entry| {
        if let Ok(blob) = entry.to_object(log).unwrap().into_blob() {
            let text = String::from_utf8_lossy(blob.content());
            let text = text.trim_end_matches('\n').to_owned();
            files.push((format!("{folder}{}", entry.name().unwrap()), text));
        }
        git2::TreeWalkResult::Ok
    })
    .unwrap();
    files
}

pub type Change = fn(&str, &str) -> Option<Option<String>>;

pub fn replace_once(text: &str, from: &str, to: &str) -> Option<Option<String>> {
    text.contains(from)
        .then(|| Some(text.replacen(from, to, 1)))
}

pub fn of(file: &str, event: &str, text: &str) -> bool {
    file == "event.json" && text.contains(&format!("\"event\": \"{event}\""))
}

/// What is changed, and the code that names it.
const CHANGES: [(&str, Change, &str); 16] = [
    (
        "a vote",
        |file, text| {
            of(file, "judged", text)
                .then(|| replace_once(text, "\"positive\": false", "\"positive\": true"))
                .flatten()
        },
        "log_not_derivable",
    ),
    (
        "a vote of the histories",
        |file, text| {
            file.ends_with("stop-check-history.jsonl")
                .then(|| replace_once(text, "\"can_stop\":false", "\"can_stop\":true"))
                .flatten()
        },
        "log_not_derivable",
    ),
    (
        "a vote of the ledger",
        |file, text| {
            (file == "ledger.json")
                .then(|| replace_once(text, "\"can_stop\": false", "\"can_stop\": true"))
                .flatten()
        },
        "log_not_derivable",
    ),
    (
        "a receipt",
        |file, text| {
            file.starts_with("receipts/")
                .then(|| replace_once(text, "\"exit_code\": 0", "\"exit_code\": 1"))
                .flatten()
        },
        "log_not_derivable",
    ),
    (
        "a receipt of the facts",
        |file, text| {
            of(file, "implemented", text)
                .then(|| replace_once(text, "\"exit_code\": 0", "\"exit_code\": 1"))
                .flatten()
        },
        "log_not_derivable",
    ),
    (
        "a receipt's output",
        |file, text| {
            of(file, "implemented", text)
                .then(|| replace_once(text, "\"tail\": \"", "\"tail\": \"x"))
                .flatten()
        },
        "log_not_derivable",
    ),
    (
        "a criterion",
        |file, text| {
            (file == "plan.json")
                .then(|| {
                    replace_once(
                        text,
                        "every number from 1 to 3999",
                        "every number from 1 to 3",
                    )
                })
                .flatten()
        },
        "log_not_derivable",
    ),
    (
        "an anchor",
        |file, text| {
            (file == "plan.json")
                .then(|| {
                    replace_once(
                        text,
                        "test:0 is an error",
                        "test:1994 needs nearly every numeral",
                    )
                })
                .flatten()
        },
        "log_not_derivable",
    ),
    (
        "a report",
        |file, text| {
            of(file, "reviewed", text)
                .then(|| replace_once(text, "\"report_sha256\": \"", "\"report_sha256\": \"0"))
                .flatten()
        },
        "log_not_derivable",
    ),
    (
        "a count of a verdict",
        |file, text| {
            of(file, "reviewed", text)
                .then(|| replace_once(text, "\"blocker_count\": 0", "\"blocker_count\": 5"))
                .flatten()
        },
        "log_not_derivable",
    ),
    (
        "what a re-ground says",
        |file, text| {
            let word = "\"canonical_re_ground_applied\": \"yes";
            of(file, "regrounded", text)
                .then(|| replace_once(text, word, &word.replace("yes", "maybe")))
                .flatten()
        },
        "log_not_derivable",
    ),
    (
        "a commit beside the report",
        |file, text| {
            of(file, "implemented", text)
                .then(|| replace_once(text, "\"commit\": \"", "\"commit\": \"0"))
                .flatten()
        },
        "log_not_derivable",
    ),
    (
        "a fact",
        |file, text| {
            of(file, "reviewed", text)
                .then(|| replace_once(text, "\"branch\": \"main\"", "\"branch\": \"other\""))
                .flatten()
        },
        "log_not_derivable",
    ),
    (
        "an exchange",
        |file, text| {
            (file.starts_with("exchanges/") && text.contains("Findings:"))
                .then(|| replace_once(text, "Findings: ", "Findings: not "))
                .flatten()
        },
        "record_not_recomputable",
    ),
    (
        "an exchange that is none",
        |file, _| {
            file.starts_with("exchanges/ex_")
                .then(|| Some("{}\n".to_owned()))
        },
        "record_not_recomputable",
    ),
    (
        "a transition",
        |file, text| of(file, "judged", text).then_some(None),
        "log_not_derivable",
    ),
];

#[test]
fn one_thing_changed_in_a_log_that_was_hashed_again_is_named() {
    for (what, change, code) in CHANGES {
        let repo = demo();
        repo.cook(&["verify"]).ok();
        Forger::new(&repo).forge(change);
        let run = repo.cook(&["verify", "--json"]).exits(1);
        assert!(
            codes(&run).contains(&code.to_owned()),
            "{what}: {}",
            run.out
        );
        let run = repo
            .cook(&["verify", "slice", "numerals", "--json"])
            .exits(1);
        assert!(
            codes(&run).contains(&code.to_owned()),
            "{what}: {}",
            run.out
        );
    }
}

/// Writes the whole log anew, with other events: what follows from them is derived, so it replays.
pub fn write_anew(repo: &Repo, mut change: impl FnMut(&mut Event, &mut Facts) -> bool) {
    let from = store(&repo.root).unwrap();
    let mut cited: BTreeMap<u64, Vec<CitedExchange>> = BTreeMap::new();
    from.each_cited_exchange(None, |_, seq, _, one| {
        cited.entry(seq).or_default().push(one.unwrap().clone());
        Ok(())
    })
    .unwrap();
    let (fixture, mut changed) = (Fixture::new(), false);
    let to = Store::create(fixture.place()).unwrap();
    let mut before: Option<Snapshot> = None;
    let mut parent = None;
    for seq in 1..=from.tip().unwrap().unwrap().seq {
        let mut entry = from.entry(&seq.to_string()).unwrap();
        changed |= change(&mut entry.event, &mut entry.facts);
        let step = machine::apply(before.as_ref(), &entry.facts, &entry.event, entry.actor);
        let step = step.unwrap_or_else(|why| panic!("transition {seq}: {why}"));
        let transition = Transition {
            parent: parent.take(),
            event: entry.event,
            facts: entry.facts,
            actor: entry.actor,
            rule: step.rule.id().to_owned(),
            subject: entry.subject,
            snapshot: step.snapshot.clone(),
            records: step.records,
            receipts: entry.receipts,
            exchanges: cited.remove(&seq).unwrap_or_default(),
            tests: Vec::new(),
            lease_epoch: entry.lease_epoch,
            displace: false,
        };
        let locked = to.lock(WAIT).unwrap().recover().unwrap();
        let staged = locked.stage(transition).unwrap();
        parent = Some(staged.commit(None, |_| Ok(())).unwrap().tip);
        before = Some(step.snapshot);
    }
    assert!(changed, "nothing was changed");
    let forger = Forger::new(repo);
    let log = fixture.log("");
    let refspec = format!("+refs/heads/{}:{}", to.id(), forger.branch());
    forger.git(&["fetch", "-q", log.to_str().unwrap(), &refspec], b"");
    let _ = std::fs::remove_file(repo.root.join(".git/cook-checkout.json"));
}

/// The judges did not do the work: where the log names the sessions, one that did is named.
#[test]
fn a_session_that_did_the_work_and_judges_it_is_named() {
    for judges in [&["reviewed"][..], &["audited"], &["judged"]] {
        let repo = make_finished();
        let mut left = judges.len();
        let mut implemented = false;
        write_anew(&repo, |event, _| {
            let mut value = serde_json::to_value(&*event).unwrap();
            let name = value["event"].as_str().unwrap_or_default().to_owned();
            let is_judge = implemented && left > 0 && judges.contains(&name.as_str());
            if !(is_judge || name == "implemented") {
                return false;
            }
            implemented = true;
            left -= usize::from(is_judge);
            value["submission"]["session"] = "the-builder".into();
            *event = serde_json::from_value(value).unwrap();
            true
        });
        let found = codes(&repo.cook(&["verify", "--json"]).exits(1));
        let named: Vec<&String> = found
            .iter()
            .filter(|code| *code == "judge_not_independent")
            .collect();
        assert_eq!(named.len(), 1, "{judges:?}: {found:?}");
        assert!(
            !found.contains(&"log_not_derivable".to_owned()),
            "{found:?}"
        );
    }
}

/// Everything that follows from the other vote was derived as cook would: replay finds nothing, the
/// session behind the vote does.
#[test]
fn a_log_written_anew_from_another_vote_is_named_by_the_session_of_the_judge() {
    let repo = demo();
    write_anew(&repo, |_, _| true);
    let run = repo.cook(&["verify", "--json"]);
    let found = codes(&run);
    assert!(
        !found.contains(&"log_not_derivable".to_owned()),
        "{}",
        run.out
    );
    assert!(
        !found.contains(&"record_not_recomputable".to_owned()),
        "{}",
        run.out
    );

    for (what, change) in FORGERIES {
        let repo = demo();
        write_anew(&repo, |event, _| change(event));
        let run = repo.cook(&["verify", "--json"]).exits(1);
        let found = codes(&run);
        assert!(
            !found.contains(&"log_not_derivable".to_owned()),
            "{what}: {}",
            run.out
        );
        assert!(
            found.contains(&"record_not_recomputable".to_owned()),
            "{what}: {}",
            run.out
        );
    }
}

type Forge = fn(&mut Event) -> bool;

const FORGERIES: [(&str, Forge); 2] = [
    ("a vote", |event| match event {
        Event::Judged { verdicts, .. } if !verdicts.positive => {
            forge_report(event, |report| {
                let mut set = |key: &str, value: &str| {
                    report.fields.insert(key.to_owned(), value.to_owned());
                };
                set("can_the_project_stop_now", "yes");
                set("blocker_count", "0");
                set("high_value_gap_count", "0");
                set("docs_config_runbooks_match_shipped_behavior", "yes");
                for entry in report.rubric.iter_mut().flatten() {
                    entry.1.verdict = RubricVerdict::Pass;
                }
            });
            true
        }
        _ => false,
    }),
    ("a review", |event| match event {
        Event::Reviewed { verdicts, .. } if verdicts.positive => {
            forge_report(event, |report| {
                let key = "findings".to_owned();
                report.fields.insert(key, "nothing at all".to_owned());
            });
            true
        }
        _ => false,
    }),
];

/// The event that follows from another report.
fn forge_report(event: &mut Event, change: impl FnOnce(&mut ReportRecord)) {
    let submission = event.submission().unwrap().clone();
    let mut record = submission.report.clone();
    change(&mut record);
    let json = serde_json::to_string(&record.fields).unwrap();
    let mut fields: serde_json::Value = serde_json::from_str(&json).unwrap();
    fields["rubric"] = serde_json::to_value(&record.rubric).unwrap();
    let parsed = report::parse(record.role, fields.to_string().as_bytes());
    let Some(report) = parsed.report else {
        panic!("{:?}", parsed.findings);
    };
    match report::event(&report, Provenance::of(&submission)) {
        Reported::Event(made) => *event = *made,
        Reported::Nothing => unreachable!("it is an event"),
    }
}

pub type Untruth = fn(&mut Event, &mut Facts) -> bool;

/// What git was said to answer, and did not.
pub const UNTRUE: [(&str, Untruth); 7] = [
    ("a gate that need not pass", |event, facts| {
        let gates = facts.gates.as_mut();
        let gates = gates.filter(|_| matches!(event, Event::Implemented { .. }));
        let run = gates.and_then(|gates| gates.first_mut());
        run.map(|run| run.gate.required = !run.gate.required)
            .is_some()
    }),
    ("the paths of a commit", |_, facts| {
        let commit = facts.commit.as_mut();
        commit.is_some_and(|commit| commit.paths.pop().is_some())
    }),
    ("the commits of a session", |_, facts| {
        let commit = facts.commit.as_mut();
        let claimed = commit.map(|commit| commit.claimed.push("0".repeat(40)));
        claimed.is_some()
    }),
    ("proof that was there before", |event, facts| {
        // What a command did then is not asked again.
        let places = facts.anchors.iter_mut();
        let mut places = places.filter(|(key, _)| key.contains("code.txt:2-3"));
        let place = places.next();
        let place = place.filter(|_| matches!(event, Event::Regrounded { .. }));
        place
            .map(|(_, answer)| answer.is_new = !answer.is_new)
            .is_some()
    }),
    ("a tree", |event, facts| {
        let head = facts.head.as_mut();
        let tree = head.and_then(|head| head.tree.as_mut());
        let tree = tree.filter(|_| matches!(event, Event::Reviewed { .. }));
        tree.map(|tree| *tree = "0".repeat(40)).is_some()
    }),
    ("the commits of a slice", |event, facts| {
        let since = facts.since.as_mut();
        let since = since.filter(|_| matches!(event, Event::Implemented { .. }));
        let seen = since.and_then(|since| since.commits.first_mut());
        seen.map(|seen| seen.paths.push("more.txt".to_owned()))
            .is_some()
    }),
    ("a place that the slice did not write", |event, facts| {
        // The first line was there before.
        let anchors = std::mem::take(&mut facts.anchors).into_iter();
        facts.anchors = anchors
            .map(|(key, answer)| (key.replace("code.txt:2-3", "code.txt:1"), answer))
            .collect();
        let Event::Regrounded { block, .. } = event else {
            return false;
        };
        let mut claims = block.evidence.iter_mut();
        let Some(claim) = claims.find(|claim| claim.anchor == "code.txt:2-3") else {
            return false;
        };
        claim.anchor = "code.txt:1".to_owned();
        true
    }),
];

/// Replay believes facts. What git answered then it answers again.
#[test]
fn facts_that_git_contradicts_are_named() {
    for (what, change) in UNTRUE {
        let repo = make_finished();
        write_anew(&repo, change);
        let run = repo.cook(&["verify", "--json"]);
        let found = codes(&run);
        assert!(
            found.contains(&"facts_contradicted".to_owned()),
            "{what}: {}",
            run.out
        );
        assert!(
            !found.contains(&"log_not_derivable".to_owned()),
            "{what}: {}",
            run.out
        );
    }
}
