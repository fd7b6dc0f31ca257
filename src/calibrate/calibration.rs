//! Makes cases, asks about them, counts: planted and clean ones by turns, so that what is cut in the
//! middle holds as many of both.

use super::done_work::{DoneSlice, Source};
use super::planted_case::{self as case, Case, Made};
use crate::judges::{Answered, Identity, Kept};
use crate::run::{Keeping, Observer, RoleAgent, first_agent, hold_once};
use crate::service::Workspace;
use cook_mutants::{Fault, FaultKind};
use cook_protocol::diagnostic::{Code, Failure, FailureKind, Refusal};
use cook_protocol::machine::quote_word;
use cook_protocol::model::{Event, Role, Verdicts};
use std::path::Path;
use std::time::Instant;

/// The roles that judge.
pub(crate) const JUDGES: [Role; 3] = [Role::Reviewer, Role::Auditor, Role::StopJudge];
/// Sessions in a row without a verdict after which it ends.
const MOST_SILENT: usize = 3;
/// Faults that are tried for one that gates pass.
const TRIED_FOR_ONE: usize = 8;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub role: Role,
    /// None = by the settings.
    pub agent: Option<&'a str>,
    /// Planted cases, and as many clean ones.
    pub cases: usize,
    /// What is kept of this judge is forgotten first.
    pub again: bool,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Measured {
    pub kept: Kept,
    /// Cases that were asked about now.
    pub asked: usize,
    /// Faults that were tried now and that a gate noticed, or that the machine takes no report of.
    pub unusable: usize,
    /// There are no more faults, although more were asked for.
    pub is_short: bool,
    pub seconds: f64,
}

/// Whoever is told how far it is.
pub(crate) type Tell<'a> = &'a dyn Fn(&str);

/// Measures the judge of one role.
///
/// # Errors
/// Gates or agents that may not run, no case, an agent that gives no verdict, an interruption.
pub(crate) fn measure(
    workspace: &Workspace,
    asked: &Asked,
    observer: &mut dyn Observer,
    tell: Tell,
) -> Result<Measured, Failure> {
    let agent = first_agent(workspace, asked.role, asked.agent)?;
    require_trust(workspace)?;
    let keeping = Keeping::of(workspace)?;
    let _held = Kept::hold(workspace)?;
    let identity = Identity::now(asked.role, agent.preset.name(), agent.model.as_deref());
    let mut kept = Kept::of(workspace, identity)?;
    if asked.again {
        kept.forget(workspace)?;
    }
    let mut calibration = Calibration {
        workspace,
        role: asked.role,
        agent,
        keeping,
        measured: Measured {
            kept,
            asked: 0,
            unusable: 0,
            is_short: false,
            seconds: 0.0,
        },
        silent: 0,
        observer,
        tell,
    };
    let begun = Instant::now();
    let mut own = Workspace::open(workspace.repo.root())?;
    own.trust_everything = workspace.trust_everything;
    let ended = calibration.run(Source::of(own, true)?, asked.cases);
    calibration.measured.seconds = begun.elapsed().as_secs_f64();
    ended.map_err(|mut failure| {
        let hint = "what was answered is kept: `cook calibrate` goes on after it";
        failure.hints.push(hint.to_owned());
        failure
    })?;
    Ok(calibration.measured)
}

/// Gates run in copies, where nobody asks whether they may.
fn require_trust(workspace: &Workspace) -> Result<(), Failure> {
    let trust = workspace.trust()?;
    let gates = workspace.config()?.gate_specs().into_iter();
    let mut commands: Vec<String> = gates.map(|gate| gate.run).collect();
    if let (_, Some(snapshot)) = workspace.current()? {
        let slices = snapshot.plan.candidate_slices.into_iter();
        commands.extend(slices.flat_map(|slice| slice.verification_commands.unwrap_or_default()));
    }
    let Some(run) = commands.iter().find(|run| !trust.is_trusted(run)) else {
        return Ok(());
    };
    let what = format!("`{run}` would run for each case, and this machine does not trust it");
    let hints = [
        format!("run `cook trust {}`", quote_word(run)),
        "or give `--trust-repo` for this run".to_owned(),
    ];
    let refusal = Refusal::new(Code::TrustMissing, what);
    Err(refusal.replace_hints(hints).into())
}

struct Calibration<'a> {
    workspace: &'a Workspace,
    role: Role,
    agent: RoleAgent,
    keeping: Keeping,
    measured: Measured,
    /// Sessions in a row without a verdict.
    silent: usize,
    observer: &'a mut dyn Observer,
    tell: Tell<'a>,
}

