//! An abstract repository: a small commit graph, and answers to exactly the
//! facts a decision asked for.
//!
//! HEAD and the graph are state; everything a command measures afresh each time
//! (dirt, edits, gates, proofs, trust) is a [`Mood`] chosen for each event.

use cook_protocol::machine::{
    AnchorAnswer, CommitFacts, CommitSeen, ConfigFacts, Facts, GateRun, Head, OutsideEdit, Range,
    StopVerifierRun, Verdict, Worktree, decide,
};
use cook_protocol::model::{
    CONTRACT_FILES, Caches, Count, EvidenceRecord, GateSpec, Gone, KeptProof, Limits, Place,
    Receipt, RoomCheck, SETTINGS_FILES, SandboxKind, Share, StrengthNote, UnnoticedDefect,
};
use cook_protocol::question::{AnchorQuestion, CommitQuestion, GateQuestion, Question, Required};
use cook_protocol::refusal::Refusal;
use cook_protocol::trials::{TrialLine, Weight, Word};
use std::collections::{BTreeMap, BTreeSet};

/// What a commit changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Touch {
    /// A surface of every slice.
    Surface,
    /// A path of nobody.
    Elsewhere,
    /// A contract file.
    Contract,
    /// Nothing.
    Nothing,
    /// Proofs of what was there before it do not hold any more as they did.
    Harm(Harm),
}

/// What a commit does to proofs that were accepted before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Harm {
    /// The work that they show is taken back.
    Lost,
    /// Tests are red.
    Red,
    /// Tests are red as they were accepted; they were changed with the code, and the commit declares it.
    Declared,
    /// Tests cannot be built as they were accepted.
    Unrunnable,
    /// Tests are gone, and pass as they were accepted.
    Unguarded,
    /// Texts are gone.
    Gone,
}

impl Harm {
    /// What a proof is worth after it; none where it is of another kind.
    fn verdict(self, is_text: bool) -> Option<Verdict> {
        match (self, is_text) {
            (Harm::Lost, _) | (Harm::Gone, true) | (Harm::Red | Harm::Declared, false) => {
                Some(Verdict::Missing)
            }
            (Harm::Unrunnable, false) => Some(Verdict::Unverifiable),
            (Harm::Unguarded, false) => Some(Verdict::Changed),
            _ => None,
        }
    }
}

/// An anchor at a text; the others are at a test.
pub fn is_text(anchor: &str) -> bool {
    !anchor.starts_with("test:")
}

impl Touch {
    fn path(self) -> Option<&'static str> {
        match self {
            Touch::Surface | Touch::Harm(_) => Some("src/lib.rs"),
            Touch::Elsewhere => Some("notes.txt"),
            Touch::Contract => Some(CONTRACT_FILES[0]),
            Touch::Nothing => None,
        }
    }
}

/// One commit; its index in the graph is its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Commit {
    pub parent: Option<usize>,
    pub slice: Option<&'static str>,
    pub touch: Touch,
    /// The commit that changed the same first: an amended or rebased one is another commit.
    pub change: usize,
    /// No longer in the object database.
    pub gone: bool,
}

/// The commit graph and HEAD.
#[derive(Debug, Clone, Default)]
pub struct World {
    pub commits: Vec<Commit>,
    pub head: Option<usize>,
    /// How often its history was rewritten.
    pub rewrites: usize,
    /// Commits that have the tree of another one.
    pub same: BTreeMap<usize, usize>,
}

/// `git status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dirt {
    Clean,
    /// A path on the slices' surface.
    Surface,
    /// A path of the user's own.
    User,
}

/// Where the contract files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Contract {
    Committed,
    Uncommitted,
    Missing,
    /// Committed, and the settings are not as the user left them.
    Edited,
}

/// Digests of the settings files.
pub fn settings(edited: bool) -> BTreeMap<String, String> {
    let digest = if edited { "edited" } else { "the user's" };
    BTreeMap::from([(SETTINGS_FILES[0].to_owned(), digest.to_owned())])
}

