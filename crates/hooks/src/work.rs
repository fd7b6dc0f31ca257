//! What a session's events show of its work: the item, commits, checkpoints, files, gates,
//! closes and turns. Pure.

use super::event::Action;
use super::facts::ClosedIssue;
use super::recovery::{data, shorten};
use super::shell::{issue_call, segments};
use super::state::{HeadSeen, NUDGE_AFTER};
use super::step::Step;
use super::summary;
use cook_core::model::hooks::Kind;
use cook_core::model::{Checkpoint, CheckpointKind};

impl Step<'_> {
    /// The session's own claim, else the slice in work, else what the tracker had in
    /// work for this actor when the session began.
    pub(super) fn follow_item(&mut self) {
        if let Some(issue) = &self.facts.claimed {
            if self.state.claim(issue) {
                self.note_claim(issue.clone());
            }
            return;
        }
        if self.state.claimed {
            return;
        }
        let workflow = self.facts.workflow.as_ref();
        let in_work = self.facts.recovery.as_ref().and_then(|r| r.item.as_ref());
        if let Some(slice) = workflow.and_then(|workflow| workflow.slice.as_deref()) {
            self.state.work_on(Some(slice));
            self.state.found = false;
        } else if let Some(issue) = in_work.filter(|item| item.is_issue) {
            self.state.work_on(Some(&issue.id));
            self.state.found = true;
        } else if !self.state.found {
            self.state.work_on(None);
        }
    }

    fn note_claim(&mut self, issue: String) {
        let id = format!("claim:{}:{}", shorten(&issue, 40), self.key());
        self.entry(CheckpointKind::Claim, id, format!("claim: {issue}"), None);
    }

    /// One entry per commit, whoever made it; a commit is a checkpoint.
    pub(super) fn link_commits(&mut self) {
        let slice = self.facts.workflow.as_ref().and_then(|w| w.slice.clone());
        for commit in &self.facts.commits {
            let short: String = commit.id.chars().take(7).collect();
            let subject = data(&commit.subject, 200);
            let text = format!("commit: {short} {subject}");
            let id = format!("commit:{}", commit.id);
            self.entry(CheckpointKind::Commit, id, text, Some(commit.id.clone()));
            self.state.note_commit(format!("{short} {subject}"));
            for path in &commit.paths {
                self.state.note_edit(path);
            }
            if slice.is_some() && commit.slice == slice && self.facts.child.is_none() {
                self.takes = true;
            }
        }
        if !self.facts.commits.is_empty() && !self.event.subagent {
            self.state.note_checkpoint();
        }
        self.state.head = Some(HeadSeen {
            commit: self.facts.head.clone(),
        });
    }

    /// Checkpoints that came by another way: a command of the agent's, or the user.
    pub(super) fn read_trail(&mut self) {
        let mine = |entry: &&Checkpoint| {
            let session = entry.session.as_deref();
            let other = session.is_some_and(|session| session != self.event.session)
                || entry.kind == CheckpointKind::Prompt;
            !other || (entry.item.is_some() && entry.item == self.state.item)
        };
        let texts: Vec<String> = self
            .facts
            .news
            .iter()
            .filter(mine)
            .map(|e| e.text.clone())
            .collect();
        if !texts.is_empty() {
            self.state.note_checkpoint();
        }
        for text in texts {
            self.state.note_said(data(&text, 200));
        }
        self.state.trail = Some(self.facts.trail);
    }

    /// Files, gates, claims and closes that a tool call shows.
    pub(super) fn tool_effects(&mut self) {
        let Some(tool) = self
            .event
            .tool
            .as_ref()
            .filter(|_| self.event.kind == Kind::AfterTool)
        else {
            return;
        };
        if tool.action == Action::Edit && !tool.failed {
            for path in &self.facts.paths {
                self.state.note_edit(path);
            }
        }
        // A call of cook's in it noted that it took the work, and not for which session.
        let by_hand = !self.event.subagent && self.facts.child.is_none();
        self.takes |= tool.action == Action::Shell && by_hand && self.facts.taken;
        for segment in segments(tool.command.as_deref().unwrap_or_default()) {
            if segment.is_cook("gate") {
                let names = segment.words.join(" ");
                self.state.ran_gate(data(&format!("cook {names}"), 80));
            }
            let comments = matches!(issue_call(&segment), Some(("comments" | "comment", _)));
            // With a workflow the trail itself shows it.
            let keeps = segment.is_cook("brief")
                && segment.words.iter().any(|word| word == "checkpoint")
                && self.facts.workflow.is_none();
            if (comments || keeps) && !tool.failed && !self.event.subagent {
                self.state.note_checkpoint();
            }
        }
        for closed in &self.facts.closed {
            self.note_close(closed);
        }
    }

    /// After a verified close: the file list, once, and what can be done next.
    fn note_close(&mut self, closed: &ClosedIssue) {
        if !self.state.close(&closed.id) {
            return;
        }
        let files = self.state.files.remove(&closed.id).unwrap_or_default();
        if !files.is_empty() {
            let id = format!("files:{}:{}", shorten(&closed.id, 40), self.key());
            let text = format!("Files modified: {}", summary::file_list(&files));
            let item = self.state.item.replace(closed.id.clone());
            self.entry(CheckpointKind::Files, id, text, None);
            self.state.item = item;
        }
        let pending = self.state.pending.go_on.get_or_insert_default();
        summary::describe_closed(closed, self.facts.dirty.as_deref(), pending);
    }

    pub(super) fn count_turn(&mut self) {
        if self.event.subagent {
            return;
        }
        let over = match (self.event.kind, self.agent.reports(Kind::TurnEnd)) {
            (Kind::TurnEnd, true) => true,
            (Kind::AfterTool, false) => {
                let named = self.event.turn.is_some();
                let again = named && self.event.turn == self.state.turn;
                self.state.turn.clone_from(&self.event.turn);
                !again
            }
            _ => false,
        };
        if over {
            self.state.turns += 1;
        }
        if self.owns() && self.state.turns >= self.state.nudged + NUDGE_AFTER {
            self.state.nudged = self.state.turns;
            self.state.pending.nudge = Some(self.state.turns);
            let notice = format!("cook: {} turns without a checkpoint", self.state.turns);
            self.state.pending.notices.push(notice);
        }
    }
}
