//! `cook plan`: changes of the plan that are the user's, and its acceptance criteria.

use super::caller::AsUser;
use super::context::{Answer, Context, answer};
use super::input::free_text;
use super::{caller, input, transition};
use crate::service::Workspace;
use crate::view::{Page, Show, Tone};
use crate::{scaffold, service};
use clap::{Args, Subcommand};
use cook_core::diagnostic::{Code, Failure, Lines, Refusal, clean};
use cook_core::machine::CONTRACT_TEXTS;
use cook_core::model::{Event, Evidence, Plan, Slice, SliceStatus};
use cook_core::schema;
use cook_os::disk;
use cook_os::disk::Links;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(super) enum PlanCommand {
    /// Take in an edited `plan.json`, a branch, or put the log's version back (user only)
    Adopt(AdoptArgs),
    /// Change the mission (user only)
    Refocus(RefocusArgs),
    /// Acceptance criteria by number, with their proof; correct one (user only)
    Criteria(CriteriaArgs),
}

pub(super) fn plan(context: &Context, command: &PlanCommand) -> Answer {
    match command {
        PlanCommand::Adopt(args) => adopt(context, args),
        PlanCommand::Refocus(args) => refocus(context, args),
        PlanCommand::Criteria(args) => criteria(context, args),
    }
}

/// Largest `plan.json` that is taken in.
const MAX_PLAN: usize = 16 << 20;

#[derive(Debug, Args)]
pub(super) struct AdoptArgs {
    /// Put the log's version back; the edit is kept (`cook doctor rescue list`)
    #[arg(long, conflicts_with = "branch")]
    pub discard: bool,
    /// Go on on the branch that is checked out
    #[arg(long)]
    pub branch: bool,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn adopt(context: &Context, args: &AdoptArgs) -> Answer {
    let actor = caller::require_user(args.as_user.as_user)?;
    let workspace = context.workspace()?;
    workspace.require()?;
    if args.branch {
        return transition::record(
            &workspace,
            &Event::BranchAdopted,
            actor,
            "the workflow continues on this branch",
        );
    }
    if args.discard {
        return transition::record(
            &workspace,
            &Event::Restored,
            actor,
            "the log's version is back; the edit is kept (`cook doctor rescue list`)",
        );
    }
    let edits = workspace.outside_edits()?;
    if edits.is_empty() {
        return Err(refuse("nothing in `.agent/` differs from the log"));
    }
    if let Some(other) = edits.iter().find(|edit| edit.file != "plan.json") {
        return Err(Failure::from(
            Refusal::new(
                Code::AdoptIllegal,
                format!(
                    "only an edited `plan.json` can be taken in; `.agent/{}` differs too",
                    other.file
                ),
            )
            .replace_hints(["run `cook plan adopt --discard` to put every file back"]),
        ));
    }
    let plan = read_edited_plan(&workspace)?;
    transition::record(
        &workspace,
        &Event::Adopted { plan },
        actor,
        "the edited plan is taken in",
    )
}

fn read_edited_plan(workspace: &Workspace) -> Result<Plan, Failure> {
    let path = workspace.repo.root().join(".agent").join("plan.json");
    let read = disk::read_present(&path, MAX_PLAN as u64 + 1, Links::Refuse);
    let bytes = read.map_err(|error| {
        Failure::state(Code::InputUnreadable, "`.agent/plan.json` cannot be read")
            .with_cause(&error)
    })?;
    schema::read_document::<Plan>(&bytes, MAX_PLAN).map_err(|findings| {
        let mut refusal = Refusal::new(
            Code::AdoptIllegal,
            "the edited `plan.json` breaks its schema",
        );
        refusal.findings = findings;
        refusal.into()
    })
}

/// The refusal of a command that needs a log.
fn refuse(message: &str) -> Failure {
    Refusal::new(Code::DoesNotApply, message).into()
}

#[derive(Debug, Args)]
pub(super) struct RefocusArgs {
    /// The whole new mission
    #[arg(long, value_name = "TEXT", required_unless_present = "mission_file", allow_hyphen_values = true, value_parser = free_text)]
    pub mission: Option<String>,
    /// Read it from a file (`-` = standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "mission")]
    pub mission_file: Option<PathBuf>,
    /// Commit the new `.agent/mission.md`, and nothing else
    #[arg(long)]
    pub commit: bool,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn refocus(context: &Context, args: &RefocusArgs) -> Answer {
    let actor = caller::require_user(args.as_user.as_user)?;
    let mission = input::mission_text(args.mission.as_deref(), args.mission_file.as_deref())?
        .ok_or_else(|| Failure::usage("the mission is missing"))?;
    let workspace = context.workspace()?;
    let event = Event::Refocused {
        mission: mission.clone(),
    };
    workspace.require()?;
    service::dry_run(&workspace, &event, actor)?;
    scaffold::write_mission(workspace.repo.root(), &mission)?;
    let mut summary = "new mission; the old plan stays in the log".to_owned();
    if args.commit {
        let made = workspace
            .repo
            .commit_paths(&[CONTRACT_TEXTS[0]], "Change the mission")?;
        if let Some(commit) = made {
            let short = commit.get(..12).unwrap_or(&commit);
            summary.push_str(&format!("; committed as {short}"));
        }
    }
    transition::record(&workspace, &event, actor, &summary)
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct CriteriaArgs {
    /// Only those of this slice
    pub slice: Option<String>,
    #[command(subcommand)]
    pub command: Option<CriteriaCommand>,
}

#[derive(Debug, Subcommand)]
pub(super) enum CriteriaCommand {
    /// Give up the proof of a criterion of a done slice, which stays done (user only)
    Retire {
        /// The slice
        slice: String,
        /// Which criterion, from 1
        number: u64,
        /// Why nothing need show it any more
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = free_text)]
        reason: String,
        #[command(flatten)]
        as_user: AsUser,
    },
    /// Correct one criterion that proved false (user only)
    Amend {
        /// The slice
        slice: String,
        /// Which criterion, from 1
        number: u64,
        /// The new text
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = free_text)]
        text: String,
        /// Why the old one was false
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = free_text)]
        reason: String,
        #[command(flatten)]
        as_user: AsUser,
    },
}

