//! A re-ground report in the making, and how an honest regrounder answers what is refused.

use super::world::{Kind, Spot, Work, World};
use crate::job::proof;
use crate::support::Run;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Reports in a row that may be refused.
const TRIES: usize = 12;

#[derive(Clone, Debug, Default)]
pub struct Draft {
    pub select: Option<String>,
    pub accept: Option<String>,
    pub send_back: Option<String>,
    pub stop: bool,
    pub go_on: bool,
    pub ask: Option<String>,
    pub answers: BTreeSet<String>,
    /// Anchors by slice and criterion.
    pub evidence: BTreeMap<(String, String), String>,
    /// Slices, with the commit that holds their work.
    pub reopen: BTreeMap<String, Option<String>>,
    /// Anchors that were refused.
    refused: BTreeSet<String>,
}

impl Draft {
    fn block(&self) -> Value {
        let mut block = json!({});
        if let Some(id) = &self.select {
            block["select"] = json!(id);
        }
        if let Some(id) = &self.accept {
            block["reconcile"] = json!({"slice_id": id, "decision": "accepted"});
        }
        if let Some(id) = &self.send_back {
            block["reconcile"] = json!({"slice_id": id, "decision": "reopened", "findings": ["not all of it stands"]});
        }
        if self.stop {
            block["conclude"] = json!({"decision": "stop"});
        }
        if self.go_on {
            block["conclude"] = json!({"decision": "go_on", "reason": "look at it again"});
        }
        if let Some(question) = &self.ask {
            block["policy"] = json!({"to": "await_user_input", "question": question});
        }
        let answers = self
            .answers
            .iter()
            .map(|no| json!({"no": no, "reason": "what is left of it does"}));
        block["answers"] = answers.collect();
        let evidence = self
            .evidence
            .iter()
            .filter(|((id, _), _)| !self.reopen.contains_key(id));
        block["evidence"] = evidence
            .map(|((id, criterion), anchor)| proof(id, criterion, anchor, "observed"))
            .collect();
        let reopen = self.reopen.iter().map(|(id, at)| {
            let mut one = json!({"slice_id": id, "why": "its work is not as it was"});
            if let Some(at) = at {
                one["at"] = json!(at);
            }
            one
        });
        block["reopen"] = reopen.collect();
        block
    }
}

impl World {
    pub fn hand_in(&mut self, draft: &Draft) -> Run {
        let block = draft.block();
        let report = self.repo.regrounder_report(&block);
        let run = self.repo.record_with(&["regrounder", "--json"], report);
        let said = self.hear(&run);
        self.say(format!("   regrounder {block} -> {} {said}", run.code));
        run
    }

    /// Hands the report in, and answers each refusal as it asks; what was refused to the end.
    pub fn settle(&mut self, mut draft: Draft) -> Result<(), String> {
        let mut last = String::new();
        for _ in 0..TRIES {
            let work = draft
                .accept
                .clone()
                .map(|id| (id.clone(), self.work_now(&id)));
            let run = self.hand_in(&draft);
            if run.code == 0 {
                if let Some((id, work)) = work
                    && self.statuses()[&id] == "done"
                {
                    self.accepted.insert(id, work);
                }
                return Ok(());
            }
            if run.code != 4 {
                return Err(format!("exit {}: {}", run.code, run.err));
            }
            let before = format!("{draft:?}");
            self.answer(&mut draft, &run.err);
            if format!("{draft:?}") == before {
                let said = self.repo.cook(&["verify", "control-plane"]);
                self.say(format!("== verify control-plane\n{}", said.out));
                return Err(format!("nothing answers the refusal: {}", run.err));
            }
            last = run.err;
        }
        Err(format!("refused in a loop: {last}"))
    }

