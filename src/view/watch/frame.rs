//! One frame, from what is seen.

use super::{Pane, Run, Watched, WatchedSlice};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

/// Cells of a bar.
const BAR: usize = 10;
/// Cells of a slice's name.
const NAME: usize = 16;
/// Rows that the transitions take at most.
const MOMENTS: usize = 5;
const KEYS: &str = "q quit · p pause · a answer · r reports";

/// What a report's keys are, beside its title.
const REPORT_KEYS: &str = "  ↑↓ move · ←→ older, newer · r back";
/// Cells from which on a title has room beside them.
const WIDE: usize = 60;
/// Rows that a note, or what is said of the run, takes at most.
const SAID: usize = 2;

impl Watched {
    /// Draws it.
    pub fn draw(&self, frame: &mut Frame) {
        let area = frame.area();
        let width = usize::from(area.width);
        let rows = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        let waits = rows(self.waits.iter().count() * 2);
        let note = self.note.iter().flat_map(|note| wrap(note, width, SAID));
        let mut foot_lines: Vec<Line> = note.map(|row| Line::from(row.yellow())).collect();
        foot_lines.push(Line::from(KEYS.dim()));
        let feet = rows(foot_lines.len());
        // Half of what is left is the slices' at most.
        let most = (area.height.saturating_sub(3 + feet + waits) / 2).max(1);
        let [head, waiting, plan, pane, foot] = Layout::vertical([
            Constraint::Length(2),
            Constraint::Length(waits),
            Constraint::Length(rows(self.slices.len() + 1).min(most)),
            Constraint::Min(1),
            Constraint::Length(feet),
        ])
        .areas(area);
        let lines = vec![
            Line::from(fit(&self.mission, width).bold()),
            Line::from(fit(&format!("{} · {}", self.standing, self.cost), width)),
        ];
        frame.render_widget(Paragraph::new(lines), head);
        if let Some(waits) = &self.waits {
            let lines = vec![
                Line::from(fit(&format!("waits: {}", waits.what), width)),
                Line::from(fit(&format!("  `{}` goes on", waits.exit), width)),
            ];
            let style = Style::new().fg(Color::Yellow);
            frame.render_widget(Paragraph::new(lines).style(style), waiting);
        }
        frame.render_widget(Paragraph::new(self.plan_lines(plan)), plan);
        match &self.pane {
            Pane::Work => frame.render_widget(Paragraph::new(self.work_lines(pane)), pane),
            Pane::Report { title, lines, from } => {
                let beside = width.saturating_sub(REPORT_KEYS.chars().count());
                let title = match width < WIDE {
                    true => title.clone(),
                    false => fit(title, beside),
                };
                let head = Line::from(vec![title.bold(), REPORT_KEYS.dim()]);
                let shown = lines
                    .iter()
                    .skip(*from)
                    .map(|line| Line::from(line.as_str()));
                let lines: Vec<Line> = std::iter::once(head).chain(shown).collect();
                let text = Paragraph::new(lines).wrap(Wrap { trim: false });
                frame.render_widget(text, pane);
            }
            Pane::Answer { question, text } => {
                let lines = vec![
                    Line::from(question.as_str().bold()),
                    Line::from(format!("> {text}█")),
                    Line::from("Enter gives the answer, Esc does not".dim()),
                ];
                frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), pane);
            }
        }
        frame.render_widget(Paragraph::new(foot_lines), foot);
    }

    /// As many slices as there is room for, those around the one in work.
    fn plan_lines(&self, area: Rect) -> Vec<Line<'_>> {
        let rows = usize::from(area.height.saturating_sub(1));
        let done = self
            .slices
            .iter()
            .filter(|one| one.status == "done")
            .count();
        let mut lines = vec![Line::from(
            format!("slices: {done} of {} done", self.slices.len()).dim(),
        )];
        let in_work = |one: &WatchedSlice| matches!(one.status, "selected" | "in_progress");
        let at = self.slices.iter().position(in_work).unwrap_or(done);
        let last_first = self.slices.len().saturating_sub(rows);
        let first = at.saturating_sub(rows / 2).min(last_first);
        let shown = || self.slices.iter().skip(first).take(rows);
        let name = shown().map(|one| one.id.chars().count()).max();
        let name = name.unwrap_or_default().min(NAME);
        let width = usize::from(area.width);
        lines.extend(shown().map(|one| slice_line(one, name, width)));
        lines
    }

    fn work_lines(&self, area: Rect) -> Vec<Line<'_>> {
        let rows = usize::from(area.height);
        let moments = self.moments.len().min(MOMENTS).min(rows / 3);
        let width = usize::from(area.width);
        let (run, style) = match &self.run {
            Run::None => (
                "nobody drives the work; `cook run` does",
                Style::new().dim(),
            ),
            Run::Driven(what) => (what.as_str(), Style::new().dim()),
            Run::Killed(what) => (what.as_str(), Style::new().red()),
        };
        let run = wrap(run, width, SAID).into_iter();
        let mut lines: Vec<Line> = run.map(|row| Line::styled(row, style)).collect();
        let room = rows.saturating_sub(moments + 1 + lines.len());
        let each = room
            .checked_div(self.sessions.len().max(1))
            .unwrap_or_default();
        for session in &self.sessions {
            lines.push(Line::from(fit(&session.what, width).bold()));
            let said = session.lines.iter();
            let skipped = session.lines.len().saturating_sub(each.saturating_sub(1));
            lines.extend(
                said.skip(skipped)
                    .map(|line| Line::from(fit(&format!("  {line}"), width))),
            );
        }
        lines.truncate(rows.saturating_sub(moments + 1));
        if moments > 0 {
            lines.push(Line::from("transitions".dim()));
            let newest = &self.moments[self.moments.len() - moments..];
            lines.extend(newest.iter().map(|line| Line::from(fit(line, width))));
        }
        lines
    }
}