pub(super) fn criteria(context: &Context, args: &CriteriaArgs) -> Answer {
    match &args.command {
        Some(command) => correct(context, command),
        None => list(context, args.slice.as_deref()),
    }
}

fn list(context: &Context, only: Option<&str>) -> Answer {
    let (_, snapshot) = context.workspace()?.require()?;
    if let Some(id) = only
        && snapshot.plan.slice(id).is_none()
    {
        return Err(
            Failure::unknown(Code::SliceUnknown, format!("no slice is named `{id}`"))
                .replace_hints(["run `cook plan criteria`, which lists all of them"]),
        );
    }
    let slices = snapshot.plan.candidate_slices.iter();
    let slices = slices.filter(|slice| only.is_none_or(|id| slice.slice_id == id));
    answer(CriteriaAnswer {
        slices: slices.map(number_criteria).collect(),
    })
}

fn number_criteria(slice: &Slice) -> CriteriaOfSlice {
    let anchor_of = |criterion: &String| {
        let mut records = slice.evidence.iter().filter_map(Evidence::record);
        records
            .find(|record| record.criterion == *criterion)
            .map(|record| record.anchor.clone())
    };
    let criteria = slice.acceptance_criteria.iter().enumerate();
    CriteriaOfSlice {
        slice_id: slice.slice_id.clone(),
        status: slice.status,
        criteria: criteria
            .map(|(at, text)| NumberedCriterion {
                number: at + 1,
                text: text.clone(),
                anchor: anchor_of(text),
            })
            .collect(),
    }
}

fn correct(context: &Context, command: &CriteriaCommand) -> Answer {
    let (event, as_user, summary) = match command {
        CriteriaCommand::Amend {
            slice,
            number,
            text,
            reason,
            as_user,
        } => {
            let event = Event::CriterionAmended {
                slice_id: slice.clone(),
                number: *number,
                text: text.clone(),
                reason: reason.clone(),
            };
            let summary = "criterion amended; its evidence and reviews are void";
            (event, as_user, summary)
        }
        CriteriaCommand::Retire {
            slice,
            number,
            reason,
            as_user,
        } => {
            let event = Event::ProofRetired {
                slice_id: slice.clone(),
                number: *number,
                reason: reason.clone(),
            };
            let summary = "the proof is given up, and the slice stays as it is";
            (event, as_user, summary)
        }
    };
    let actor = caller::require_user(as_user.as_user)?;
    transition::record(&context.workspace()?, &event, actor, summary)
}

/// The criteria of the plan.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CriteriaAnswer {
    /// In order of the plan.
    pub slices: Vec<CriteriaOfSlice>,
}

/// The criteria of one slice.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CriteriaOfSlice {
    /// The slice.
    pub slice_id: String,
    /// Where it stands.
    pub status: SliceStatus,
    /// The number is the one that `cook plan criteria amend` takes.
    pub criteria: Vec<NumberedCriterion>,
}

/// One criterion.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NumberedCriterion {
    /// From 1.
    pub number: usize,
    /// What must hold.
    pub text: String,
    /// Where its proof stands; null while it has none.
    pub anchor: Option<String>,
}

impl Show for CriteriaAnswer {
    fn human(&self, page: &mut Page) {
        if self.slices.is_empty() {
            page.line("nothing is planned yet");
        }
        for slice in &self.slices {
            page.add_toned(Tone::Strong, &clean(&slice.slice_id, Lines::Fold));
            page.line(&format!(" ({})", slice.status.id()));
            for criterion in &slice.criteria {
                page.line(&format!(
                    "  {}. {}",
                    criterion.number,
                    clean(&criterion.text, Lines::Fold)
                ));
                match &criterion.anchor {
                    Some(anchor) => page.add_toned_line(
                        Tone::Good,
                        &format!("     proof: {}", clean(anchor, Lines::Fold)),
                    ),
                    None => page.add_toned_line(Tone::Dim, "     no proof yet"),
                }
            }
        }
    }
}