    fn answer(&mut self, draft: &mut Draft, refusal: &str) {
        let claims: Vec<((String, String), String)> = draft.evidence.clone().into_iter().collect();
        for (key, anchor) in claims {
            if draft.send_back.as_ref() == Some(&key.0) {
                continue;
            }
            let is_named = refusal.contains(&format!("`{}` ({anchor})", key.1));
            let is_shared = refusal.contains("evidence_shared") && refusal.contains(&anchor);
            if !is_named && !is_shared {
                continue;
            }
            self.note_refusal(&key.0, &key.1, &anchor, refusal);
            draft.refused.insert(anchor);
            draft.evidence.remove(&key);
            if draft.accept.as_deref() == Some(&key.0) {
                self.owes_text.insert(key.0.clone());
                draft.send_back = draft.accept.take();
                draft.evidence.retain(|(id, _), _| *id != key.0);
            } else {
                self.anchor_again(draft, &key.0, &key.1, "");
            }
        }
        for line in refusal.lines() {
            if let Some((_, rest)) = line.split_once("add to `evidence` ") {
                let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
                let Some(Ok(claim)) = values.next() else {
                    continue;
                };
                let text = |key: &str| claim[key].as_str().unwrap_or_default().to_owned();
                let (id, criterion) = (text("slice_id"), text("criterion"));
                if !draft
                    .evidence
                    .contains_key(&(id.clone(), criterion.clone()))
                {
                    self.anchor_again(draft, &id, &criterion, &text("anchor"));
                }
            }
            if let Some((_, rest)) = line.split_once("add to `answers` {\"no\": \"") {
                let name = rest.split('"').next().unwrap_or_default();
                let id = name.trim_start_matches("part-").to_owned();
                match !name.starts_with("part-") || self.rng.chance(60) {
                    true => {
                        draft.answers.insert(name.to_owned());
                    }
                    false => self.take_up(draft, &id),
                }
            }
        }
        if refusal.contains("stop_not_unanimous") || draft.stop && !draft.reopen.is_empty() {
            (draft.stop, draft.go_on) = (false, true);
        }
        if refusal.contains("review_negative") {
            draft.send_back = draft.accept.take();
            draft.evidence.clear();
        }
        if refusal.contains("select_") {
            draft.select = None;
        }
    }

    /// Another anchor for a done slice's criterion, where an honest one stands; else the slice is reopened.
    fn anchor_again(&mut self, draft: &mut Draft, id: &str, criterion: &str, near: &str) {
        let work = self.accepted.get(id).cloned().unwrap_or_default();
        let (now, files) = (self.lines_now(), self.list_files_at("HEAD"));
        let mut candidates = Vec::new();
        let stored = self.find_stored(id, criterion).unwrap_or_default();
        if stored.starts_with("entry:") {
            candidates.push(stored.clone());
        }
        candidates.push(near.to_owned());
        let others: Vec<String> = self.criteria[id]
            .iter()
            .filter(|(other, _)| other != criterion)
            .filter_map(|(other, _)| {
                let key = (id.to_owned(), other.clone());
                draft
                    .evidence
                    .get(&key)
                    .cloned()
                    .or_else(|| self.find_stored(id, other))
            })
            .collect();
        for spot in now
            .iter()
            .filter(|spot| self.speaks_for(id, &work, spot.line))
        {
            candidates.push(spot.anchor());
        }
        let fits = candidates.into_iter().find(|anchor| {
            !draft.refused.contains(anchor)
                && !others.contains(anchor)
                && self.wrong(id, &work, anchor, &now, &files).is_none()
        });
        match fits.filter(|_| self.rng.chance(75)) {
            Some(anchor) => drop(
                draft
                    .evidence
                    .insert((id.to_owned(), criterion.to_owned()), anchor),
            ),
            None => self.take_up(draft, id),
        }
    }

    /// Reopens a slice, at HEAD where some of its work stands.
    fn take_up(&mut self, draft: &mut Draft, id: &str) {
        let work = self.accepted.get(id).cloned().unwrap_or_default();
        let stands = self
            .lines_now()
            .iter()
            .any(|spot| work.own.contains(&spot.line));
        let at = stands.then(|| self.head());
        draft.reopen.insert(id.to_owned(), at);
    }

