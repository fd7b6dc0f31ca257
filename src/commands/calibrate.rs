//! `cook calibrate`: measures how many planted faults a judge catches.

use super::context::*;
use super::run::Printer;
use crate::calibrate::{Asked, JUDGES, Measured, measure};
use crate::judges::{Kept, Known, joint_misses};
use crate::run::{Observer, Unseen};
use clap::builder::PossibleValuesParser;
use cook_mutants::{FaultKind, Joint, Share};

/// The largest number of cases of each kind.
const MOST: u32 = 1_000;

#[derive(Debug, Args)]
pub(super) struct CalibrateArgs {
    /// Measure only the judge of this role [default: all three]
    #[arg(long, value_name = "ROLE", value_parser = PossibleValuesParser::new(["reviewer", "auditor", "stop-judge"]))]
    pub role: Option<String>,
    /// Measure this agent instead of the agents of `cook.toml`
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Give each role this many cases with a planted fault and as many clean ones, one session each
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST)))]
    pub cases: u32,
    /// Discard earlier answers of these judges
    #[arg(long)]
    pub again: bool,
    /// Trust the gates of this repository for this run
    #[arg(long)]
    pub trust_repo: bool,
}

pub(super) fn calibrate(context: &Context, args: &CalibrateArgs) -> Answer {
    context::not_nested()?;
    let mut workspace = context.workspace()?;
    context::not_apart(&workspace)?;
    workspace.trust_everything = args.trust_repo;
    let roles: Vec<Role> = match &args.role {
        Some(role) => Role::parse(role).into_iter().collect(),
        None => JUDGES.to_vec(),
    };
    let screen = context.screen;
    let tell = |text: &str| screen.note(text);
    let mut observer: Box<dyn Observer> = match screen.verbose {
        true => Box::new(Printer::new(screen)),
        false => Box::new(Unseen),
    };
    let mut measured = Vec::new();
    for role in roles {
        let asked = Asked {
            role,
            agent: args.agent.as_deref(),
            cases: args.cases as usize,
            again: args.again,
        };
        measured.push(measure(&workspace, &asked, &mut *observer, &tell)?);
    }
    let kept = Kept::all(&workspace)?;
    let judges = measured.into_iter().filter_map(|one| {
        let own = &one.kept.identity;
        let mut judges = kept.clone();
        judges.retain(|it| (it.identity.role, &it.identity.prompt) == (own.role, &own.prompt));
        row(one, joint_misses(&judges))
    });
    let judges = judges.collect();
    answer(CalibrateAnswer { judges })
}

/// A number of hits, the number of cases, and the 95 % confidence interval of the share.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct ShareView {
    pub hits: u64,
    pub of: u64,
    /// Lower end of the confidence interval, from 0 to 1.
    low: f64,
    high: f64,
}

impl From<Share> for ShareView {
    fn from(share: Share) -> Self {
        let interval = share.interval();
        Self {
            hits: share.hits,
            of: share.of,
            low: interval.low,
            high: interval.high,
        }
    }
}

/// Planted faults of one kind.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct KindRow {
    /// Kind of the fault.
    #[schemars(with = "String")]
    kind: FaultKind,
    caught: u64,
    of: u64,
}

/// Faults that several judges of a role all missed.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct JointView {
    missed: ShareView,
    /// Share of faults that all judges would miss if their errors were independent.
    by_chance: f64,
    /// Number of independent judges that would miss as many faults; null if the judges missed none or all of them
    /// together.
    worth: Option<f64>,
}

/// The measurements of one judge.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct JudgeRow {
    role: Role,
    agent: String,
    /// Model; null if the agent chose it.
    model: Option<String>,
    /// Version of the role's prompt.
    prompt: String,
    /// Planted faults that the judge rejected.
    caught: ShareView,
    /// Clean cases that the judge rejected.
    alarms: ShareView,
    /// Whether the rejections are informative: the lower end of `caught` is above the share of `alarms`.
    tells_apart: bool,
    kinds: Vec<KindRow>,
    /// Number of cases that were asked in this run; the others were answered earlier.
    asked: usize,
    /// Number of faults of this run that no judge was asked about, because a gate noticed them.
    unusable: usize,
    /// Whether fewer faults could be planted than requested.
    is_short: bool,
    /// Number of cases from the history of this repository; the others come from an example in cook.
    own: usize,
    /// Cost of all cases of the judge in millionths of a US dollar; null if the cost of one is unknown.
    cost_micro_usd: Option<u64>,
    /// Time of the sessions of the judge, in seconds.
    session_seconds: f64,
    /// Time of this run in seconds, including gates and copies.
    seconds: f64,
    /// Comparison with other measured judges of this role; null if there are none.
    joint: Option<JointView>,
    #[serde(skip)]
    words: String,
}

