//! `cook plan`: the user's changes to the plan, and the acceptance criteria.

use super::context::*;
use super::recorded;
use crate::init;
use cook_protocol::machine::{CONTRACT_TEXTS, has_mission};
use cook_protocol::schema;

#[derive(Debug, Subcommand)]
pub(super) enum PlanCommand {
    /// Adopt an edited `plan.json` or another branch (user only)
    Adopt(AdoptArgs),
    /// Change the mission (user only)
    Refocus(RefocusArgs),
    /// List the acceptance criteria with their proof, or change one
    Criteria(CriteriaArgs),
}

pub(super) fn plan(context: &Context, command: &PlanCommand) -> Answer {
    match command {
        PlanCommand::Adopt(args) => adopt(context, args),
        PlanCommand::Refocus(args) => refocus(context, args),
        PlanCommand::Criteria(args) => criteria(context, args),
    }
}

/// The maximum size of a `plan.json` in bytes.
const MAX_PLAN: usize = 16 << 20;

#[derive(Debug, Args)]
pub(super) struct AdoptArgs {
    /// Restore the log's version instead; the edit is kept (see `cook doctor rescue list`)
    #[arg(long, conflicts_with = "branch")]
    pub discard: bool,
    /// Continue the workflow on the checked-out branch
    #[arg(long)]
    pub branch: bool,
    #[command(flatten)]
    pub as_user: AsUser,
}

fn adopt(context: &Context, args: &AdoptArgs) -> Answer {
    let actor = context::require_user(args.as_user.as_user)?;
    let workspace = context.workspace()?;
    workspace.require()?;
    if args.branch {
        let done = "the workflow continues on this branch";
        return recorded::record(&workspace, &Event::BranchAdopted, actor, done);
    }
    if args.discard {
        let done = "the log's version is restored; the edit is kept (`cook doctor rescue list`)";
        return recorded::record(&workspace, &Event::Restored, actor, done);
    }
    let edits = workspace.outside_edits()?;
    if edits.is_empty() {
        let what = "nothing in `.agent/` differs from the log";
        return Err(Refusal::new(Code::DoesNotApply, what).into());
    }
    if let Some(other) = edits.iter().find(|edit| edit.file != "plan.json") {
        let file = &other.file;
        let what =
            format!("only an edited `plan.json` can be adopted; `.agent/{file}` differs too");
        return Err(Refusal::new(Code::AdoptIllegal, what)
            .replace_hints(["run `cook plan adopt --discard` to restore every file"])
            .into());
    }
    let plan = read_edited_plan(&workspace)?;
    let done = "the edited plan is adopted";
    recorded::record(&workspace, &Event::Adopted { plan }, actor, done)
}

fn read_edited_plan(workspace: &Workspace) -> Result<Plan> {
    let path = workspace.repo.root().join(".agent").join("plan.json");
    let read = disk::read_present(&path, MAX_PLAN as u64 + 1, Links::Refuse);
    let bytes = read.or_fail(Code::InputUnreadable, "`.agent/plan.json` cannot be read")?;
    schema::read_document::<Plan>(&bytes, MAX_PLAN).map_err(|findings| {
        let what = "the edited `plan.json` breaks its schema";
        Refusal::new(Code::AdoptIllegal, what).with(findings).into()
    })
}

#[derive(Debug, Args)]
pub(super) struct RefocusArgs {
    /// Set the mission to this text
    #[arg(long, value_name = "TEXT", required_unless_present = "mission_file", allow_hyphen_values = true, value_parser = free_text)]
    pub mission: Option<String>,
    /// Read the mission from this file (`-` reads standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "mission")]
    pub mission_file: Option<PathBuf>,
    /// Commit the new `.agent/mission.md`, but no other files
    #[arg(long)]
    pub commit: bool,
    #[command(flatten)]
    pub as_user: AsUser,
}

