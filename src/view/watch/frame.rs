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

impl Watched {
    /// Draws it.
    pub fn draw(&self, frame: &mut Frame) {
        let slices = u16::try_from(self.slices.len()).unwrap_or(u16::MAX);
        let waits = u16::from(self.waits.is_some()) * 2;
        let area = frame.area();
        // Half of what is left is the slices' at most.
        let most = (area.height.saturating_sub(4 + waits) / 2).max(1);
        let [head, waiting, plan, pane, foot] = Layout::vertical([
            Constraint::Length(2),
            Constraint::Length(waits),
            Constraint::Length((slices + 1).min(most)),
            Constraint::Min(1),
            Constraint::Length(1),
        ])
        .areas(area);
        let lines = vec![
            Line::from(self.mission.as_str().bold()),
            Line::from(format!("{} · {}", self.standing, self.cost)),
        ];
        frame.render_widget(Paragraph::new(lines), head);
        if let Some(waits) = &self.waits {
            let text = Paragraph::new(waits.as_str()).wrap(Wrap { trim: true });
            frame.render_widget(text.style(Style::new().fg(Color::Yellow)), waiting);
        }
        frame.render_widget(Paragraph::new(self.plan_lines(plan)), plan);
        match &self.pane {
            Pane::Work => frame.render_widget(Paragraph::new(self.work_lines(pane)), pane),
            Pane::Report { title, lines, from } => {
                let head = Line::from(vec![
                    title.as_str().bold(),
                    "  ↑↓ move · ←→ older, newer · r back".dim(),
                ]);
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
        let foot_line = match &self.note {
            Some(note) => Line::from(vec![KEYS.dim(), "  ".into(), note.as_str().yellow()]),
            None => Line::from(KEYS.dim()),
        };
        frame.render_widget(Paragraph::new(foot_line), foot);
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
        lines.extend(self.slices.iter().skip(first).take(rows).map(slice_line));
        lines
    }

    fn work_lines(&self, area: Rect) -> Vec<Line<'_>> {
        let rows = usize::from(area.height);
        let moments = self.moments.len().min(MOMENTS).min(rows / 3);
        let mut lines = vec![match &self.run {
            Run::None => Line::from("nobody drives the work; `cook run` does".dim()),
            Run::Driven(what) => Line::from(what.as_str().dim()),
            Run::Killed(what) => Line::from(what.as_str().red()),
        }];
        let room = rows.saturating_sub(moments + 2);
        let each = room
            .checked_div(self.sessions.len().max(1))
            .unwrap_or_default();
        for session in &self.sessions {
            lines.push(Line::from(session.what.as_str().bold()));
            let said = session.lines.iter();
            let skipped = session.lines.len().saturating_sub(each.saturating_sub(1));
            lines.extend(
                said.skip(skipped)
                    .map(|line| Line::from(format!("  {line}"))),
            );
        }
        lines.truncate(rows.saturating_sub(moments + 1));
        if moments > 0 {
            lines.push(Line::from("transitions".dim()));
            let newest = &self.moments[self.moments.len() - moments..];
            lines.extend(newest.iter().map(|line| Line::from(line.as_str())));
        }
        lines
    }
}

/// `id  ██████░░░░ 3/5  status  goal`
fn slice_line(slice: &WatchedSlice) -> Line<'_> {
    let full = (slice.proven * BAR)
        .checked_div(slice.criteria)
        .unwrap_or_default();
    let bar = format!(
        "{}{}",
        "█".repeat(full.min(BAR)),
        "░".repeat(BAR - full.min(BAR))
    );
    let style = match slice.status {
        "done" => Style::new().fg(Color::Green),
        "selected" | "in_progress" => Style::new().add_modifier(Modifier::BOLD),
        "blocked" => Style::new().fg(Color::Yellow),
        _ => Style::new().add_modifier(Modifier::DIM),
    };
    let name: String = slice.id.chars().take(NAME).collect();
    Line::from(vec![
        Span::styled(format!("{name:<NAME$} "), style),
        Span::styled(bar, style),
        Span::from(format!(" {:>2}/{:<2} ", slice.proven, slice.criteria)),
        Span::styled(format!("{:<11} ", slice.status.replace('_', " ")), style),
        Span::from(slice.goal.as_str()),
    ])
}
