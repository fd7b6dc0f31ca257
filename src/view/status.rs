//! `cook status`, `cook ready`, `cook graph`: where the work stands.

use super::next::dispatch_lines;
use super::{Page, Show, Tone};
use cook_core::diagnostic::{Finding, counted};
use cook_core::machine::{Dispatch, Head, ReadyRow, current_audit, current_review, votes_at};
use cook_core::model::{Evidence, Limits, Policy, Role, Slice, SliceStatus, Snapshot};
use serde_json::{Value, json};

/// What a running `cook run` is at.
#[derive(Debug)]
pub struct RunView {
    /// The driver's process.
    pub pid: u32,
    /// Until when the end of a limit is waited for, RFC 3339.
    pub waits_until: Option<String>,
    /// The sessions that are held now.
    pub sessions: Vec<SessionView>,
    /// The path that was changed last and is not committed, and seconds since.
    pub last_changed: Option<(String, u64)>,
}

/// A session that is held now.
#[derive(Debug)]
pub struct SessionView {
    /// Whose turn it is.
    pub role: Role,
    /// Who plays it.
    pub agent: String,
    /// The agent's process.
    pub pid: Option<u32>,
    /// That process is there.
    pub alive: bool,
    /// When it began, RFC 3339.
    pub began_at: String,
    /// Seconds since it printed something.
    pub quiet_seconds: Option<i64>,
    /// The tool it used last.
    pub tool: Option<String>,
}

impl RunView {
    fn lines(&self, page: &mut Page) {
        if let Some(until) = &self.waits_until {
            page.row("waits", &format!("until {until} for the end of a limit"));
        }
        if self.sessions.is_empty() && self.waits_until.is_none() {
            page.row(
                "run",
                &format!("between two sessions (cook is pid {})", self.pid),
            );
        }
        for session in &self.sessions {
            let process = match (session.pid, session.alive) {
                (None, _) => "not started yet".to_owned(),
                (Some(pid), true) => format!("pid {pid} alive"),
                (Some(pid), false) => format!("pid {pid} gone"),
            };
            let quiet = session
                .quiet_seconds
                .map_or_else(String::new, |seconds| format!(", {seconds} s since output"));
            let tool = session
                .tool
                .as_ref()
                .map_or_else(String::new, |tool| format!(", tool {tool}"));
            page.row(
                "run",
                &format!(
                    "{} by {}, {process}{quiet}{tool}",
                    session.role, session.agent
                ),
            );
        }
        if let Some((path, seconds)) = &self.last_changed {
            page.row("changed", &format!("{path}, {seconds} s ago"));
        }
    }

    fn json(&self) -> Value {
        json!({
            "pid": self.pid,
            "waits_until": self.waits_until,
            "sessions": self.sessions.iter().map(|session| json!({
                "role": session.role,
                "agent": session.agent,
                "pid": session.pid,
                "alive": session.alive,
                "began_at": session.began_at,
                "quiet_seconds": session.quiet_seconds,
                "tool": session.tool,
            })).collect::<Vec<_>>(),
            "last_changed": self.last_changed.as_ref().map(|(path, seconds)| json!({
                "path": path,
                "seconds": seconds,
            })),
        })
    }
}

/// Where the work stands.
#[derive(Debug)]
pub struct StatusAnswer {
    /// What a running `cook run` is at.
    pub run: Option<RunView>,
    /// Whose sessions a cook that is gone left unfinished.
    pub unfinished: Vec<Role>,
    /// The documents.
    pub snapshot: Snapshot,
    /// HEAD.
    pub head: Head,
    /// Who is due.
    pub dispatch: Dispatch,
    /// Limits of `cook.toml`.
    pub limits: Limits,
    /// Copies that were set aside.
    pub displaced: usize,
    /// User doors that scripts opened: sequence and event, newest first.
    pub scripted: Vec<(u64, String)>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

/// Criteria of a slice with stamped evidence.
fn proven(slice: &Slice) -> usize {
    slice
        .acceptance_criteria
        .iter()
        .filter(|criterion| {
            slice
                .evidence
                .iter()
                .filter_map(Evidence::record)
                .any(|record| &record.criterion == *criterion)
        })
        .count()
}

impl StatusAnswer {
    fn steps(&self) -> (u64, u64) {
        let granted = self.snapshot.counters.granted.steps.unwrap_or(0);
        (
            self.snapshot.counters.steps.0,
            self.limits.steps().saturating_add(granted),
        )
    }