    /// The work of the slice that waits to be accepted.
    pub fn work_now(&self, id: &str) -> Work {
        let active = self.repo.document("active-slice.json");
        let basis = active["basis_commit"].as_str().unwrap_or("HEAD").to_owned();
        let head = self
            .reported
            .get(id)
            .cloned()
            .unwrap_or_else(|| "HEAD".to_owned());
        let there = |commit: &str| self.resolve(commit).is_some();
        match there(&basis) && there(&head) {
            true => self.work(id, &basis, &head),
            false => Work::default(),
        }
    }

    /// Proof of each criterion of the slice that waits to be accepted; none where there is not enough.
    pub fn proofs(&mut self, id: &str) -> Option<Vec<(String, String)>> {
        let work = self.work_now(id);
        let (now, files) = (self.lines_now(), self.list_files_at("HEAD"));
        let active = self.repo.document("active-slice.json");
        let basis = active["basis_commit"].as_str()?;
        self.resolve(basis)?;
        let then = self.read_lines_at(basis);
        let renamed = match self.criteria[id]
            .iter()
            .any(|(_, kind)| matches!(kind, Kind::GoneLine(_)))
        {
            true => self.renames(basis, self.reported.get(id)?),
            false => BTreeMap::new(),
        };
        let mut own: Vec<(bool, Spot)> = now
            .iter()
            .filter(|spot| work.own.contains(&spot.line))
            .map(|spot| {
                (
                    self.doubt(id, &work, &spot.anchor()).is_none(),
                    spot.clone(),
                )
            })
            .collect();
        let mut proofs = Vec::new();
        for (criterion, kind) in self.criteria[id].clone() {
            let anchor = match &kind {
                Kind::Gone(path) => Some(format!("gone:{path}")),
                // Of a slice that is to be accepted it must be as the slice left it.
                Kind::Entry(path) => {
                    (files.get(path) == work.head_files.get(path)).then(|| format!("entry:{path}"))
                }
                Kind::GoneLine(slot) => {
                    let stood = then.iter().find(|spot| self.lines[spot.line].slot == *slot);
                    stood.map(|spot| {
                        let line = self.find_line(basis, &spot.path, spot.first);
                        // Its name at the slice's head: only from there on cook follows a file.
                        let path = renamed.get(&spot.path).unwrap_or(&spot.path);
                        format!("gone:{path}#{}", line.trim())
                    })
                }
                Kind::Lib(_) | Kind::File(_) => None,
            };
            let is_refused = self.given_up.contains(&(id.to_owned(), criterion.clone()));
            let anchor = anchor.filter(|anchor| {
                !is_refused && self.wrong(id, &work, anchor, &now, &files).is_none()
            });
            let anchor = anchor.or_else(|| {
                let slot = match &kind {
                    Kind::Lib(slot) => slot.clone(),
                    _ => format!("own-{id}"),
                };
                // The newest first: what was written before may have become somebody else's.
                let others: Vec<String> = self.criteria[id]
                    .iter()
                    .filter(|(other, _)| *other != criterion)
                    .filter_map(|(other, _)| self.find_stored(id, other))
                    .collect();
                // What is another criterion's by now is refused.
                let rank = |at: &usize| {
                    let (is_sure, spot) = &own[*at];
                    let is_free = !others.contains(&spot.anchor());
                    let is_there = self.lines[spot.line].slot == slot;
                    (*is_sure, is_free, is_there, spot.line)
                };
                let at = (0..own.len()).max_by_key(rank)?;
                Some(own.remove(at).1.anchor())
            });
            proofs.push((criterion, anchor?));
        }
        Some(proofs)
    }

    fn find_line(&self, commit: &str, path: &str, line: usize) -> String {
        let text = self.read_text_at(commit, path).unwrap_or_default();
        text.lines().nth(line - 1).unwrap_or_default().to_owned()
    }
}

/// The first lines of what was printed.
pub fn brief(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).take(12).collect();
    lines.join(" | ")
}
