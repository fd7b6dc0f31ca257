//! `cook strength`: measures whether the gates would notice a defect in a change.

use super::context::Progress;
use super::context::*;
use crate::measure::{Reverted, Survivor};
use crate::strength::{Ask, MAX_REPORT, Measured, Reported, measure, read_report};
use crate::view::finding_line;

#[derive(Debug, Args)]
pub(super) struct StrengthArgs {
    /// ID of the slice whose recorded change gets the defects [default: the change since the base]
    pub slice: Option<String>,
    /// Compare with this commit [default: as for `cook check`]
    #[arg(long, value_name = "REF", conflicts_with = "slice")]
    pub base: Option<String>,
    /// Plant at most this many defects [default: from `cook.toml`, else 40]
    #[arg(long, value_name = "N")]
    pub mutants: Option<u32>,
    /// Start no further defect after this many minutes [default: from `cook.toml`, else 10]
    #[arg(long, value_name = "M")]
    pub minutes: Option<u32>,
    /// Fail if less than this share of the defects is noticed, from 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub minimum: Option<f64>,
    /// Run nothing, and show the JSON report of another tool: `outcomes.json` of cargo-mutants, or
    /// mutation-testing-elements
    #[arg(long, value_name = "FILE", conflicts_with_all = ["slice", "base", "trust_repo"])]
    pub report: Option<PathBuf>,
    /// Trust the gates of this repository for this run
    #[arg(long)]
    pub trust_repo: bool,
}

pub(super) fn strength(context: &Context, args: &StrengthArgs) -> Answer {
    if let Some(file) = &args.report {
        let bytes = input::read_regular(file, MAX_REPORT)?;
        let reported = read_report(&bytes, file.parent())?;
        return answer(StrengthAnswer::from_reported(reported, args.minimum));
    }
    let mut workspace = context.workspace()?;
    context::not_apart(&workspace)?;
    workspace.trust_everything = args.trust_repo;
    let budget = workspace.config()?.strength;
    let ask = Ask {
        slice: args.slice.as_deref(),
        base: args.base.as_deref(),
        mutants: args.mutants.unwrap_or(budget.mutants) as usize,
        minutes: args.minutes.unwrap_or(budget.minutes).into(),
    };
    let progress = Progress::begin(context.screen);
    let tell = |text: &str| progress.tell(text);
    let (measured, written) = context::guard(|| measure(&mut workspace, &ask, &tell))?;
    let done = StrengthAnswer::from_measured(measured, args.minimum, written);
    answer(done)
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("a number from 0 to 1".to_owned()),
    }
}

/// How many changed lines of a defect are shown.
const SHOWN_LINES: usize = 8;

/// The results of planting defects in a change.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub(crate) struct StrengthAnswer {
    /// Share of the planted defects that a gate noticed, from 0 to 1; null if none was planted.
    strength: Option<f64>,
    /// Reason why no defect can be planted; null if defects can be planted.
    not_applicable: Option<String>,
    /// Last commit of the change, in which defects were planted; null for another tool's report.
    head: Option<String>,
    /// Full ID of the commit that was compared with; null for another tool's report.
    base: Option<String>,
    /// Reason for the choice of that commit; null for another tool's report.
    base_is: Option<String>,
    /// Whether a gate notices if the whole change is reverted; not part of the strength.
    reverted: Reverted,
    /// Number of tried defects that can be built.
    planted: usize,
    /// Number of defects that a gate noticed.
    killed: usize,
    /// Number of noticed defects with which a gate did not end in time, if known.
    timed_out: Option<usize>,
    /// Number of defects that cannot be built; they do not count as planted.
    unbuildable: usize,
    /// Defects with which every gate passes, most telling first.
    survivors: Vec<Survivor>,
    /// Number of possible defects that were not tried.
    left_out: usize,
    /// Seed for the choice of defects: the full ID of the last commit of the change; null for another tool's report.
    seed: Option<String>,
    /// Time of the trials, in seconds.
    seconds: Option<f64>,
    /// Minimum share that was requested.
    minimum: Option<f64>,
    findings: Vec<Finding>,
    /// Completed and skipped checks, one line each.
    checked: Vec<String>,
}

impl StrengthAnswer {
    /// The answer for another tool's report.
    pub fn from_reported(reported: Reported, minimum: Option<f64>) -> Self {
        Self {
            strength: reported.tally.strength(),
            reverted: Reverted::Unknown,
            planted: reported.tally.count_planted(),
            killed: reported.tally.killed,
            unbuildable: reported.tally.unbuildable,
            survivors: reported.survivors,
            minimum,
            ..Self::default()
        }
    }

