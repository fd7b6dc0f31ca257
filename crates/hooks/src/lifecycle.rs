//! A session's starts, compactions, prompts and end. Pure.

use super::event::{Prompt, Source};
use super::facts::{begins, goes_on, has_shrunk};
use super::recovery::shorten;
use super::state::{CONTEXT_LIMIT, Since};
use super::step::Step;
use super::summary;
use cook_core::diagnostic::{Lines, clean, redact};
use cook_core::digest::sha256;
use cook_core::model::hooks::{Kind, Row};
use cook_core::model::{CheckpointKind, MAX_CHECKPOINT_TEXT, PROMPT_DIGEST, PROMPT_ID};

impl Step<'_> {
    /// Starts, compactions, how full the context is, the end.
    pub(super) fn lifecycle(&mut self, row: &Row) {
        self.follow_context();
        if let Some(percent) = self.event.context_percent.filter(|_| !self.event.subagent) {
            self.state.context_percent = Some(percent);
        }
        if begins(&self.state, self.event) {
            self.state.started = true;
            self.state.pending.recovery = true;
            self.state.pending.brief |= goes_on(self.event);
        }
        match self.event.kind {
            Kind::SessionStart if matches!(self.event.source, Source::Compact | Source::Clear) => {
                self.new_window();
            }
            Kind::BeforeCompact if self.event.is_compaction() => {
                self.auto_checkpoint();
                // Where its end is told too, that is when something is lost.
                if row.context || !self.agent.reports(Kind::AfterCompact) {
                    self.lose_context();
                }
            }
            Kind::BeforeCompact => self.state.attempted = self.state.context_tokens,
            Kind::AfterCompact => self.lose_context(),
            Kind::Prompt => self.keep_prompt(),
            Kind::SessionEnd => {
                self.leaves = true;
                self.state.started = false;
            }
            _ => {}
        }
        let full = self
            .state
            .context_percent
            .is_some_and(|p| p >= CONTEXT_LIMIT);
        if full && !self.state.warned && self.owns() && !self.event.is_compaction() {
            self.state.warned = true;
            self.state.pending.warning = true;
            let percent = self.state.context_percent.unwrap_or(CONTEXT_LIMIT);
            let notice = format!("cook: the context is {percent:.0} % full");
            self.state.pending.notices.push(notice);
        }
    }

    /// Whether the context that the agent tried to compact holds less now.
    fn follow_context(&mut self) {
        let Some(tokens) = self.event.context_tokens.filter(|_| !self.event.subagent) else {
            return;
        };
        if has_shrunk(&self.state, self.event) {
            self.auto_checkpoint();
            self.lose_context();
        }
        self.state.attempted = None;
        self.state.context_tokens = Some(tokens);
    }

    /// What the session knew is gone.
    fn lose_context(&mut self) {
        self.state.pending.recovery = true;
        self.state.pending.brief = true;
        self.new_window();
    }

    /// A session that was ended and is resumed works on what it worked on, unless another one has
    /// taken that.
    pub(super) fn keep_ownership(&mut self) {
        if self.facts.workflow.is_none() {
            return;
        }
        if begins(&self.state, self.event) && self.state.owned && !self.facts.held {
            self.takes |= !self.facts.owner;
        }
        if self.facts.owner || self.takes {
            self.state.owned = true;
        } else if self.facts.held {
            self.state.owned = false;
        }
    }

    /// What the user typed becomes a message that anchors can quote. Prompts that are
    /// cook's own words coming back, and those that nobody says were typed, do not.
    fn keep_prompt(&mut self) {
        let typed = |prompt: &&Prompt| prompt.typed == Some(true);
        let Some(prompt) = self.event.prompt.as_ref().filter(typed) else {
            return;
        };
        let text = clean(&prompt.text, Lines::Keep);
        let text = text.trim();
        let is_ours = text.starts_with("cook: ")
            // How an agent tells itself that a task in the background is done.
            || text.starts_with("<task-notification>")
            || self.state.stop.reason.as_deref().map(str::trim) == Some(text);
        if text.is_empty() || is_ours || self.event.subagent || self.facts.workflow.is_none() {
            return;
        }
        let kept = match self.facts.keep_prompts {
            true => shorten(&redact(text), MAX_CHECKPOINT_TEXT),
            false => {
                let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
                format!("{PROMPT_DIGEST}{}", sha256(folded))
            }
        };
        let name = sha256(self.key());
        let id = format!("{PROMPT_ID}{}", &name[..12]);
        // It belongs to the session, whatever the session works on.
        let item = self.state.item.take();
        self.entry(CheckpointKind::Prompt, id, kept, None);
        self.state.item = item;
    }

    fn new_window(&mut self) {
        self.state.warned = false;
        self.state.context_percent = None;
        self.state.pending.warning = false;
    }

    /// What would be lost with the context, kept before it is.
    fn auto_checkpoint(&mut self) {
        if self.state.item.is_none() || !self.state.has_news() || self.event.subagent {
            return;
        }
        // What a shell edited shows only now.
        for path in self.facts.dirty.iter().flatten() {
            self.state.note_edit(path);
        }
        let command = self.facts.due.as_ref().map(|due| due.command.as_str());
        let last = self
            .event
            .last_message
            .as_deref()
            .and_then(summary::first_line);
        let next = last.or(self.facts.last_line.clone());
        let text = |turns| summary::auto(&self.state, turns, next.as_deref(), command);
        let said = sha256(format!("{:?} {}", self.state.item, text(0)));
        if self.state.kept.as_ref() == Some(&said) {
            return;
        }
        let text = text(self.state.turns);
        self.state.kept = Some(said);
        let id = format!("auto:{}", self.key());
        let head = self.facts.head.clone();
        self.entry(CheckpointKind::Auto, id, text, head);
        self.state.since = Since::default();
        self.state.note_checkpoint();
    }
}