/// How gates end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gates {
    Green,
    Red,
    /// Only one that is not required is red.
    OptionalRed,
    /// Green, in the worktree.
    InWorktree,
    /// Green, with what earlier runs left.
    WithCaches,
    /// No receipt: it could not be started.
    NotStarted,
    /// There are none.
    None,
    /// Green, and red at the same tree before.
    ByChance,
    /// Green, with a planted defect too, where half of them must be noticed.
    Weak,
}

/// The share of planted defects that has to be noticed.
const HALF: Share = Share::of_thousandths(500);

/// What planted defects say of gates that notice none of two.
fn weak(commit: &str) -> StrengthNote {
    let defect = |id: &str| UnnoticedDefect {
        id: id.to_owned(),
        path: "a.rs".to_owned(),
        line: Count(1),
        what: "a condition is negated".to_owned(),
        diff: String::new(),
    };
    StrengthNote {
        commit: commit.to_owned(),
        required: Some(HALF),
        unnoticed: Count(2),
        defects: vec![defect("d1"), defect("d2")],
        ..StrengthNote::default()
    }
}

/// Everything that is measured afresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mood {
    pub dirt: Dirt,
    pub edited: bool,
    pub contract: Contract,
    pub other_branch: bool,
    pub gates: Gates,
    pub trusted: bool,
    /// What stored evidence is worth now.
    pub stored: Verdict,
    pub verifier: Gates,
}

impl Mood {
    /// Nothing is in the way.
    pub const GOOD: Mood = Mood {
        dirt: Dirt::Clean,
        edited: false,
        contract: Contract::Committed,
        other_branch: false,
        gates: Gates::Green,
        trusted: true,
        stored: Verdict::Verified,
        verifier: Gates::Green,
    };
}

/// Budgets, as `cook.toml` would set them.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    pub steps: u64,
    pub attempts: u64,
}

/// A commit's full id: 40 hexadecimal digits, different from the first two on.
pub fn id(commit: usize) -> String {
    format!("{commit:02x}").repeat(20)
}

/// The commit of an id, when it is one of ours.
pub fn find_commit(text: &str) -> Option<usize> {
    let index = usize::from_str_radix(text.get(..2)?, 16).ok()?;
    (text.len() == 40 && id(index) == text).then_some(index)
}

impl World {
    /// `length` commits, none of them a slice's.
    pub fn of_length(length: usize) -> Self {
        let mut world = World::default();
        for _ in 0..length {
            world.commit(None, Touch::Elsewhere);
        }
        world
    }

    /// Commits on HEAD.
    pub fn commit(&mut self, slice: Option<&'static str>, touch: Touch) -> usize {
        let index = self.commits.len();
        assert!(index < 256, "ids have two digits");
        self.commits.push(Commit {
            parent: self.head,
            slice,
            touch,
            change: index,
            gone: false,
        });
        self.head = Some(index);
        index
    }

    /// The same change on HEAD.
    fn commit_again(&mut self, old: usize) -> usize {
        let old = self.commits[old];
        let index = self.commit(old.slice, old.touch);
        self.commits[index].change = old.change;
        index
    }

    /// `git commit --amend`, the same change.
    pub fn amend(&mut self) -> bool {
        let Some(head) = self.head else { return false };
        self.rewrites += 1;
        self.head = self.commits[head].parent;
        self.commit_again(head);
        true
    }

    /// `git commit --amend` of the message alone, which no longer names a slice.
    pub fn reword(&mut self) -> bool {
        let Some(head) = self.head else { return false };
        self.amend();
        let new = self.head.expect("it was amended");
        self.commits[new].slice = None;
        let same = self.same.get(&head).copied();
        self.same.insert(new, same.unwrap_or(head));
        true
    }

    /// How often proofs came to harm.
    pub fn harms(&self) -> usize {
        let is_harm = |commit: &&Commit| matches!(commit.touch, Touch::Harm(_));
        self.commits.iter().filter(is_harm).count()
    }

    pub fn tree(&self, commit: usize) -> String {
        format!("tree-{}", self.same.get(&commit).unwrap_or(&commit))
    }

    /// Work and harm on the way to this commit, by what changed the same first.
    fn changes(&self, to: Option<usize>) -> BTreeMap<usize, Touch> {
        let chain = self.chain(to).into_iter().map(|at| self.commits[at]);
        chain
            .filter(|commit| matches!(commit.touch, Touch::Surface | Touch::Harm(_)))
            .map(|commit| (commit.change, commit.touch))
            .collect()
    }

