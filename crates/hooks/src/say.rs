//! What is said to a session: refusals, the stop that is held, and what waited for an event
//! that can carry it. Pure.

use super::facts::Due;
use super::recovery::data;
use super::state::{BLOCKS, CONTEXT_LIMIT, Stop};
use super::step::Step;
use super::{guard, summary};
use cook_core::model::hooks::{Gate, Kind, Row, SendOn};
use cook_core::model::{CheckpointKind, Policy, Role};

/// Bytes that cook adds to a context at once: what goes beyond is cut by the agent
/// with the smallest limit.
const INLINE: usize = 10_000;

impl Step<'_> {
    /// Refuses what the role may not do; a sub-agent's calls too.
    pub(super) fn guard(&mut self) {
        if self.event.kind != Kind::BeforeTool {
            return;
        }
        let role = match (self.facts.child, &self.facts.workflow) {
            (Some(role), _) => role,
            (None, Some(workflow)) if self.owns() && workflow.policy == Policy::Continue => {
                workflow.role
            }
            _ => None,
        };
        self.effects.deny = self
            .event
            .tool
            .as_ref()
            .and_then(|tool| guard::refusal(role, tool, self.facts));
    }

    /// A second delivery: a refusal is repeated, nothing else is said or counted.
    pub(super) fn repeat(&mut self, row: &Row) {
        if row.gate == Gate::Block && self.state.stop.blocks > 0 && self.owns() {
            self.effects.block.clone_from(&self.state.stop.reason);
        }
    }

    /// Keeps an owning session at work while the policy says so.
    pub(super) fn stop_gate(&mut self, row: &Row) {
        if self.event.kind != Kind::Stop || row.gate != Gate::Block {
            return;
        }
        self.state.stops += 1;
        if self.event.waits {
            return;
        }
        let go_on = &mut self.state.pending.go_on;
        if let Some(go_on) = go_on.take_if(|_| self.facts.workflow.is_none()) {
            self.effects.block = Some(summary::go_on(&go_on));
            return;
        }
        let (Some(due), Some(workflow)) = (&self.facts.due, &self.facts.workflow) else {
            return;
        };
        let Some(role) = due
            .role
            .filter(|_| due.policy == Policy::Continue && self.owns())
        else {
            return;
        };
        if self.steps_back() {
            return;
        }
        match self.state.stop.count(&workflow.progress) {
            Stop::Refused => self.block(role, due),
            Stop::Released => self.release(role),
            Stop::LetGo => {}
        }
    }

    /// The agent's own goal loop is left alone, which is said once.
    pub(super) fn steps_back(&mut self) -> bool {
        if self.event.goal_loop && !self.state.stop.stepped_back {
            self.state.stop.stepped_back = true;
            let notice = "cook: the agent's own goal loop is running, so cook does not hold it";
            self.state.pending.notices.push(notice.to_owned());
        }
        self.event.goal_loop
    }

    fn block(&mut self, role: Role, due: &Due) {
        let mut reason = format!(
            "cook: the work is not done. {role} is due: {}. Run: {}",
            data(&due.action, 400),
            data(&due.command, 400)
        );
        if let Some(more) = self.state.pending.go_on.take() {
            reason.push('\n');
            reason.push_str(&summary::go_on(&more));
        }
        self.state.stop.reason = Some(reason.clone());
        self.effects.block = Some(reason);
    }

    fn release(&mut self, role: Role) {
        self.state.stop.reason = None;
        let text = format!(
            "The session stopped although {role} is due: {BLOCKS} refused stops in a row brought no progress."
        );
        self.write_down(text);
    }

    /// Keeps that a session was let go, and tells the user.
    pub(super) fn write_down(&mut self, text: String) {
        let id = format!("released:{}", self.key());
        self.entry(CheckpointKind::Released, id, text.clone(), None);
        self.state.pending.notices.push(format!("cook: {text}"));
    }

    /// What waited, as far as this event carries it.
    pub(super) fn say(&mut self, row: &Row) {
        let owns = self.owns();
        let sent_on_at_stop = self.stops_are_gated();
        if row.context {
            let mut parts = Vec::new();
            if self.state.pending.recovery
                && let Some(recovery) = &self.facts.recovery
            {
                self.state.pending.recovery = false;
                let message = recovery.render();
                if std::mem::take(&mut self.state.pending.brief)
                    && let Some(brief) = &self.facts.brief
                {
                    let room = INLINE - message.len();
                    parts.push(format!("{message}\n\n{}", summary::beside(brief, room)));
                    if self.facts.show_brief {
                        self.state.pending.notices.push(brief.clone());
                    }
                } else {
                    parts.push(message);
                }
            }
            let pending = &mut self.state.pending;
            if owns && std::mem::take(&mut pending.warning) {
                let percent = self.state.context_percent.unwrap_or(CONTEXT_LIMIT);
                parts.push(summary::warning(percent));
            }
            if let Some(turns) = pending.nudge.take().filter(|_| owns) {
                parts.push(summary::nudge(turns));
            }
            let carries = owns || self.facts.workflow.is_none();
            if carries && !sent_on_at_stop {
                parts.extend(pending.go_on.take().as_ref().map(summary::go_on));
            }
            if !parts.is_empty() {
                self.effects.context = Some(parts.join("\n\n"));
            }
        }
        if row.notice && !self.state.pending.notices.is_empty() {
            let notices = std::mem::take(&mut self.state.pending.notices);
            self.effects.notice = Some(notices.join("\n"));
        }
    }

    /// The agent's stop can be refused, so that is where a session is sent on.
    fn stops_are_gated(&self) -> bool {
        self.agent.hooks().send_on == SendOn::AtStop
            && self.agent.rows().iter().any(|row| row.gate == Gate::Block)
    }
}
