//! Facts of transitions that git answered, compared with what git answers now.
//!
//! A fact that was measured outside of git (a gate, the trust of a machine, an uncommitted file) cannot be checked
//! again, nor can one about commits or files that this clone does not hold. If a slice was accepted by such a fact,
//! that is reported.

use super::criterion_proof::{Kind, find_kind};
use crate::anchor::Anchor;
use crate::init::SETTINGS;
use crate::measure::read_settings_at;
use crate::prelude::*;
use crate::workspace::Workspace;
use cook_protocol::machine::{
    CommitFacts, MAX_PATHS, Range, Verdict, ask_commit, follow, list_questions, mark,
};
use cook_protocol::question::CommitQuestion;
use std::collections::btree_map::Entry as Place;

/// The questions of the rules that git can answer again.
#[derive(Default)]
struct Asked {
    since: Option<String>,
    commit: Option<CommitQuestion>,
    anchors: BTreeSet<AnchorQuestion>,
}

/// Checks the facts of one transition after the other.
pub(super) struct Again<'a> {
    workspace: &'a Workspace,
    /// Whether commits may lack their history.
    is_shallow: bool,
    /// Whether commits may lack their files.
    is_partial: bool,
    /// Heads and bases of accepted slices, and the commits at which their proof was recorded.
    accepted: BTreeSet<String>,
    /// The transitions that accepted slices.
    acceptances: BTreeSet<u64>,
    /// Commits whose files are known to be complete in this clone.
    whole: BTreeSet<String>,
    ranges: BTreeMap<(String, String, bool), Range>,
    /// Settings that were read, by the mode and id of the file that holds them.
    settings: BTreeMap<Option<(String, String)>, Option<Config>>,
    /// Number of transitions that were checked.
    pub compared: u64,
    /// Transitions that accepted a slice but could not be checked: their number, the last one, and the reason.
    unasked: Option<(u64, u64, String)>,
}

impl<'a> Again<'a> {
    pub fn new(workspace: &'a Workspace) -> Result<Self> {
        let repo = &workspace.repo;
        let (_, snapshot) = workspace.current()?;
        Ok(Self {
            workspace,
            is_shallow: repo.is_shallow(),
            is_partial: repo.promisor()?.is_some(),
            accepted: snapshot.iter().flat_map(list_accepted).collect(),
            acceptances: snapshot.iter().flat_map(list_acceptances).collect(),
            whole: BTreeSet::new(),
            ranges: BTreeMap::new(),
            settings: BTreeMap::new(),
            compared: 0,
            unasked: None,
        })
    }

    /// Describes what git contradicts in the facts of a transition.
    pub fn contradiction(
        &mut self,
        seq: u64,
        before: Option<&Snapshot>,
        event: &Event,
        facts: &Facts,
    ) -> Result<Option<String>> {
        let Some(head) = &facts.head else {
            return Ok(None);
        };
        let Some(commit) = &head.commit else {
            return Ok(None);
        };
        let followed = before.map(|before| follow(before, facts));
        let asked = followed
            .as_deref()
            .map_or_else(Asked::default, |before| Asked {
                since: match before.goal() {
                    Some(_) => before.ledger.head_seen.clone(),
                    None => mark(before).cloned(),
                },
                commit: ask_commit(before, event),
                anchors: list_questions(before, event),
            });
        let reported = facts.commit.as_ref().and_then(|commit| commit.id.as_ref());
        let lacking = self.find_lacking(commit, facts, &asked)?;
        let is_lacking = lacking.is_some();
        let why = match (lacking, reported) {
            (None, Some(reported)) if self.find_tree(reported)?.is_none() => {
                Some(not_here(reported))
            }
            (lacking, _) => lacking,
        };
        // A done slice depends on these facts: they accepted one, or report the commit that was accepted.
        let is_decisive = self.acceptances.contains(&seq)
            || reported.is_some_and(|reported| self.accepted.contains(reported));
        match why {
            Some(why) if is_decisive => self.note_unasked(seq, why),
            Some(_) => {}
            None => self.compared += 1,
        }
        if let Some(tree) = self.find_tree(commit)?
            && head.tree.as_ref().is_some_and(|said| *said != tree)
        {
            return Ok(Some(format!("the tree of {} is {tree}", short(commit))));
        }
        if is_lacking {
            return Ok(None);
        }
        let since = asked.since.as_ref().zip(facts.since.as_ref());
        let since = since.map(|(from, said)| (from, said, true));
        let ranges = facts.ranges.iter().map(|(from, said)| (from, said, false));
        for (from, said, with_paths) in ranges.chain(since) {
            if let Some(what) = self.range(head, commit, from, said, with_paths)? {
                return Ok(Some(what));
            }
        }
        let Some(before) = followed.as_deref() else {
            return Ok(None);
        };
        if let Some(what) = self.contradict_commit(before, head, facts, &asked)? {
            return Ok(Some(what));
        }
        self.anchors(seq, before, head, facts, &asked.anchors)
    }