    /// What came since a proof was accepted: work that was there then is not at HEAD, or a commit harms it.
    fn harms_since(&self, kept: &KeptProof) -> BTreeSet<Harm> {
        let then = self.changes(find_commit(&kept.head_sha));
        let now = self.changes(self.head);
        let is_lost = then.keys().any(|change| !now.contains_key(change));
        let since = now.iter().filter(|(change, _)| !then.contains_key(change));
        let done = since.filter_map(|(_, touch)| match touch {
            Touch::Harm(harm) => Some(*harm),
            _ => None,
        });
        done.chain(is_lost.then_some(Harm::Lost)).collect()
    }

    /// What a proof that was accepted is worth at HEAD, where it is run.
    pub fn worth(&self, record: &EvidenceRecord, mood: &Mood) -> Verdict {
        let is_text = is_text(&record.anchor);
        let harms = self.harms_since(&record.copy_kept());
        // The worst comes first.
        let mut found = harms.iter().filter_map(|harm| harm.verdict(is_text));
        found.next().unwrap_or(mood.stored)
    }

    /// `git reset --hard HEAD~`.
    pub fn rewind(&mut self) -> bool {
        let Some(parent) = self.head.and_then(|head| self.commits[head].parent) else {
            return false;
        };
        self.rewrites += 1;
        self.head = Some(parent);
        true
    }

    /// `git rebase` of everything above the root onto a new commit of somebody else's.
    pub fn rebase(&mut self) -> bool {
        let chain = self.chain(self.head);
        let Some((&root, rest)) = chain.split_first() else {
            return false;
        };
        if rest.is_empty() {
            return false;
        }
        let rest = rest.to_vec();
        self.rewrites += 1;
        self.head = Some(root);
        self.commit(None, Touch::Elsewhere);
        for commit in rest {
            self.commit_again(commit);
        }
        true
    }

    /// The history is replaced by another one, and the old objects are gone.
    pub fn replace(&mut self) {
        self.rewrites += 1;
        for commit in &mut self.commits {
            commit.gone = true;
        }
        self.head = None;
        self.commit(None, Touch::Elsewhere);
    }

    /// From the root to this commit.
    pub fn chain(&self, from: Option<usize>) -> Vec<usize> {
        let mut chain = Vec::new();
        let mut at = from;
        while let Some(index) = at {
            chain.push(index);
            at = self.commits[index].parent;
        }
        chain.reverse();
        chain
    }

    fn find(&self, text: &str) -> Option<usize> {
        let index = find_commit(text)?;
        self.commits
            .get(index)
            .is_some_and(|commit| !commit.gone)
            .then_some(index)
    }

    fn is_ancestor(&self, of: Option<usize>, candidate: usize) -> bool {
        self.chain(of).contains(&candidate)
    }

    /// Commits reachable from `to` and not from `from`, oldest first.
    fn between(&self, from: Option<usize>, to: Option<usize>) -> Vec<usize> {
        let known = self.chain(from);
        self.chain(to)
            .into_iter()
            .filter(|index| !known.contains(index))
            .collect()
    }

    fn paths(&self, commits: &[usize]) -> Vec<String> {
        let set: BTreeSet<&str> = commits
            .iter()
            .filter_map(|&index| self.commits[index].touch.path())
            .collect();
        set.into_iter().map(str::to_owned).collect()
    }

    pub fn head(&self, mood: &Mood, workflow_branch: Option<&str>) -> Head {
        let other = if workflow_branch == Some("side") {
            "main"
        } else {
            "side"
        };
        Head {
            commit: self.head.map(id),
            tree: self.head.map(|head| self.tree(head)),
            branch: if mood.other_branch {
                Some(other.to_owned())
            } else {
                workflow_branch.map(str::to_owned)
            },
        }
    }