fn refocus(context: &Context, args: &RefocusArgs) -> Answer {
    let actor = context::require_user(args.as_user.as_user)?;
    let mission = input::mission_text(args.mission.as_deref(), args.mission_file.as_deref())?
        .ok_or_else(|| Failure::usage("the mission is missing"))?;
    let workspace = context.workspace()?;
    let event = Event::Refocused {
        mission: mission.clone(),
    };
    let (_, snapshot) = workspace.require()?;
    if snapshot.goal().is_some() {
        return Err(has_mission(&snapshot).into());
    }
    service::dry_run(&workspace, &event, actor)?;
    init::write_mission(workspace.repo.root(), &mission)?;
    let mut summary = "new mission; the old plan stays in the log".to_owned();
    if args.commit {
        let repo = &workspace.repo;
        if let Some(commit) = repo.commit_paths(&[CONTRACT_TEXTS[0]], "Change the mission")? {
            summary.push_str(&format!("; committed as {commit:.12}"));
        }
    }
    recorded::record(&workspace, &event, actor, &summary)
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct CriteriaArgs {
    /// List only the criteria of this slice
    pub slice: Option<String>,
    #[command(subcommand)]
    pub command: Option<CriteriaCommand>,
}

#[derive(Debug, Clone, Subcommand)]
pub(super) enum CriteriaCommand {
    /// Give up the proof of a criterion; its slice stays done (user only)
    Retire {
        /// ID of the slice
        slice: String,
        /// Number of the criterion, from 1
        number: u64,
        /// Record why the criterion needs no proof any more
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = free_text)]
        reason: String,
        #[command(flatten)]
        as_user: AsUser,
    },
    /// Correct the text of a criterion that proved wrong (user only)
    Amend {
        /// ID of the slice
        slice: String,
        /// Number of the criterion, from 1
        number: u64,
        /// Set the new text of the criterion
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = free_text)]
        text: String,
        /// Record why the old text was wrong
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = free_text)]
        reason: String,
        #[command(flatten)]
        as_user: AsUser,
    },
}

fn criteria(context: &Context, args: &CriteriaArgs) -> Answer {
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
        let failure = Failure::unknown(Code::SliceUnknown, format!("no slice is named `{id}`"));
        let hint = "run `cook plan criteria`, which lists all of them";
        return Err(failure.replace_hints([hint]));
    }
    let slices = snapshot.plan.candidate_slices.iter();
    let slices = slices.filter(|slice| only.is_none_or(|id| slice.slice_id == id));
    answer(CriteriaAnswer {
        slices: slices.map(|slice| CriteriaOfSlice::new(slice)).collect(),
    })
}

/// The criteria of the plan.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct CriteriaAnswer {
    /// Slices, in the order of the plan.
    slices: Vec<CriteriaOfSlice>,
}

/// The criteria of one slice.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct CriteriaOfSlice {
    slice_id: String,
    /// Status of the slice.
    status: SliceStatus,
    /// Criteria of the slice, with the numbers that `cook plan criteria amend` takes.
    criteria: Vec<NumberedCriterion>,
}

/// One criterion.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct NumberedCriterion {
    /// Number of the criterion, from 1.
    number: usize,
    /// Text of the criterion.
    text: String,
    /// Anchor of the proof of the criterion; null without a proof.
    anchor: Option<String>,
}

impl CriteriaOfSlice {
    fn new(slice: &Slice) -> Self {
        let anchor_of = |criterion: &String| {
            let mut records = slice.evidence.iter().filter_map(Evidence::record);
            let record = records.find(|record| record.criterion == *criterion);
            record.map(|record| record.anchor.clone())
        };
        let criteria = slice.acceptance_criteria.iter().zip(1..);
        let criteria = criteria.map(|(text, number)| NumberedCriterion {
            number,
            text: text.clone(),
            anchor: anchor_of(text),
        });
        Self {
            slice_id: slice.slice_id.clone(),
            status: slice.status,
            criteria: criteria.collect(),
        }
    }
}

impl Show for CriteriaAnswer {
    fn human(&self, page: &mut Page) {
        if self.slices.is_empty() {
            page.line("nothing is planned yet");
        }
        for slice in &self.slices {
            page.add_toned(Tone::Strong, &slice.slice_id);
            page.line(&format!(" ({})", slice.status.id()));
            for one in &slice.criteria {
                page.line(&format!("  {}. {}", one.number, one.text));
                match &one.anchor {
                    Some(anchor) => {
                        page.add_toned_line(Tone::Good, &format!("     proof: {anchor}"));
                    }
                    None => page.add_toned_line(Tone::Dim, "     no proof yet"),
                }
            }
        }
    }
}

fn correct(context: &Context, command: &CriteriaCommand) -> Answer {
    let (event, as_user, summary) = match command.clone() {
        CriteriaCommand::Amend {
            slice: slice_id,
            number,
            text,
            reason,
            as_user,
        } => {
            let event = Event::CriterionAmended {
                slice_id,
                number,
                text,
                reason,
            };
            (
                event,
                as_user,
                "criterion amended; its evidence and reviews are void",
            )
        }
        CriteriaCommand::Retire {
            slice: slice_id,
            number,
            reason,
            as_user,
        } => {
            let event = Event::ProofRetired {
                slice_id,
                number,
                reason,
            };
            (
                event,
                as_user,
                "the proof is given up, and the slice stays as it is",
            )
        }
    };
    let actor = context::require_user(as_user.as_user)?;
    recorded::record(&context.workspace()?, &event, actor, summary)
}