    fn note_unasked(&mut self, seq: u64, why: String) {
        let (count, ..) = self.unasked.take().unwrap_or_default();
        self.unasked = Some((count + 1, seq, why));
    }

    /// Describes what this clone lacks to check a commit; `None` if nothing. For a remote's log, objects that a partial
    /// clone lacks are fetched.
    fn find_lacking(
        &mut self,
        commit: &str,
        facts: &Facts,
        asked: &Asked,
    ) -> Result<Option<String>> {
        if self.find_tree(commit)?.is_none() {
            return Ok(Some(not_here(commit)));
        }
        if self.is_shallow {
            return Ok(Some("history is shallow".to_owned()));
        }
        if !self.is_partial {
            return Ok(None);
        }
        let repo = &self.workspace.repo;
        let mut bases: BTreeSet<&String> = facts.ranges.keys().chain(&asked.since).collect();
        bases.extend(asked.commit.iter().map(|question| &question.basis));
        let mut history = vec![commit.to_owned()];
        for base in &bases {
            if repo.resolve(base)?.is_some() {
                history.push(format!("^{base}"));
            }
        }
        let history: Vec<&str> = history.iter().map(String::as_str).collect();
        let mut due = vec![(commit, &history[..])];
        let of_others = bases.into_iter().chain(&self.accepted);
        due.extend(of_others.map(|of| (of.as_str(), &[][..])));
        let source = self.workspace.log_from.as_ref();
        let may_fetch = source.is_some_and(|source| !source.remote.is_empty());
        for (of, history) in due {
            if self.whole.contains(of) && history.is_empty() || repo.resolve(of)?.is_none() {
                continue;
            }
            if may_fetch {
                repo.fetch_missing(of, history)?;
            }
            if !repo.has_all(of, history)? {
                let of = short(of);
                return Ok(Some(format!("files of {of} are not in this clone")));
            }
            self.whole.insert(of.to_owned());
        }
        Ok(None)
    }

    /// The finding about acceptances that could not be checked.
    pub fn tell_unasked(&self) -> Option<Finding> {
        let (count, last, why) = self.unasked.as_ref()?;
        let count = count_noun(*count, "transition");
        let next = match self.workspace.log_from {
            None => "`cook verify --from REMOTE` fetches what is missing",
            Some(_) => {
                "the remote does not send it either: `cook push` without `--no-keep` takes there what a log rests on"
            }
        };
        let what = format!(
            "git could not be asked again about {count} that slices were accepted by: {why}; {next}"
        );
        let finding = Finding::new(Code::ProofNotReproducible, what);
        Some(finding.at(format!("transition {last}")))
    }

    fn find_tree(&self, commit: &str) -> Result<Option<String>> {
        let repo = &self.workspace.repo;
        match repo.resolve(commit)?.as_deref() == Some(commit) {
            true => repo.find_tree(commit).map(Some),
            false => Ok(None),
        }
    }

    fn range(
        &mut self,
        head: &Head,
        commit: &str,
        from: &str,
        said: &Range,
        with_paths: bool,
    ) -> Result<Option<String>> {
        let repo = &self.workspace.repo;
        if !said.resolves || repo.resolve(from)?.is_none() {
            return Ok(None);
        }
        let key = (from.to_owned(), commit.to_owned(), with_paths);
        let found = match self.ranges.get(&key) {
            Some(found) => found,
            None => {
                let found = repo.range(head, from, with_paths)?;
                self.ranges.entry(key).or_insert(found)
            }
        };
        let (from, to) = (short(from), short(commit));
        Ok((found != said).then(|| format!("the commits from {from} to {to} differ")))
    }

    /// What git contradicts about a reported commit and its gates. Facts that depend on a commit that is not here are
    /// skipped.
    fn contradict_commit(
        &mut self,
        before: &Snapshot,
        head: &Head,
        facts: &Facts,
        asked: &Asked,
    ) -> Result<Option<String>> {
        let (Some(question), Some(said)) = (&asked.commit, &facts.commit) else {
            return Ok(None);
        };
        let Some(id) = &said.id else {
            return Ok(None);
        };
        if !is_here(self.workspace, question, id)? {
            return Ok(None);
        }
        // The settings in force at that time: a report of a commit that holds others is refused.
        let repo = &self.workspace.repo;
        let entry = repo.tree_entry(id, SETTINGS)?;
        let entry = entry.map(|entry| (entry.mode, entry.id));
        let config = match self.settings.entry(entry) {
            Place::Occupied(known) => known.into_mut(),
            Place::Vacant(place) => place.insert(read_settings_at(repo, id)?),
        };
        let Some(config) = config else {
            return Ok(None);
        };
        if let Some(runs) = &facts.gates {
            let gates: Vec<&GateSpec> = runs.iter().map(|run| &run.gate).collect();
            let handoff = before.active.handoff.as_ref();
            let own = handoff.and_then(|handoff| handoff.verification_commands.clone());
            let expected = merge_gates(config.gate_specs(), &own.unwrap_or_default());
            if gates != expected.iter().collect::<Vec<_>>() {
                let of = short(id);
                return Ok(Some(format!("`{SETTINGS}` at {of} names other gates")));
            }
        }
        let question = CommitQuestion {
            // An abbreviated id may have become ambiguous.
            commit: id.clone(),
            ..question.clone()
        };
        let protected = &config.rules.protected;
        let found = repo.commit_facts(head, &question, protected)?;
        Ok(difference(said, &found).map(|what| format!("{what} {}", short(id))))
    }