    fn slice_line(&self, page: &mut Page, slice: &Slice) {
        let tone = match slice.status {
            SliceStatus::Done => Tone::Good,
            SliceStatus::Selected | SliceStatus::InProgress => Tone::Strong,
            SliceStatus::Blocked => Tone::Warn,
            SliceStatus::Planned | SliceStatus::Cancelled => Tone::Dim,
        };
        page.text("  ");
        page.toned(tone, &format!("{:<12}", slice.status.id()));
        let attempts = self
            .snapshot
            .counters
            .attempts
            .get(&slice.slice_id)
            .map_or(0, |count| count.0);
        let spent = if attempts > 0 {
            format!(", {} spent", counted(attempts, "attempt"))
        } else {
            String::new()
        };
        page.line(&format!(
            "{} — {} ({} of {} criteria proven{spent})",
            slice.slice_id,
            slice.goal,
            proven(slice),
            slice.acceptance_criteria.len()
        ));
    }
}

impl Show for StatusAnswer {
    fn human(&self, page: &mut Page) {
        let state = &self.snapshot.state;
        page.row("mission", &state.mission_anchor);
        page.row(
            "policy",
            &format!(
                "{} · {} · phase {}",
                self.dispatch.policy, state.contract_status, self.dispatch.phase
            ),
        );
        for role in &self.unfinished {
            page.row(
                "unfinished",
                &format!("a session of the {role}, whose cook is gone; `cook run --steps 0` ends it and puts back what it may not have changed: best before you go on working here"),
            );
        }
        if let Some(run) = &self.run {
            run.lines(page);
        }
        if state.continuation_policy != Policy::Continue {
            page.row("reason", &state.continuation_reason);
        }
        for slice in &self.snapshot.plan.candidate_slices {
            self.slice_line(page, slice);
        }
        let (spent, limit) = self.steps();
        page.row("steps", &format!("{spent} of {limit}"));
        let have = votes_at(&self.snapshot, &self.head).count();
        if state.current_stop_wave_id.0 > 0 {
            page.row(
                "wave",
                &format!(
                    "{}: {have} of {} votes at this HEAD",
                    state.current_stop_wave_id.0, self.snapshot.profile.required_stop_judges.0
                ),
            );
        }
        if self.snapshot.ledger.script_doors.0 > 0 {
            page.row(
                "scripts",
                &crate::walk::scripted_line(self.snapshot.ledger.script_doors.0, &self.scripted),
            );
        }
        if self.displaced > 0 {
            page.row(
                "set aside",
                &match self.displaced {
                    1 => "1 copy (`cook rescue list`)".to_owned(),
                    copies => format!("{copies} copies (`cook rescue list`)"),
                },
            );
        }
        dispatch_lines(page, &self.dispatch);
    }