impl Calibration<'_> {
    fn run(&mut self, own: Source, cases: usize) -> Result<(), Failure> {
        let mut sources = vec![own];
        let (mut planted, mut clean) = (0, 0);
        while planted < cases {
            let mut found = false;
            let mut tries = 0..cases.saturating_mul(TRIED_FOR_ONE);
            while !found && tries.next().is_some() {
                let mut faults = sources.iter_mut();
                if let Some((at, fault, own)) = faults.find_map(Source::take_fault) {
                    let source = &sources[usize::from(!own)];
                    let past = &source.slices[at];
                    let name = format!("{}:{}", past.id, fault.id);
                    found = self.ask(source, past, Some(&fault), name)?;
                } else if sources.len() > 1 {
                    break;
                } else {
                    (self.tell)(
                        "this repository has no more faults to plant: the history that cook carries is made",
                    );
                    sources.push(Source::carry(self.workspace)?);
                }
            }
            if !found {
                self.measured.is_short = true;
                break;
            }
            planted += 1;
            // Clean cases are of the same histories as planted ones.
            let all = sources.iter();
            let all = all.flat_map(|source| source.slices.iter().map(move |past| (source, past)));
            let all: Vec<_> = all.collect();
            for _ in 0..all.len() {
                let (source, past) = all[clean % all.len()];
                let name = format!("{}:clean-{}", past.id, clean / all.len());
                clean += 1;
                if self.ask(source, past, None, name)? {
                    break;
                }
            }
        }
        if planted > 0 {
            return Ok(());
        }
        let role = self.role;
        let what =
            format!("no fault could be planted that the gates pass and on which the {role} is due");
        let hint = "`cook strength SLICE` says which defects the gates pass; run `cook calibrate` again when another slice is accepted";
        let refusal = Refusal::new(Code::DoesNotApply, what);
        Err(refusal.replace_hints([hint]).into())
    }

    /// Makes a case and has the judge answer it, where that is not kept already. Whether it counts: a gate may
    /// notice it, or the role may not be due on it.
    fn ask(
        &mut self,
        source: &Source,
        past: &DoneSlice,
        fault: Option<&Fault>,
        name: String,
    ) -> Result<bool, Failure> {
        let name = match source.own {
            true => name,
            false => format!("carried/{name}"),
        };
        let mut known = self.measured.kept.answers.iter();
        if let Some(known) = known.find(|one| one.case == name) {
            return Ok(known.refused.is_some());
        }
        let mut answer = Answered {
            case: name,
            fault: fault.map(|fault| fault.kind),
            slice: past.id.clone(),
            own: source.own,
            refused: None,
            cost_micro_usd: None,
            milliseconds: 0,
            at: String::new(),
        };
        let case = match case::make(source, past, fault, self.role)? {
            Made::Ready(case) => case,
            Made::Unusable(why) => {
                self.measured.unusable += 1;
                (self.tell)(&format!("no case: {}: {why}", describe(past, answer.fault)));
                answer.at = self.workspace.clock.now();
                self.measured.kept.add(self.workspace, answer)?;
                return Ok(false);
            }
        };
        let begun = Instant::now();
        let (refused, cost, is_asked_to_end) = self.hear(&case)?;
        answer.refused = Some(refused);
        answer.cost_micro_usd = cost;
        answer.milliseconds = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        answer.at = self.workspace.clock.now();
        let said = if refused { "no" } else { "yes" };
        (self.tell)(&format!("{}: {said}", describe(past, answer.fault)));
        self.measured.kept.add(self.workspace, answer)?;
        self.measured.asked += 1;
        match is_asked_to_end {
            true => Err(Failure::state(Code::Interrupted, "interrupted")),
            false => Ok(true),
        }
    }

    /// Holds sessions until the judge gave its verdict: whether it refused, what that cost (none = unknown), and
    /// whether somebody asked for an end.
    fn hear(&mut self, case: &Case) -> Result<(bool, Option<u64>, bool), Failure> {
        let mut cost = Some(0);
        loop {
            let (root, agent) = (&case.root, &self.agent);
            let held = hold_once(root, self.role, agent, &self.keeping, self.observer)?;
            cost = cost
                .zip(held.cost_micro_usd)
                .map(|(one, other)| one + other);
            if held.nothing.is_none()
                && let Some(verdicts) = verdict_since(&case.root, &case.tip, self.role)?
            {
                self.silent = 0;
                let refused = says_no(self.role, &verdicts);
                return Ok((refused, cost, held.is_asked_to_end));
            }
            if held.is_asked_to_end {
                return Err(Failure::state(Code::Interrupted, "interrupted"));
            }
            self.silent += 1;
            if self.silent >= MOST_SILENT {
                let why = held.nothing.as_deref().unwrap_or("it reported nothing");
                let what =
                    format!("{MOST_SILENT} sessions in a row gave no verdict; the last one: {why}");
                let failure = Failure::new(FailureKind::Supplier, Code::SupplierFailed, what);
                let hint =
                    "`cook calibrate -v` shows what it does, `cook ask` whether it answers at all";
                return Err(failure.replace_hints([hint]));
            }
        }
    }
}

fn describe(past: &DoneSlice, fault: Option<FaultKind>) -> String {
    let what = fault.map_or("clean work", FaultKind::words);
    format!("slice {}, {what}", past.id)
}

/// What the role concluded after that transition.
fn verdict_since(root: &Path, tip: &str, role: Role) -> Result<Option<Verdicts>, Failure> {
    let workspace = case::open(root)?;
    let store = workspace.store()?;
    for meta in store.entries()? {
        let meta = meta?;
        if meta.commit == tip {
            break;
        }
        let event = store.event(&meta.commit)?;
        if event.role() == Some(role)
            && let Event::Reviewed { verdicts, .. }
            | Event::Audited { verdicts, .. }
            | Event::Judged { verdicts, .. } = event
        {
            return Ok(Some(verdicts));
        }
    }
    Ok(None)
}

/// A reviewer and a judge say so. An auditor is asked what is open, and open slices are none of its
/// objections: it says no where it fails a dimension, or counts a blocker or a gap.
fn says_no(role: Role, verdicts: &Verdicts) -> bool {
    match role {
        Role::Auditor => {
            !verdicts.fails.is_empty()
                || verdicts.blocker_count.0 > 0
                || verdicts.high_value_gap_count.0 > 0
        }
        _ => !verdicts.positive,
    }
}