    /// Checks proofs that rest on files: a place that did not exist, or that was not the slice's work.
    fn anchors(
        &mut self,
        seq: u64,
        before: &Snapshot,
        head: &Head,
        facts: &Facts,
        asked: &BTreeSet<AnchorQuestion>,
    ) -> Result<Option<String>> {
        let in_files = asked.iter().filter(|asked| is_in_files(asked));
        let asked: BTreeSet<AnchorQuestion> = in_files.cloned().collect();
        if asked.is_empty() {
            return Ok(None);
        }
        let answers = self.workspace.look_up(before, head, &asked)?;
        let is_open = |question: &&AnchorQuestion| {
            let is_claimed = matches!(question.required, Required::Claimed { .. });
            is_claimed && !answers.contains_key(&question.key())
        };
        if let Some(open) = asked.iter().find(is_open)
            && self.acceptances.contains(&seq)
        {
            let of = &open.anchor;
            let why = format!("commits that `{of}` rests on are not in this clone");
            self.note_unasked(seq, why);
        }
        for question in &asked {
            let key = question.key();
            let (Some(said), Some(found)) = (facts.anchors.get(&key), answers.get(&key)) else {
                continue;
            };
            let held = matches!(said.verdict, Verdict::Verified | Verdict::Moved);
            let why = match found.verdict {
                Verdict::Changed | Verdict::Missing | Verdict::Malformed if held => &found.why,
                Verdict::Verified | Verdict::Moved if held && said.is_new != found.is_new => {
                    match found.is_new {
                        true => "it did not hold at the slice's basis",
                        false => "it held at the slice's basis already",
                    }
                }
                _ => continue,
            };
            let of = short(head.commit.as_deref().unwrap_or_default());
            return Ok(Some(format!("of `{}` at {of}: {why}", question.anchor)));
        }
        Ok(None)
    }
}

fn not_here(commit: &str) -> String {
    format!("{} is not in this clone", short(commit))
}

fn is_in_files(question: &AnchorQuestion) -> bool {
    let anchor = Anchor::parse(&question.anchor);
    anchor.is_ok_and(|anchor| find_kind(&anchor) == Kind::Code)
}

fn list_acceptances(snapshot: &Snapshot) -> impl Iterator<Item = u64> {
    let ledgers = snapshot.ledger.slices.values();
    ledgers.filter_map(|ledger| Some(ledger.accepted.as_ref()?.seq.0))
}

/// Heads and bases of accepted slices, and the commits at which their proof was recorded.
pub(super) fn list_accepted(snapshot: &Snapshot) -> BTreeSet<String> {
    let mut commits = BTreeSet::new();
    for ledger in snapshot.ledger.slices.values() {
        let accepted = ledger.accepted.iter();
        commits
            .extend(accepted.flat_map(|accepted| [accepted.head.clone(), accepted.basis.clone()]));
    }
    for slice in &snapshot.plan.candidate_slices {
        let records = slice.evidence.iter().filter_map(Evidence::record);
        commits.extend(records.map(|record| record.head_sha.clone()));
    }
    commits
}

/// Whether all commits that the answer depends on are in this clone.
fn is_here(workspace: &Workspace, question: &CommitQuestion, id: &str) -> Result<bool> {
    let named = [id, &question.basis].into_iter();
    let named = named.chain(question.since.as_deref());
    for commit in named.chain(question.claimed.iter().map(String::as_str)) {
        if workspace.repo.resolve(commit)?.is_none() {
            return Ok(false);
        }
    }
    Ok(id.starts_with(&question.commit) || workspace.repo.resolve(&question.commit)?.is_some())
}

fn difference(said: &CommitFacts, found: &CommitFacts) -> Option<&'static str> {
    let is_whole = |facts: &CommitFacts| facts.paths.len() < MAX_PATHS;
    let sorted = |paths: &[String]| {
        let mut paths = paths.to_vec();
        paths.sort();
        paths
    };
    let lacks = |said: &[String], found: &[String]| found.iter().any(|path| !said.contains(path));
    if said.id != found.id {
        Some("the recorded commit is not")
    } else if said.tree != found.tree {
        Some("the recorded tree is not that of")
    } else if (said.on_head, said.after_basis) != (found.on_head, found.after_basis) {
        Some("the recorded order of HEAD, the slice's basis and the commit is wrong for")
    } else if said.claimed != found.claimed || said.merged != found.merged {
        Some("the recorded commits of the session are not those up to")
    } else if is_whole(found) && sorted(&said.paths) != sorted(&found.paths) {
        Some("the recorded paths of the slice are not those up to")
    } else if lacks(&said.protected, &found.protected) {
        Some("the record lacks a protected path that changed up to")
    } else {
        None
    }
}