/// `id ██████░░░░ 3/5 status goal`
fn slice_line(slice: &WatchedSlice, name: usize, width: usize) -> Line<'static> {
    let full = (slice.proven * BAR)
        .checked_div(slice.criteria)
        .unwrap_or_default()
        .min(BAR);
    let bar = format!("{}{}", "█".repeat(full), "░".repeat(BAR - full));
    let style = match slice.status {
        "done" => Style::new().fg(Color::Green),
        "selected" | "in_progress" => Style::new().add_modifier(Modifier::BOLD),
        "blocked" => Style::new().fg(Color::Yellow),
        _ => Style::new().add_modifier(Modifier::DIM),
    };
    let mut spans = vec![
        Span::styled(format!("{:<name$} ", fit(&slice.id, name)), style),
        Span::styled(bar, style),
        Span::from(format!(" {:>2}/{:<2} ", slice.proven, slice.criteria)),
        Span::styled(format!("{:<11} ", slice.status.replace('_', " ")), style),
    ];
    let taken = spans.iter().map(Span::width).sum();
    spans.push(Span::from(fit(&slice.goal, width.saturating_sub(taken))));
    Line::from(spans)
}

/// A text in that many cells; what is cut ends in `…`.
fn fit(text: &str, cells: usize) -> String {
    if Span::raw(text).width() <= cells {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut taken = 1;
    for letter in text.chars() {
        taken += Span::raw(letter.to_string()).width();
        if taken > cells {
            break;
        }
        kept.push(letter);
    }
    if cells > 0 {
        kept.push('…');
    }
    kept
}

/// The same in at most that many rows, broken between words.
fn wrap(text: &str, cells: usize, rows: usize) -> Vec<String> {
    let mut wrapped: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_last = wrapped.len() == rows;
        match wrapped.last_mut() {
            Some(row) if is_last || Span::raw(format!("{row} {word}")).width() <= cells => {
                row.push(' ');
                row.push_str(word);
            }
            _ => wrapped.push(word.to_owned()),
        }
    }
    wrapped.iter().map(|row| fit(row, cells)).collect()
}
