//! `cook calibrate`: how many planted faults does a judge catch?

use super::caller;
use super::context::{Answer, Context, answer};
use super::live_line::Printer;
use crate::calibrate::{Asked, JUDGES, measure};
use crate::drive::{Observer, Unseen};
use crate::judges::{Kept, joint_misses};
use crate::view::CalibrateAnswer;
use clap::Args;
use clap::builder::PossibleValuesParser;
use cook_core::diagnostic::Failure;
use cook_core::model::Role;

/// Most cases of each sort.
const MOST: u32 = 1_000;

#[derive(Debug, Args)]
pub(super) struct CalibrateArgs {
    /// Measure the judge of this role alone (default: all three)
    #[arg(long, value_name = "ROLE", value_parser = PossibleValuesParser::new(["reviewer", "auditor", "stop-judge"]))]
    pub role: Option<String>,
    /// The agent, in place of `[roles.*] agent`
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// So many planted cases for each role, and as many clean ones: a session each
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST)))]
    pub cases: u32,
    /// Forget what these judges answered before
    #[arg(long)]
    pub again: bool,
    /// Trust the gates of this repository for this run
    #[arg(long)]
    pub trust_repo: bool,
}

pub(super) fn calibrate(context: &Context, args: &CalibrateArgs) -> Answer {
    caller::not_nested()?;
    let mut workspace = context.workspace()?;
    caller::not_apart(&workspace)?;
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
    let judges = |role: Role| -> Result<Vec<Kept>, Failure> {
        let mut all = Kept::all(&workspace)?;
        let prompt = cook_core::prompt::version(role);
        all.retain(|kept| kept.identity.role == role && kept.identity.prompt == prompt);
        Ok(all)
    };
    let mut rows = Vec::new();
    for one in measured {
        let joint = joint_misses(&judges(one.kept.identity.role)?);
        rows.push((one, joint));
    }
    answer(CalibrateAnswer::of(rows))
}