    fn range(&self, from: &str, with_paths: bool) -> Range {
        let Some(index) = self.find(from) else {
            return Range {
                resolves: false,
                ancestor: false,
                merge_base: None,
                commits: Vec::new(),
            };
        };
        let ancestor = self.is_ancestor(self.head, index);
        let chain = self.chain(self.head);
        let merge_base = self
            .chain(Some(index))
            .into_iter()
            .rev()
            .find(|commit| chain.contains(commit))
            .filter(|_| !ancestor);
        Range {
            resolves: true,
            ancestor,
            merge_base: merge_base.map(id),
            commits: self
                .between(Some(index), self.head)
                .into_iter()
                .map(|index| CommitSeen {
                    id: id(index),
                    slice: self.commits[index].slice.map(str::to_owned),
                    paths: if with_paths {
                        self.paths(&[index])
                    } else {
                        Vec::new()
                    },
                })
                .collect(),
        }
    }

    fn find_reported(&self, question: &CommitQuestion) -> CommitFacts {
        let found = self.find(&question.commit);
        let basis = self.find(&question.basis);
        let Some(index) = found else {
            return CommitFacts {
                id: None,
                tree: None,
                on_head: false,
                after_basis: false,
                paths: Vec::new(),
                protected: Vec::new(),
                claimed: Vec::new(),
                merged: Vec::new(),
                is_earlier: false,
            };
        };
        let since = question.since.as_deref().and_then(|text| self.find(text));
        let own = self.between(basis, Some(index));
        let paths = self.paths(&own);
        CommitFacts {
            id: Some(id(index)),
            tree: Some(self.tree(index)),
            on_head: self.is_ancestor(self.head, index),
            after_basis: basis
                .is_some_and(|basis| basis != index && self.is_ancestor(Some(index), basis)),
            protected: paths
                .iter()
                .filter(|path| CONTRACT_FILES.contains(&path.as_str()))
                .cloned()
                .collect(),
            paths,
            claimed: match since {
                Some(_) => self.between(since, Some(index)),
                None => vec![index],
            }
            .into_iter()
            .map(id)
            .collect(),
            merged: Vec::new(),
            is_earlier: since.is_some_and(|since| self.is_ancestor(Some(since), index))
                && !question.claimed.contains(&id(index))
                && own.iter().all(|own| {
                    self.commits[*own].slice != Some(&question.slice_id)
                        || question.claimed.contains(&id(*own))
                }),
        }
    }

    fn receipt(&self, command: &str, exit: i32, place: Place) -> Receipt {
        Receipt {
            command: command.to_owned(),
            argv: vec![command.to_owned()],
            cwd: ".".to_owned(),
            exit_code: Some(exit),
            timed_out: false,
            duration_ms: Count(1),
            stdout_sha256: "out".to_owned(),
            stderr_sha256: "err".to_owned(),
            outcomes_sha256: None,
            tail: "the last line".to_owned(),
            head_sha: self.head.map(id),
            tree_oid: self.head.map(|head| self.tree(head)),
            scope_sha256: None,
            place,
            caches: Caches::Empty,
            sandbox: SandboxKind::None,
            program: None,
            preparation_sha256: "settings".to_owned(),
            dropped_env: Vec::new(),
            started_at: "2030-01-01T00:00:00Z".into(),
            id: format!("receipt-{command}-{exit}"),
        }
    }

    fn gates(&self, mood: &Mood) -> Vec<GateRun> {
        let exit = i32::from(mood.gates == Gates::Red);
        let spec = |name: &str, required| GateSpec {
            name: name.to_owned(),
            run: name.to_owned(),
            timeout_ms: 1000,
            required,
            must_fail_at_basis: Gone,
            network: false,
            place: Place::CleanRoom,
            dir: String::new(),
            paths: Vec::new(),
        };
        let started = mood.gates != Gates::NotStarted;
        let mut runs = vec![GateRun {
            gate: spec("test", true),
            receipt: started.then(|| self.receipt("test", exit, Place::CleanRoom)),
            problem: (!started).then(|| "no such program".to_owned()),
            remarks: Vec::new(),
            at_basis: Gone,
            failed: Vec::new(),
        }];
        match mood.gates {
            Gates::OptionalRed => runs.push(GateRun {
                gate: spec("lint", false),
                receipt: Some(self.receipt("lint", 1, Place::CleanRoom)),
                problem: None,
                remarks: Vec::new(),
                at_basis: Gone,
                failed: Vec::new(),
            }),
            Gates::None => runs.clear(),
            _ => {}
        }
        runs
    }