    /// The answer for a measurement; `written` is a finding about the runner's files.
    pub fn from_measured(
        measured: Measured,
        minimum: Option<f64>,
        written: Option<Finding>,
    ) -> Self {
        let mut findings: Vec<Finding> = written.into_iter().collect();
        if measured.planted.reverted == Reverted::Unnoticed {
            let what = "the gates stay green when the whole change is reverted";
            findings.push(Finding::new(Code::ProvesNothing, what));
        }
        let unread = measured.unread.into_iter();
        findings.extend(unread.map(|what| Finding::new(Code::StrengthUnknown, what)));
        Self {
            strength: measured.planted.tally.strength(),
            not_applicable: measured.not_applicable,
            seed: Some(measured.head.clone()),
            head: Some(measured.head),
            base: Some(measured.base.commit),
            base_is: Some(measured.base.why),
            reverted: measured.planted.reverted,
            planted: measured.planted.tally.count_planted(),
            killed: measured.planted.tally.killed,
            timed_out: Some(measured.planted.timed_out),
            unbuildable: measured.planted.tally.unbuildable,
            survivors: measured.planted.survivors,
            left_out: measured.planted.left_out,
            seconds: Some(measured.planted.seconds),
            minimum,
            findings,
            checked: measured.planted.checked,
        }
    }

    /// Whether the strength is below the minimum that was asked for.
    fn is_below(&self) -> bool {
        let mut findings = self.findings.iter();
        let is_unread = findings.any(|it| it.code == Code::StrengthUnknown);
        self.minimum.is_some_and(|minimum| match self.strength {
            Some(strength) => strength < minimum || is_unread,
            // An unknown strength fails, unless it is not applicable.
            None => self.not_applicable.is_none(),
        })
    }

    fn verdict(&self, page: &mut Page) {
        if let Some(why) = &self.not_applicable {
            page.add_toned(Tone::Dim, "not applicable");
            page.line(&format!("  {why}"));
            return;
        }
        let tone = match self.is_below() || self.reverted == Reverted::Unnoticed {
            true => Tone::Bad,
            false if self.survivors.is_empty() => Tone::Good,
            false => Tone::Warn,
        };
        let Some(strength) = self.strength else {
            page.add_toned(tone, "strength unknown");
            let also = match self.reverted {
                Reverted::Noticed => "; a gate fails when the change is reverted",
                _ => "",
            };
            page.line(&format!("  no defect was tried{also}"));
            return;
        };
        page.add_toned(tone, &format!("strength {strength:.2}"));
        let mut line = format!(
            "  {} of {} noticed",
            self.killed,
            count_noun(self.planted, "planted defect")
        );
        if let Some(timed_out) = self.timed_out.filter(|count| *count > 0) {
            line.push_str(&format!(" ({timed_out} timed out)"));
        }
        if self.unbuildable > 0 {
            line.push_str(&format!("; {} more did not build", self.unbuildable));
        }
        if let Some(minimum) = self.minimum.filter(|_| self.is_below()) {
            line.push_str(&format!("; at least {minimum} is required"));
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
            page.add_toned(Tone::Warn, "not noticed");
            let Survivor {
                path, line, what, ..
            } = survivor;
            page.line(&format!(" {path}:{line}  {what}"));
            let diff = survivor.diff.as_deref().unwrap_or_default();
            // Skip the two lines of the diff's header.
            let changed = diff.lines().skip(2);
            let changed = changed.filter(|line| line.starts_with(['+', '-']));
            for line in changed.take(SHOWN_LINES) {
                page.add_toned_line(Tone::Dim, &format!("      {line}"));
            }
        }
        if let (Some(head), Some(base), Some(base_is)) = (&self.head, &self.base, &self.base_is) {
            let mut line = format!("  {} against {} ({base_is})", short(head), short(base));
            if let Some(seconds) = self.seconds {
                line.push_str(&format!(", {seconds:.0} s"));
            }
            page.add_toned_line(Tone::Dim, &line);
        }
        for line in &self.checked {
            page.add_toned_line(Tone::Dim, &format!("  {line}"));
        }
    }

    fn exit(&self) -> Exit {
        Exit::of_check(!self.is_below())
    }
}
