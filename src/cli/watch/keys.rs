//! What the keys do.

use super::super::answer::give;
use super::super::context::Context;
use super::super::pause::{PauseArgs, pause};
use crate::service::Workspace;
use crate::view::{Answer, Key, Pane, Watched, show_words as words};
use cook_core::diagnostic::Failure;
use cook_core::model::Event;
use std::ops::ControlFlow;

/// Transitions among which reports are looked for.
const BACK: usize = 300;
/// Letters of an answer.
const LONGEST: usize = 4000;

/// What was pressed so far.
#[derive(Default)]
pub(super) struct Keys {
    pane: Pane,
    note: Option<String>,
    /// How many reports before the newest is shown.
    back: usize,
    /// Something was recorded.
    pub moved: bool,
}

impl Keys {
    /// Puts what is open, and what came of the last key, among what is seen.
    pub fn show(&self, watched: &mut Watched) {
        watched.pane = self.pane.clone();
        watched.note.clone_from(&self.note);
    }

    pub fn press(
        &mut self,
        key: Key,
        context: &Context,
        workspace: &Workspace,
        watched: &Watched,
    ) -> Result<ControlFlow<()>, Failure> {
        if key == Key::Interrupt {
            return Ok(ControlFlow::Break(()));
        }
        if key == Key::Resized {
            return Ok(ControlFlow::Continue(()));
        }
        self.note = None;
        match (&mut self.pane, key) {
            (Pane::Answer { text, .. }, key) => match key {
                Key::Letter(letter) if text.len() < LONGEST => text.push(letter),
                Key::Backspace => drop(text.pop()),
                Key::Escape => self.pane = Pane::Work,
                Key::Enter if !text.trim().is_empty() => {
                    let text = text.clone();
                    self.pane = Pane::Work;
                    let given = give(context, false, || Ok(text));
                    self.tell("answered", given);
                }
                _ => {}
            },
            (_, Key::Letter('q')) => return Ok(ControlFlow::Break(())),
            (_, Key::Letter('p')) => {
                self.tell(
                    "paused; `cook resume` goes on",
                    pause(context, &PauseArgs::default()),
                );
            }
            (_, Key::Letter('a')) if watched.asks => {
                self.pane = Pane::Answer {
                    question: watched
                        .waits
                        .as_ref()
                        .map(|it| it.what.clone())
                        .unwrap_or_default(),
                    text: String::new(),
                };
            }
            (_, Key::Letter('a')) => self.note = Some("no question is waited on".to_owned()),
            (Pane::Report { .. }, Key::Letter('r') | Key::Escape) => self.pane = Pane::Work,
            (Pane::Work, Key::Letter('r')) => {
                self.back = 0;
                self.open_report(workspace)?;
            }
            (Pane::Report { from, .. }, Key::Up) => *from = from.saturating_sub(1),
            (Pane::Report { from, lines, .. }, Key::Down) => {
                *from = (*from + 1).min(lines.len().saturating_sub(1));
            }
            (Pane::Report { .. }, Key::Left) => {
                self.back += 1;
                self.open_report(workspace)?;
            }
            (Pane::Report { .. }, Key::Right) => {
                self.back = self.back.saturating_sub(1);
                self.open_report(workspace)?;
            }
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn tell(&mut self, done: &str, answer: Result<Box<dyn Answer>, Failure>) {
        self.moved = answer.is_ok();
        self.note = Some(match answer {
            Ok(_) => done.to_owned(),
            Err(failure) => words(&format!("{}: {}", failure.code, failure.message)),
        });
    }

    fn open_report(&mut self, workspace: &Workspace) -> Result<(), Failure> {
        let mut found = None;
        let mut before = 0;
        let store = workspace.store()?;
        for meta in store.entries()?.take(BACK) {
            let meta = meta?;
            let event = store.event(&meta.commit)?;
            if event.submission().is_none() {
                continue;
            }
            found = Some((meta, event));
            if before == self.back {
                break;
            }
            before += 1;
        }
        // There is none so far back: the oldest stays.
        self.back = self.back.min(before);
        let Some((meta, event)) = found else {
            self.note = Some("no report was taken yet".to_owned());
            return Ok(());
        };
        self.pane = Pane::Report {
            title: words(&format!("#{} {} {}", meta.seq, meta.event, meta.subject)),
            lines: report_lines(&event),
            from: 0,
        };
        Ok(())
    }
}

fn report_lines(event: &Event) -> Vec<String> {
    let Some(submission) = event.submission() else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for (key, text) in &submission.report.fields {
        lines.push(words(&format!("{}:", key.replace('_', " "))));
        let text = text.lines().filter(|line| !line.trim().is_empty());
        lines.extend(text.map(|line| format!("  {}", words(line))));
    }
    let rubric = submission.report.rubric.iter().flatten();
    lines.extend(rubric.map(|(key, entry)| {
        let verdict = format!("{:?}", entry.verdict).to_lowercase();
        words(&format!(
            "{} {verdict}: {}",
            key.replace('_', " "),
            entry.why
        ))
    }));
    lines
}