/// The measured judges.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct CalibrateAnswer {
    judges: Vec<JudgeRow>,
}

fn row(measured: Measured, joint: Option<Joint>) -> Option<JudgeRow> {
    let known = Known::of(&measured.kept)?;
    let heard = || {
        let answers = measured.kept.answers.iter();
        answers.filter_map(|one| Some((one, one.refused?)))
    };
    let mut kinds: BTreeMap<FaultKind, (u64, u64)> = BTreeMap::new();
    for (one, refused) in heard() {
        let Some(kind) = one.fault else { continue };
        let (caught, of) = kinds.entry(kind).or_default();
        *caught += u64::from(refused);
        *of += 1;
    }
    let kinds = kinds.into_iter();
    let kinds = kinds.map(|(kind, (caught, of))| KindRow { kind, caught, of });
    let milliseconds: u64 = heard().map(|(one, _)| one.milliseconds).sum();
    Some(JudgeRow {
        words: known.words(),
        caught: known.caught.into(),
        alarms: known.alarms.into(),
        tells_apart: known.tells_apart(),
        kinds: kinds.collect(),
        asked: measured.asked,
        unusable: measured.unusable,
        is_short: measured.is_short,
        own: heard().filter(|(one, _)| one.own).count(),
        cost_micro_usd: heard().map(|(one, _)| one.cost_micro_usd).sum(),
        session_seconds: milliseconds as f64 / 1_000.0,
        seconds: measured.seconds,
        joint: joint.map(|joint| JointView {
            missed: joint.missed.into(),
            by_chance: joint.by_chance,
            worth: joint.worth,
        }),
        role: measured.kept.identity.role,
        agent: measured.kept.identity.agent,
        model: measured.kept.identity.model,
        prompt: measured.kept.identity.prompt,
    })
}

impl JudgeRow {
    fn human(&self, page: &mut Page) {
        let tone = match self.tells_apart {
            true => Tone::Good,
            false => Tone::Bad,
        };
        page.add_toned(tone, self.role.short());
        let model = self.model.as_ref();
        let model = model.map_or(String::new(), |model| format!(" ({model})"));
        page.line(&format!("  {}{model} {}", self.agent, self.words));
        for kind in &self.kinds {
            let words = kind.kind.words();
            page.line(&format!("    {} of {}  {words}", kind.caught, kind.of));
        }
        if let Some(joint) = &self.joint {
            let worth = joint.worth.map_or(String::new(), |worth| {
                format!("; that equals {worth:.1} judges with independent errors")
            });
            page.line(&format!(
                "    together, the measured judges of this role missed {} of {}{worth}",
                joint.missed.hits, joint.missed.of
            ));
        }
        let all = self.caught.of + self.alarms.of;
        let cost = self.cost_micro_usd.map_or_else(
            || "of unknown cost".to_owned(),
            |cost| format!("${:.2}", cost as f64 / 1e6),
        );
        let mut line = format!(
            "  {} ({} of them now), {} of this repository's history, {cost}, {:.0} s of sessions",
            count_noun(all, "case"),
            self.asked,
            self.own,
            self.session_seconds
        );
        if self.unusable > 0 {
            line.push_str(&format!(
                "; gates noticed {} more",
                count_noun(self.unusable, "fault")
            ));
        }
        if self.is_short {
            line.push_str("; there were no more to plant");
        }
        page.add_toned_line(Tone::Dim, &line);
    }
}

impl Show for CalibrateAnswer {
    fn human(&self, page: &mut Page) {
        for judge in &self.judges {
            judge.human(page);
        }
    }
}