    fn json(&self) -> Value {
        let state = &self.snapshot.state;
        let (spent, limit) = self.steps();
        json!({
            "schema_version": 1,
            "mission_anchor": state.mission_anchor,
            "policy": self.dispatch.policy,
            "phase": self.dispatch.phase,
            "rule": self.dispatch.rule,
            "role": self.dispatch.role,
            "action": self.dispatch.action,
            "reason": self.dispatch.reason,
            "contract_status": state.contract_status,
            "seq": self.snapshot.ledger.seq,
            "branch": self.snapshot.ledger.branch,
            "head": self.head.commit,
            "slices": self.snapshot.plan.candidate_slices.iter().map(|slice| json!({
                "slice_id": slice.slice_id,
                "goal": slice.goal,
                "status": slice.status,
                "criteria": slice.acceptance_criteria.len(),
                "proven": proven(slice),
                "attempts": self.snapshot.counters.attempts.get(&slice.slice_id).map_or(0, |count| count.0),
            })).collect::<Vec<_>>(),
            "review": current_review(&self.snapshot).map(|review| json!({"acceptable": review.acceptable, "commit": review.commit})),
            "audit": current_audit(&self.snapshot).map(|audit| json!({"findings": audit.findings, "commit": audit.commit})),
            "wave": state.current_stop_wave_id,
            "judgments": {
                "have": votes_at(&self.snapshot, &self.head).count(),
                "need": self.snapshot.profile.required_stop_judges,
            },
            "unsatisfied_contract_ids": state.unsatisfied_contract_ids,
            "release_blocker_ids": state.release_blocker_ids,
            "high_value_gaps": self.snapshot.ledger.high_value_gaps,
            "unanswered": self.snapshot.ledger.unanswered,
            "waiting": self.snapshot.ledger.waiting,
            "amendments": self.snapshot.ledger.amendments,
            "steps": { "spent": spent, "limit": limit },
            "script_doors": self.snapshot.ledger.script_doors,
            "scripted": self.scripted.iter().map(|(seq, event)| json!({"seq": seq, "event": event})).collect::<Vec<_>>(),
            "set_aside": self.displaced,
            "run": self.run.as_ref().map(RunView::json),
            "unfinished": self.unfinished,
            "findings": self.findings,
        })
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// Slices that can be selected now.
#[derive(Debug)]
pub struct ReadyAnswer {
    /// In order of work.
    pub rows: Vec<ReadyRow>,
    /// What the other open slices wait for.
    pub waiting: Vec<(String, Vec<String>)>,
}

impl Show for ReadyAnswer {
    fn human(&self, page: &mut Page) {
        if self.rows.is_empty() {
            page.line("no slice can be selected now");
        }
        for (index, row) in self.rows.iter().enumerate() {
            page.toned(Tone::Strong, &format!("{}. {}", index + 1, row.slice_id));
            page.line(&format!(" — {} (priority {})", row.goal, row.priority.0));
            let unblocks = if row.unblocks.is_empty() {
                "(none)".to_owned()
            } else {
                row.unblocks.join(", ")
            };
            page.line(&format!(
                "   unblocks: {unblocks} · {} wait for it in all · longest chain {}",
                row.unblocks_all, row.chain
            ));
        }
        for (id, waits) in &self.waiting {
            page.toned(
                Tone::Dim,
                &format!("   {id} waits for {}", waits.join(", ")),
            );
            page.newline();
        }
    }

    fn json(&self) -> Value {
        json!({
            "schema_version": 1,
            "ready": self.rows,
            "waiting": self.waiting.iter().map(|(id, waits)| json!({"slice_id": id, "waits_for": waits})).collect::<Vec<_>>(),
        })
    }
}

/// The plan as a graph.
#[derive(Debug)]
pub struct GraphAnswer {
    /// Slices: id, goal, status.
    pub nodes: Vec<(String, String, SliceStatus)>,
    /// From a slice to one that waits for it.
    pub edges: Vec<(String, String)>,
    /// Graphviz in place of Mermaid.
    pub dot: bool,
}

/// Text inside quotes of either format.
fn label(text: &str) -> String {
    text.chars()
        .take(80)
        .map(|c| match c {
            '"' => '\'',
            '\\' => '/',
            '<' | '>' | '[' | ']' | '{' | '}' | '|' | '`' | '#' | ';' => ' ',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect()
}

impl Show for GraphAnswer {
    fn human(&self, page: &mut Page) {
        let index = |id: &str| {
            self.nodes
                .iter()
                .position(|(node, _, _)| node == id)
                .unwrap_or_default()
        };
        if self.dot {
            page.line("digraph plan {");
            page.line("  rankdir=LR;");
            for (at, (id, goal, status)) in self.nodes.iter().enumerate() {
                page.line(&format!(
                    "  s{at} [shape=box, label=\"{}\\n{}\\n{}\"];",
                    label(id),
                    label(goal),
                    status.id()
                ));
            }
            for (from, to) in &self.edges {
                page.line(&format!("  s{} -> s{};", index(from), index(to)));
            }
            page.line("}");
            return;
        }
        page.line("graph LR");
        for (at, (id, goal, status)) in self.nodes.iter().enumerate() {
            page.line(&format!(
                "  s{at}[\"{}: {} ({})\"]",
                label(id),
                label(goal),
                status.id()
            ));
        }
        for (from, to) in &self.edges {
            page.line(&format!("  s{} --> s{}", index(from), index(to)));
        }
    }

    fn json(&self) -> Value {
        json!({
            "schema_version": 1,
            "nodes": self.nodes.iter().map(|(id, goal, status)| json!({"slice_id": id, "goal": goal, "status": status})).collect::<Vec<_>>(),
            "edges": self.edges.iter().map(|(from, to)| json!({"from": from, "to": to})).collect::<Vec<_>>(),
        })
    }
}
