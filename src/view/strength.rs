//! `cook strength`: how many planted defects gates notice, and those that they do not.

use super::screen::finding_line;
use super::{Exit, Page, Show, Tone};
use crate::strength::{Measured, Reverted, Survivor};
use cook_core::diagnostic::{Code, Finding, Lines, clean, counted};
use serde::Serialize;

/// Changed lines of a defect that a person sees.
const SHOWN_LINES: usize = 8;

/// What came of planted defects.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct StrengthAnswer {
    /// The share of the planted defects that a gate noticed, from 0 to 1; none = none was planted.
    strength: Option<f64>,
    /// Why there is nothing to plant in: no code came.
    not_applicable: Option<String>,
    /// The change's last commit, in which defects were planted.
    head: String,
    /// The commit that it was compared with.
    base: String,
    /// Why with that one.
    base_is: String,
    /// Whether a gate notices that the whole change is not there; it counts in no figure.
    reverted: Reverted,
    /// Defects that were tried and build.
    planted: usize,
    /// Those that a gate noticed.
    killed: usize,
    /// Of those, the ones with which a gate did not end.
    timed_out: usize,
    /// Defects that do not build: nobody could have noticed them, and they are not among the planted ones.
    unbuildable: usize,
    /// Defects with which every gate passes, most telling first.
    survivors: Vec<Survivor>,
    /// Defects that could be planted and were not tried.
    left_out: usize,
    /// By what the defects were chosen: the commit's id.
    seed: String,
    /// What trying them took.
    seconds: f64,
    /// The share that was asked for.
    minimum: Option<f64>,
    findings: Vec<Finding>,
    /// What was looked at, and what was not, one line each.
    checked: Vec<String>,
}

impl StrengthAnswer {
    /// Of what was measured; `written`: what was found beside it.
    pub fn new(measured: Measured, minimum: Option<f64>, written: Option<Finding>) -> Self {
        let mut findings: Vec<Finding> = written.into_iter().collect();
        if measured.reverted == Reverted::Unnoticed {
            let what = "no gate notices when the whole change is taken back";
            findings.push(Finding::new(Code::ProvesNothing, what));
        }
        Self {
            strength: measured.tally.strength(),
            not_applicable: measured.not_applicable,
            seed: measured.head.clone(),
            head: measured.head,
            base: measured.base.commit,
            base_is: measured.base.why,
            reverted: measured.reverted,
            planted: measured.tally.planted(),
            killed: measured.tally.killed,
            timed_out: measured.timed_out,
            unbuildable: measured.tally.unbuildable,
            survivors: measured.survivors,
            left_out: measured.left_out,
            seconds: measured.seconds,
            minimum,
            findings,
            checked: measured.checked,
        }
    }

    /// Below the share that was asked for.
    fn is_below(&self) -> bool {
        self.minimum
            .is_some_and(|minimum| match (self.strength, self.reverted) {
                (Some(strength), _) => strength < minimum,
                (None, reverted) => reverted == Reverted::Unnoticed,
            })
    }

    fn verdict(&self, page: &mut Page) {
        let tone = match self.is_below() || self.reverted == Reverted::Unnoticed {
            true => Tone::Bad,
            false if self.survivors.is_empty() => Tone::Good,
            false => Tone::Warn,
        };
        if let Some(why) = &self.not_applicable {
            page.toned(Tone::Dim, "not applicable");
            page.line(&format!("  {why}"));
            return;
        }
        let Some(strength) = self.strength else {
            page.toned(tone, "strength unknown");
            page.line(match self.reverted {
                Reverted::Noticed => {
                    "  no defect was tried; a gate notices when the change is taken back"
                }
                _ => "  no defect was tried",
            });
            return;
        };
        page.toned(tone, &format!("strength {strength:.2}"));
        let mut line = format!(
            "  {} of {} noticed",
            self.killed,
            counted(self.planted as u64, "planted defect")
        );
        if self.timed_out > 0 {
            line.push_str(&format!(" ({} timed out)", self.timed_out));
        }
        if self.unbuildable > 0 {
            line.push_str(&format!("; {} more did not build", self.unbuildable));
        }
        if let Some(minimum) = self.minimum.filter(|_| self.is_below()) {
            line.push_str(&format!("; at least {minimum} is asked for"));
        }
        page.line(&line);
    }
}

impl Show for StrengthAnswer {
    fn human(&self, page: &mut Page) {
        self.verdict(page);
        for finding in &self.findings {
            finding_line(page, finding);
        }
        for survivor in &self.survivors {
            page.text("  ");
            page.toned(Tone::Warn, "not noticed");
            page.line(&format!(
                " {}:{}  {}",
                clean(&survivor.path, Lines::Fold),
                survivor.line,
                clean(&survivor.what, Lines::Fold)
            ));
            let diff = survivor.diff.as_deref().unwrap_or_default();
            // The two lines that name the file come first.
            let changed = diff
                .lines()
                .skip(2)
                .filter(|line| line.starts_with(['+', '-']));
            for line in changed.take(SHOWN_LINES) {
                let line = clean(line, Lines::Keep).replace('\n', " ");
                page.toned_line(Tone::Dim, &format!("      {line}"));
            }
        }
        let short = |id: &str| id.get(..12).unwrap_or(id).to_owned();
        page.toned_line(
            Tone::Dim,
            &format!(
                "  {} against {} ({}), {:.0} s",
                short(&self.head),
                short(&self.base),
                clean(&self.base_is, Lines::Fold),
                self.seconds
            ),
        );
        for line in &self.checked {
            page.toned_line(Tone::Dim, &format!("  {}", clean(line, Lines::Fold)));
        }
    }

    fn exit(&self) -> Exit {
        match self.is_below() {
            true => Exit::CheckFailed,
            false => Exit::Ok,
        }
    }
}