    fn anchor(&self, question: &AnchorQuestion, mood: &Mood, runs: bool) -> AnchorAnswer {
        let mut words = question.anchor.trim_start_matches("test:").split(':');
        let kind = words.next().unwrap_or_default();
        let is_text = is_text(&question.anchor);
        let harms = match &question.required {
            Required::Accepted(kept) => self.harms_since(kept),
            _ => BTreeSet::new(),
        };
        let mut harmed = harms.iter().filter_map(|harm| harm.verdict(is_text));
        let verdict = match (kind, harmed.next(), &question.required) {
            ("bad", ..) => Verdict::Unverifiable,
            ("gone", ..) => Verdict::Missing,
            ("odd", ..) => Verdict::Malformed,
            (_, Some(_), _) if !is_text && !runs => Verdict::Stale,
            (_, Some(harmed), _) => harmed,
            (_, None, Required::Accepted(_)) => mood.stored,
            _ => Verdict::Verified,
        };
        let is_declared = verdict == Verdict::Missing && harms == [Harm::Declared].into();
        let is_run = !is_text && kind != "unrelated";
        let has_run = is_run && matches!(verdict, Verdict::Verified | Verdict::Missing);
        AnchorAnswer {
            verdict,
            why: format!("{verdict:?}"),
            now: (verdict == Verdict::Moved || is_declared).then(|| question.anchor.clone()),
            receipt: has_run.then(|| "a receipt".to_owned()),
            target: match kind {
                "shared" => "one place".to_owned(),
                // Ranges that begin at different lines and overlap.
                "overlap" => format!(
                    "a.rs#{}-9",
                    question.anchor.len() % 7 + question.anchor.ends_with('2') as usize
                ),
                _ => question.anchor.clone(),
            },
            is_new: kind != "old",
            text: is_text.then(|| vec![question.anchor.clone()]),
            tests: is_run.then(|| "tests".to_owned()),
        }
    }

    /// The tests that a slice's own commits changed, as its report declares them.
    fn trials(&self, question: &GateQuestion) -> Vec<TrialLine> {
        let own = self.between(self.find(&question.basis), self.find(&question.commit));
        let mut own = own.into_iter().map(|at| self.commits[at]);
        let is_declared = own.any(|commit| commit.touch == Touch::Harm(Harm::Declared));
        let tests = ["good:a:a1", "good:a:a2"]
            .into_iter()
            .filter(|_| is_declared);
        let line = |name: &str| TrialLine {
            word: Word::PassToFail,
            weight: Weight::Shown,
            name: name.to_owned(),
            what: format!("`{name}` asks for something else"),
            show: String::new(),
            file: None,
            declared: Some("the format changed".to_owned()),
        };
        tests.map(line).collect()
    }

    /// Has rules decide by what is so here.
    pub fn decide<T>(
        &self,
        at: &Moment,
        facts: &mut Facts,
        rules: impl Fn(&Facts) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        facts.now = "2030-01-01T00:00:00Z".to_owned();
        let measure = |question: &Question, facts: &mut Facts| {
            self.answer(at, question, facts);
            Ok(())
        };
        decide(facts, measure, rules)
    }

    /// Answers one question.
    pub fn answer(&self, at: &Moment, question: &Question, facts: &mut Facts) {
        let mood = at.mood;
        match question {
            Question::Head => facts.head = Some(self.head(mood, at.workflow_branch)),
            Question::Contract => {
                facts.contract_missing = Some(match mood.contract {
                    Contract::Missing => vec![CONTRACT_FILES[0].to_owned()],
                    _ => Vec::new(),
                });
                facts.settings = Some(settings(mood.contract == Contract::Edited));
            }
            // That the stop verifier is out of date is told to whoever selects, and decides nothing.
            Question::ContractCommitted => {
                facts.contract_uncommitted = Some(match mood.contract {
                    Contract::Committed | Contract::Edited => Vec::new(),
                    _ => vec![CONTRACT_FILES[0].to_owned()],
                });
            }
            Question::View => {
                let edited = mood.edited.then(|| OutsideEdit {
                    file: "state.json".to_owned(),
                    fields: vec!["project_done".to_owned()],
                    missing: false,
                });
                facts.outside_edits = Some(edited.into_iter().collect());
            }
            Question::Worktree { .. } => facts.worktree = Some(status(mood.dirt)),
            Question::Range(from) => {
                facts.ranges.insert(from.clone(), self.range(from, false));
            }
            Question::Since(from) => facts.since = Some(self.range(from, true)),
            Question::OnHead(text) => {
                let found = self.find(text);
                let on = found.is_some_and(|index| self.is_ancestor(self.head, index));
                facts.on_head.insert(text.clone(), on);
            }
            Question::Commit(question) => facts.commit = Some(self.find_reported(question)),
            Question::Gates(question) => {
                facts.gates = Some(self.gates(mood));
                facts.strength = (mood.gates == Gates::Weak).then(|| weak(&question.commit));
                facts.trials = self.trials(question);
            }
            Question::Anchors { asked, .. } => {
                let answer = |question: &AnchorQuestion| {
                    (question.key(), self.anchor(question, mood, at.runs))
                };
                facts.anchors.extend(asked.iter().map(answer));
            }
            // No gate is run for what stands.
            Question::Standing { seen, anchors } => {
                let moved = self.head.map(id).as_ref() != Some(seen);
                let asked = anchors.iter().filter(|_| moved);
                let answer = |question: &AnchorQuestion| {
                    (question.key(), self.anchor(question, mood, false))
                };
                facts.standing = asked.map(answer).collect();
            }
            // Its workflows have no brief; what changes one is tested by itself.
            Question::Brief(_) => facts.brief = Some(Default::default()),
            Question::Room => {
                facts.room = self.head.map(|head| RoomCheck {
                    tree: self.tree(head),
                    red: match mood.verifier {
                        Gates::Red => vec!["`test` ended with 1".to_owned()],
                        _ => Vec::new(),
                    },
                    remarks: match mood.verifier {
                        Gates::ByChance => vec!["`test` was red and green".to_owned()],
                        _ => Vec::new(),
                    },
                });
            }
            Question::StopVerifier(_) => facts.stop_verifier = Some(self.stop_verifier(mood)),
            Question::Trust(commands) => {
                let untrusted = commands.iter().filter(|_| !mood.trusted);
                let known = facts.untrusted.get_or_insert_default();
                known.extend(untrusted.cloned());
            }
            Question::Config => {
                facts.config = Some(ConfigFacts {
                    limits: Limits {
                        attempts_per_slice: Some(at.budget.attempts),
                        steps: Some(at.budget.steps),
                        ..Limits::default()
                    },
                    strength: (mood.gates == Gates::Weak).then_some(HALF),
                    ..ConfigFacts::default()
                });
            }
            Question::Goal(_) => unreachable!("its workflows have no goal"),
        }
    }

    fn stop_verifier(&self, mood: &Mood) -> StopVerifierRun {
        match mood.verifier {
            Gates::NotStarted => StopVerifierRun {
                receipt: None,
                problem: Some("no bash".to_owned()),
                remarks: Vec::new(),
            },
            other => {
                let place = match other {
                    Gates::InWorktree => Place::Worktree,
                    _ => Place::CleanRoom,
                };
                let mut receipt = self.receipt("stop", i32::from(other == Gates::Red), place);
                if other == Gates::WithCaches {
                    receipt.caches = Caches::Kept;
                }
                StopVerifierRun {
                    receipt: Some(receipt),
                    problem: None,
                    remarks: match other {
                        Gates::ByChance => vec!["the script was red and green".to_owned()],
                        _ => Vec::new(),
                    },
                }
            }
        }
    }
}

/// What a decision is made in, beside the commits.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    pub mood: &'a Mood,
    pub budget: &'a Budget,
    pub workflow_branch: Option<&'a str>,
    /// Gates may run for anchors.
    pub runs: bool,
}

fn status(dirt: Dirt) -> Worktree {
    let dirty: Vec<String> = match dirt {
        Dirt::Clean => Vec::new(),
        Dirt::Surface => vec!["src/lib.rs".to_owned()],
        Dirt::User => vec!["notes.txt".to_owned()],
    };
    Worktree {
        digest: format!("{dirt:?}"),
        dirty,
        more: 0,
        unwatched: Vec::new(),
    }
}
