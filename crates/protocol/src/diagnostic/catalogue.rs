//! Every code, once: name, family, severity, meaning, hint.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

// The macro that makes one enum of the catalogue, with the properties of each code.

macro_rules! codes {
    ($($variant:ident $id:literal $family:ident $severity:ident $meaning:literal, $hint:literal;)*) => {
        /// A stable code. Documents, `--json` and exit messages carry its text form.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code {
            $(#[doc = $meaning] #[serde(rename = $id)] $variant,)*
        }

        /// Every code, in the order of this file.
        pub const CATALOGUE: &[Code] = &[$(Code::$variant,)*];

        impl Code {
            /// The text form.
            pub fn id(self) -> &'static str {
                match self { $(Code::$variant => $id,)* }
            }

            /// Where the code is used.
            pub fn family(self) -> Family {
                match self { $(Code::$variant => Family::$family,)* }
            }

            /// Its severity.
            pub fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity,)* }
            }

            /// Its meaning in every case.
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning,)* }
            }

            /// What to do in every case.
            pub fn hint(self) -> &'static str {
                match self { $(Code::$variant => $hint,)* }
            }
        }
    };
}

// The severity of a code, and its family.

/// Severity of a code in `cook verify`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// For the reader; never changes an exit code.
    Note,
    /// Worth a look; changes an exit code only where more is asked for (`--strict`, `cook check`).
    Warning,
    /// A re-ground puts it right; fails with `--strict`.
    NeedsReground,
    /// Fails.
    Error,
}

/// Family of a code: where cook raises it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// A breach of the report grammar or of its consistency rules.
    Report,
    /// A transition that is not taken.
    Refusal,
    /// Something `verify`, `next` or `status` points at.
    Finding,
    /// A command that cannot run.
    Failure,
}

/// The schema gives only the form of a code, because the list grows.
impl schemars::JsonSchema for Code {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Code".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^[a-z][a-z0-9_]*$"})
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.id())
    }
}

codes! {
    // The report grammar and its consistency rules (`protocol/completion.md#reports`).
    ReportEmpty "report_empty" Report Error "the report is empty", "write the report in the format `cook next --prompt` shows";
    ReportTooLarge "report_too_large" Report Error "the answer is larger than the limit", "hand in the report alone, at most 1 MiB";
    ReportNotText "report_not_text" Report Error "the report is not UTF-8 text", "write the report as UTF-8";
    ReportBlockInvalid "report_block_invalid" Report Error "the report's JSON does not have the shape its role needs", "`cook next --prompt` shows the shape";
    ReportBlockMissing "report_block_missing" Report Error "a regrounder's report lacks its JSON block", "add one fenced `json` block below the last field, for example `{\"select\": \"s-1\"}`";
    ReportBlockAmbiguous "report_block_ambiguous" Report Error "the report holds JSON blocks that differ", "keep one fenced `json` block";
    ReportAmbiguous "report_ambiguous" Report Error "the answer holds several different reports", "send one report; indent a quoted one by four spaces";
    FieldMissing "field_missing" Report Error "a required field is missing", "add the field, with its label as `cook next --prompt` shows it";
    FieldEmpty "field_empty" Report Error "a required field is empty", "fill it in; where there is nothing to name, write `none`";
    FieldDuplicated "field_duplicated" Report Error "a field is given twice, with different values", "give the field once; indent a quoted one by four spaces";
    FieldNotYesNo "field_not_yes_no" Report Error "a yes/no field is not exactly one of the two words", "write only the word yes or no; a reason belongs in another field";
    FieldNotCount "field_not_count" Report Error "a count is not one number of at least 0", "write one whole number and nothing after it, 0 for none; name what it counts elsewhere";
    FieldNotInSet "field_not_in_set" Report Error "a field is not exactly one of its allowed values", "write one of the values that `cook next --prompt` lists and nothing after it; without a commit, say what must change or ask the user";
    FieldTooLong "field_too_long" Report Error "a field is longer than the limit", "keep a field under 20,000 characters";
    HeaderMissing "header_missing" Report Error "the answer holds no report that begins with its header", "begin with `MISSION ANCHOR: …` and put each field below it, with its label exactly as `cook next --prompt` shows it";
    RubricMissing "rubric_missing" Report Error "the rubric is missing", "add `Rubric:` and its four lines";
    RubricIncomplete "rubric_incomplete" Report Error "the rubric lacks a dimension", "rate all four dimensions";
    RubricInvalid "rubric_invalid" Report Error "a rubric line is not one of pass, concern and fail with a reason", "write `- Dimension: pass|concern|fail - why`, with a reason that does not begin with another verdict";
    RubricDuplicated "rubric_duplicated" Report Error "a rubric dimension is rated twice, in different words", "rate each dimension once, below one `Rubric:`";
    PositiveWithFail "positive_with_fail" Report Error "the verdict is positive although the rubric holds a `fail`", "a `fail` forbids a positive verdict";
    ReviewYesWithFollowUp "review_yes_with_follow_up" Report Error "an accepting review names a follow-up", "write `none` as the follow-up, or answer no";
    ReviewNoWithoutFollowUp "review_no_without_follow_up" Report Error "a rejecting review names no follow-up slice", "name the smallest follow-up slice";
    AuditCleanWithBlockers "audit_clean_with_blockers" Report Error "the worktree is called clean, yet worktree blockers are named", "write `none` as the worktree blockers, or say that the worktree is not clean";
    AuditDirtyWithoutBlockers "audit_dirty_without_blockers" Report Error "the worktree is called dirty, yet no worktree blocker is described", "name the paths that `git status` shows, or say that the worktree is clean";
    AuditOpenWithoutNextSlice "audit_open_without_next_slice" Report Error "something is open, yet no next mandatory slice is named", "name the next mandatory slice, or report `none` as open ids and 0 as counts";
    JudgeYesWithOpenContracts "judge_yes_with_open_contracts" Report Error "the answer is yes although contract ids are open", "answer no, or write `none` as the open contract ids";
    JudgeYesWithBlockers "judge_yes_with_blockers" Report Error "the answer is yes although a blocker or gap count is above 0", "answer no, or write 0 as the count";
    JudgeYesWithDocsMismatch "judge_yes_with_docs_mismatch" Report Error "the answer is yes although the docs do not match", "answer no, or answer yes for the docs too when they match";
    JudgeYesWithDirtyWorktree "judge_yes_with_dirty_worktree" Report Error "the answer is yes although the worktree is dirty", "answer no, or answer yes for the worktree too when `git status` shows nothing";
    BlockContradictsField "block_contradicts_field" Report Error "a regrounder's JSON block contradicts a field", "make the field and the block say the same";
    ReturnWithoutReason "return_without_reason" Report Error "the plan must change, yet no reason is given", "say why in `Residual risks discovered`";

    // Transitions that are not taken.
    NotYourTurn "not_your_turn" Refusal Error "another role is due", "run `cook next`";
    WrongSlice "wrong_slice" Refusal Error "the report is about another slice", "run `cook next --json` for the slice in work";
    MissionMismatch "mission_mismatch" Refusal Error "the report's mission anchor is not the anchor of the mission", "copy the anchor that `cook next --prompt` prints";
    RemainingIdsMismatch "remaining_ids_mismatch" Refusal Error "the header's remaining contract ids differ from the state", "copy the ids that `cook next --prompt` prints";
    CleanMismatch "clean_mismatch" Refusal Error "the report contradicts what cook measures of the worktree", "run `git status`";
    StaleTicket "stale_ticket" Refusal Error "the ticket was issued for another state of the log or of HEAD", "run `cook next` and start the role again";
    StaleFacts "stale_facts" Refusal Error "the repository changed while the transition was computed", "run the command again";
    TreeChanged "tree_changed" Refusal Error "a read-only role's session changed the worktree", "take a new ticket with `cook next`, or put the named paths back";
    HeadMoved "head_moved" Refusal Error "HEAD moved since the role was dispatched", "run `cook next`";
    DuplicateReport "duplicate_report" Refusal Error "this report is indistinguishable from a recorded one", "hand in each role's own report, with `--session` or the `--ticket` of `cook next --json`; each judge of a wave needs its own session";
    NotByCook "not_by_cook" Refusal Error "cook may not re-ground this itself", "run `cook run`, which asks the regrounder";
    GoalExists "goal_exists" Refusal Error "a goal or a mission exists already", "see it with `cook goal`; the user drops it with `cook goal drop`";
    GoalNone "goal_none" Refusal Error "there is no goal here", "the user sets one: `cook goal 'WORDS' --check 'COMMAND'`";
    GoalCheckGreen "goal_check_green" Refusal Error "a check is green before any work: it cannot tell whether the goal is reached", "name a check that is red now; `--allow-green` keeps this one beside others";
    GoalCheckUnknown "goal_check_unknown" Refusal Error "a check is neither red nor green", "mend what the message names, or name another command";
    GoalDetached "goal_detached" Refusal Error "HEAD is on no branch, and a goal belongs to one", "run `git switch -c NAME`, then set the goal";
    HiddenUnfit "hidden_unfit" Refusal Error "a hidden file is not hidden, or cannot be kept", "name a plain, uncommitted file of at most 1 MiB outside the repository";
    NoProgress "no_progress" Refusal Error "the same rule would answer again on the same facts", "reconcile, select a slice, change the plan, or stop with a question or a blocker";
    BlockersOpen "blockers_open" Refusal Error "release blockers or high-value gaps are named while no slice is open", "open or reopen a slice for them, ask the user, or give empty lists: `\"release_blocker_ids\": []`, `\"high_value_gaps\": []`";
    SliceUnknown "slice_unknown" Refusal Error "no slice has that id", "run `cook status`";
    SliceDuplicated "slice_duplicated" Refusal Error "two slices have the same id", "give each slice of the plan an id of its own";
    SliceIdInvalid "slice_id_invalid" Refusal Error "a slice id is not one word of letters, digits, `.`, `_`, `-`", "begin the id with a letter or digit and use only letters, digits, `.`, `_`, `-`, at most 100";
    SliceRemoved "slice_removed" Refusal Error "the plan leaves out a slice", "cancel a slice with a reason; never remove one";
    PlanTooLarge "plan_too_large" Refusal Error "the plan has more slices than the limit", "give a plan at most 5,000 slices";
    PlanMalformed "plan_malformed" Refusal Error "an imported plan breaks its format at the named place", "mend that line, then run the command again";
    PlanEmpty "plan_empty" Refusal Error "an imported plan names no task", "list tasks in it as `- [ ] TEXT`, or name another file";
    PlanUnknown "plan_unknown" Refusal Error "there is no plan that cook can read", "name a file: `specs/NAME/tasks.md`, `openspec/changes/NAME/tasks.md`, `.kiro/specs/NAME/tasks.md`, `.taskmaster/tasks/tasks.json`, `prd.json`, a check list, JSON of `gh issue list`, or `.beads/issues.jsonl`";
    PlanAmbiguous "plan_ambiguous" Refusal Error "there are several plans", "name one of them: `cook init --from PATH`";
    PlanMarksDone "plan_marks_done" Refusal Error "a plan marks a slice done", "only an accepted reconciliation makes a slice done";
    PlanStatusIgnored "plan_status_ignored" Finding Warning "the plan gives a status to a slice that is done or cancelled", "reopen a done slice with `reopen`";
    AnswerMoved "answer_moved" Finding Warning "a user's answer no longer binds an open slice that it bound", "if the answer concerns that slice, name it in `answers_to`";
    BlockersCleared "blockers_cleared" Finding Warning "a re-ground omits what the previous one named as missing", "name it again in `release_blocker_ids` or `high_value_gaps` while it is missing";
    SelectionDiffers "selection_differs" Finding Warning "a report names a slice as selected that its block does not select", "select it with `\"select\": \"ID\"`";
    PlanTwice "plan_twice" Refusal Error "the block gives both the whole plan and changes of it", "give `add`, `change`, `cancel` and `order`, or `candidate_slices`";
    OrderUnknown "order_unknown" Refusal Error "`order` must name open slices, each once", "name open slices of the plan, first to last";
    PlanStatusIllegal "plan_status_illegal" Refusal Error "a plan gives a slice a status it cannot take", "leave `status` out, or write planned, blocked or cancelled; `select` selects a slice";
    CancelWithoutReason "cancel_without_reason" Refusal Error "a slice is cancelled without a reason", "add `reason` to the slice";
    BlockWithoutReason "block_without_reason" Refusal Error "a slice, or the work, is called blocked without a reason", "add `reason` to the slice, or name in `blocked_on` what it waits for";
    ReopenWithoutReason "reopen_without_reason" Refusal Error "a slice is reopened, and nothing says what must be fixed", "say it in `findings` of `reconcile`";
    NamedTwice "named_twice" Refusal Error "a list of the block names the same thing twice", "name it once";
    CriteriaEmpty "criteria_empty" Refusal Error "a slice lacks a goal or acceptance criteria, or one of them is blank", "write the `goal` and the `acceptance_criteria` in the plan, or use `--text` and `--reason` of `cook plan criteria amend SLICE`";
    CriterionDuplicated "criterion_duplicated" Refusal Error "a slice lists the same criterion twice", "give each criterion of a slice once";
    CriteriaWeakened "criteria_weakened" Refusal Error "a locked criterion was dropped or reworded without proof", "keep it word for word, or prove it with `evidence`; only the user may amend a false criterion (`cook plan criteria amend SLICE`); cancel an unwanted slice with a reason";
    GoalChanged "goal_changed" Refusal Error "the goal of a slice that is selected or done was changed", "plan a new slice";
    DependencyCycle "dependency_cycle" Refusal Error "slices wait for one another in a circle", "take one of the named slices out of the `blocked_on` of another";
    BlockedOnCancelled "blocked_on_cancelled" Refusal Error "an open slice waits for a cancelled one", "take the cancelled slice out of its `blocked_on`, or cancel it too";
    CommandMalformed "command_malformed" Refusal Error "a verification command is empty or has an open quote", "write it as words; list a command that needs a shell as `sh -c '…'`";
    SelectBlocked "select_blocked" Refusal Error "the selected slice is blocked", "select a slice that `cook status --ready` lists, or change its `blocked_on` or `status` in the plan";
    SelectClosed "select_closed" Refusal Error "the selected slice is done or cancelled", "name an open slice: `cook status --graph` shows which are open";
    SelectDirty "select_dirty" Refusal Error "a slice is selected while the worktree is not clean", "the user must commit, stash or ignore the named paths; until then omit `select`, and if nothing else changes, stop with `\"policy\": {\"to\": \"blocked\", \"why\": \"uncommitted: …\", \"exit\": \"git status\"}`";
    NoCommitYet "no_commit_yet" Refusal Error "the repository has no commit yet", "run `cook init --commit`";
    ContractUncommittedRefusal "contract_uncommitted" Refusal NeedsReground "contract files are not committed", "run `cook init --commit`";
    UnreconciledCommit "unreconciled_commit" Refusal Error "a committed slice is not reconciled, and another is selected", "reconcile it first: accepted or reopened";
    ReconcileNotDue "reconcile_not_due" Refusal Error "no committed slice needs a reconciliation", "leave `reconcile` out, and write `none` as the decision";
    ReviewNegative "review_negative" Refusal Error "the review said no, so the slice can only be reopened", "reconcile it as reopened";
    EvidenceMissing "evidence_missing" Refusal Error "a criterion has no valid evidence of its own", "give every criterion an anchor: a test, a line that a gate prints, or a place in a file";
    EvidenceUnverified "evidence_unverified" Refusal Error "an anchor does not hold at HEAD", "cite what `cook next --prompt` lists as proof: a test or a gate's line that is green at HEAD, or lines of the work (`PATH:LINE`); untrusted commands do not run: see `cook trust COMMAND`";
    EvidenceUnrelated "evidence_unrelated" Refusal Error "an anchor names something that cannot prove a criterion", "name a test, a line that a gate prints, or a place in a file";
    EvidenceShared "evidence_shared" Refusal Error "one proof is given for several criteria", "give each criterion an anchor of its own";
    EvidenceNotNew "evidence_not_new" Refusal Error "every proof of the slice already held at its basis", "claim a test that is red on the code of the basis, text that stood in no file of the basis, or `gone:PATH`";
    ReopenElsewhere "reopen_elsewhere" Refusal Error "`at` of a reopened slice is not a commit on HEAD", "name a commit that `git log` shows, or leave `at` out";
    EvidenceMalformed "evidence_malformed" Refusal Error "an anchor does not follow the grammar, or its basis does not fit", "write `test:NAME`, `cmd:COMMAND#LINE`, `receipt:ID`, `path:line` or `path:symbol`, with the basis that fits";
    ConcludeNotDue "conclude_not_due" Refusal Error "the stop wave is not complete", "run `cook next`";
    ConcludeMissing "conclude_missing" Refusal Error "the stop wave is complete and the report does not conclude it", "add `conclude`";
    StopNotUnanimous "stop_not_unanimous" Refusal Error "a judge of this wave said no, or counted a blocker", "conclude with go_on";
    StopVerifierRed "stop_verifier_red" Refusal Error "`bash .agent/verify_completion_stop.sh` does not pass at this HEAD", "run it and plan what it needs";
    StopDirty "stop_dirty" Refusal Error "the worktree is not clean", "conclude with go_on, or commit, stash or ignore the named paths";
    WaveLimit "wave_limit" Refusal Error "two waves were held at this HEAD", "plan or reopen a slice, ask the user, or name what blocks";
    NoUnanswered "no_unanswered" Refusal Error "a rejection by a judge, a review or an audit is not answered", "answer each with a slice or a reason";
    CommitUnknown "commit_unknown" Refusal Error "the reported commit does not exist", "copy the full commit id from `git log`";
    CommitNotOnHead "commit_not_on_head" Refusal Error "the reported commit is not on HEAD", "switch to the branch that holds it, or report a commit that `git log` shows";
    AuthorityBreached "authority_breached" Refusal Error "a session did what its role may not do", "`cook doctor rescue list` shows what was put back";
    CommitNotAfterBasis "commit_not_after_basis" Refusal Error "the reported commit does not descend from the slice's basis", "report a commit that comes after `basis_commit` in `.agent/active-slice.json`";
    CommitEmpty "commit_empty" Refusal Error "the slice's commits change no tracked file", "commit the change itself, or report `none` and say what the plan must change";
    ProtectedPath "protected_path" Refusal Error "the slice's commits change a protected path", "name the path in the slice's `implementation_surfaces`, or leave it alone";
    WrongCommit "wrong_commit" Refusal Error "the report names a commit other than the required one", "run `cook next --json`";
    CommitAlreadyReported "commit_already_reported" Refusal Error "this commit is already reported", "run `cook next`";
    BudgetSpent "budget_spent" Refusal Error "the budget is spent", "run `cook resume --add …`";
    DoesNotApply "does_not_apply" Refusal Error "that command does not apply now", "run `cook status`";
    RemoteAhead "remote_ahead" Refusal Error "the remote holds transitions that are missing here", "run `cook pull`, then the command again";
    LogDiverged "log_diverged" Refusal Error "each side has transitions that the other lacks", "run `cook pull` without `--keep-mine`: it takes the remote's and sets the local ones aside";
    SecretFound "secret_found" Refusal Error "the push would contain what looks like a secret", "revoke it where it was issued; `cook push --allow-secret ID` pushes it unchanged";
    PushUnconfirmed "push_unconfirmed" Refusal Error "a first push publishes what the message lists and needs a confirmation", "look at the list, then run `cook push --yes`";
    AnswerMissing "answer_missing" Refusal Error "the user's answer is missing", "run `cook resume --answer 'TEXT'`";
    AlreadyAnswered "already_answered" Refusal Error "the user has answered this question", "continue with the answer, or ask for what it leaves open";
    AnswerUnknown "answer_unknown" Refusal Error "no answer or rejection has that name", "name one as the prompt does: `answer-NUMBER`, `no-NUMBER`, `review-NUMBER`";
    NoteForged "note_forged" Refusal Error "a plan's note imitates the user's own words", "leave the note out; cook adds the user's answers itself, and `answers_to` says which slices they concern";
    AnswerUnplaced "answer_unplaced" Refusal Error "the user's answer would bind no slice", "name an open slice, or reopen the done one in the same report";
    TrustMissing "trust_missing" Refusal Error "commands are not trusted yet", "run `cook trust 'COMMAND'`";
    GatesNotGreen "gates_not_green" Refusal Error "a gate is red without any planted defect, so it cannot notice one", "run `cook gate --clean`, and mend what it names";
    DefectReportUnread "defect_report_unread" Refusal Error "cook cannot read this report of planted defects", "hand in `mutants.out/outcomes.json` of `cargo mutants`, or JSON in the schema of mutation-testing-elements";
    UserOnly "user_only" Refusal Error "only a person may do this, and an agent's environment called cook", "run it in your own terminal";
    InsideRole "inside_role" Refusal Error "a role's session may not do this", "finish this session's own work, and say in its report what else is needed";
    Fenced "fenced" Refusal Error "another writer took over", "run `cook status`";
    AdoptIllegal "adopt_illegal" Refusal Error "the edited plan may not replace the recorded plan", "run `cook plan adopt --discard` to put the log's plan back";
    UndoTooFar "undo_too_far" Refusal Error "there are not that many transitions to take back", "run `cook log`";
    IssueUnknown "issue_unknown" Refusal Error "the tracker has no such issue", "run `cook issue ready`";
    IssueHeld "issue_held" Refusal Error "another actor holds the issue", "run `cook issue ready`";
    IssueNotClosed "issue_not_closed" Refusal Error "the tracker left the issue open", "run `cook issue show ID`";
    IssueFollowsSlice "issue_follows_slice" Refusal Error "the issue or slice moves with the plan: claimed when selected, closed when accepted", "run `cook next`";
    IssueDirty "issue_dirty" Refusal Error "an issue is closed on a worktree that is not clean", "commit, stash or ignore the named paths";
    TrackerRefused "tracker_refused" Refusal Error "the issue tracker refused", "run `cook issue status`";
    MissionMissing "mission_missing" Refusal Error "the mission is not known yet", "run `cook plan refocus --mission TEXT`";
    SilentDrop "silent_drop" Refusal Error "entries of the brief would be lost without a valid cause", "name each under `reconciliation` (`--reconcile FILE`) with a live entry or a user's message as its cause, or keep it";
    BriefEntryUnknown "brief_entry_unknown" Refusal Error "no live entry of the brief has that id", "run `cook brief --ids`";
    BriefContradictory "brief_contradictory" Refusal Error "a reconciliation contradicts itself about one entry", "say one of them";
    BriefFull "brief_full" Refusal Error "a slot of the brief is full", "supersede or retire what no longer matters";
    BriefInvalid "brief_invalid" Refusal Error "an entry of the brief breaks its format", "mend the named field, then run the command again";
    BriefUnproved "brief_unproved" Refusal Error "an entry of the brief is not proved: its evidence does not hold now, its source is missing, or its quote is not what the user wrote", "anchor it to HEAD or to a user's message quoted word for word, or note it under `open`";
    BriefUnchanged "brief_unchanged" Refusal Error "the brief says so already", "run `cook brief`";
    GuideMissing "guide_missing" Refusal Error "no update of the agent guide is proposed", "an artifact brings one: `cook brief import FILE`";
    FactMissing "fact_missing" Refusal Error "a decision read a fact that was not measured: a defect in cook", "report it";

    // Findings of `verify`, `next` and `status`.
    ContractMissing "contract_missing" Finding Error "a contract file is not in the worktree", "run `cook init`";
    ContractUntracked "contract_untracked" Finding NeedsReground "a contract file is not committed", "run `cook init --commit`";
    ContractEdited "contract_edited" Finding NeedsReground "a contract file differs from the log's", "if the change is yours, run `cook init` for settings and profile, or `cook plan refocus --mission-file .agent/mission.md` for the mission; otherwise restore the file with git";
    DocumentUnreadable "document_unreadable" Finding Error "a document is not valid JSON", "the next re-ground puts the log's version back; `cook plan adopt --discard` does it now";
    DocumentInvalid "document_invalid" Finding Error "a document breaks its schema", "the next re-ground puts the log's version back; `cook plan adopt --discard` does it now";
    DocumentMissing "document_missing" Finding Error "a document is missing", "the next re-ground puts the log's version back; `cook plan adopt --discard` does it now";
    DocumentTooLarge "document_too_large" Finding Error "a document is larger than cook reads", "the next re-ground puts the log's version back; `cook plan adopt --discard` does it now";
    StateForged "state_forged" Finding Error "`state.json` differs from the log", "the next re-ground puts the log's version back; `cook plan adopt --discard` does it now";
    HistoryForged "history_forged" Finding Error "a history differs from the log", "the next re-ground puts the log's version back; `cook plan adopt --discard` does it now";
    HistoryTorn "history_torn" Finding Error "a history's last line is incomplete", "the next re-ground puts the log's version back; `cook plan adopt --discard` does it now";
    EditedOutside "edited_outside" Finding NeedsReground "a document was edited outside cook", "`cook plan adopt` takes an edited plan in; `cook plan adopt --discard` puts the log's version back";
    SliceNotInPlan "slice_not_in_plan" Finding NeedsReground "the active slice is not in the plan", "run `cook next`: the re-ground selects a slice of the plan";
    HandoffDiffers "handoff_differs" Finding NeedsReground "the active slice differs from its plan entry", "run `cook next`: the re-ground rewrites the handoff";
    HandoffIncomplete "handoff_incomplete" Finding Error "the active slice lacks handoff fields", "run `cook next`: the re-ground selects the slice again, with its handoff";
    StatusPairIllegal "status_pair_illegal" Finding NeedsReground "the statuses of the active slice and of its plan entry contradict each other", "run `cook next`: the re-ground selects or reconciles the slice again";
    CriteriaMissing "criteria_missing" Finding NeedsReground "a slice has no acceptance criteria", "add `acceptance_criteria` to the slice in the plan of the next re-ground";
    BasisUnresolved "basis_unresolved" Finding NeedsReground "`basis_commit` is not a commit of this repository", "fetch the commit, or run `cook next`: the re-ground selects the slice again";
    BasisNotAncestor "basis_not_ancestor" Finding NeedsReground "`basis_commit` is not an ancestor of HEAD", "switch to the branch that holds it, or run `cook next`: the re-ground continues from the merge base";
    SliceHeadVanished "slice_head_vanished" Finding NeedsReground "the committed slice's commit is not on HEAD", "switch to the branch that holds it, or run `cook next`: the re-ground reopens the slice";
    ForeignCommits "foreign_commits" Finding Note "there are commits since the last re-ground that belong to no slice", "look at them with `git log`; a commit of a slice carries the trailer `Cook-Slice: ID`";
    ForeignTouchesSlice "foreign_touches_slice" Finding NeedsReground "a commit outside the slice changes files of the slice", "look at it with `git show`, then run `cook next`: the re-ground judges the slice again";
    HistoryRewritten "history_rewritten" Finding NeedsReground "HEAD no longer contains a commit that the log has seen", "look at `git reflog`, then run `cook verify`";
    SelectedTwice "selected_twice" Finding NeedsReground "two slices are selected", "run `cook next`: the re-ground leaves one of them selected";
    RegroundRequired "reground_required" Finding NeedsReground "a re-ground is due", "run `cook next`, and start the regrounder";
    DispatchDiffers "dispatch_differs" Finding NeedsReground "the stored next role differs from dispatch", "run `cook next`";
    UnbornHead "unborn_head" Finding NeedsReground "the repository has no commit yet", "run `cook init --commit`";
    StopVerifierStale "stop_verifier_stale" Finding NeedsReground "the stop verifier is out of date with the repository", "run `cook init`";
    BlockedOnUnknown "blocked_on_unknown" Finding Warning "`blocked_on` names a slice that the plan does not have", "correct the id in `blocked_on`, or say there in words what the slice waits for";
    SelectionNotFirst "selection_not_first" Finding Warning "the selected slice is not the first in order of work", "give the reason in `why_now`, or select the slice that `cook status --ready` lists first";
    CriterionDropped "criterion_dropped" Finding Warning "a criterion was dropped with proof", "check the proof; if it does not hold, plan the criterion again";
    ProofBroken "proof_broken" Finding Error "the accepted proof of a done slice no longer holds", "the next re-ground reopens the slice, or claims a moved text at its new place";
    ProofUnguarded "proof_unguarded" Refusal Error "the accepted version of a test passes, but HEAD has no such test", "put the test back, or claim the test that replaced it in `evidence`; `select` may continue";
    ProofUnrunnable "proof_unrunnable" Refusal Error "the accepted version of a test cannot be built, loaded or run at HEAD", "claim another proof in `evidence`, or reopen the slice";
    ProofNotAsked "proof_not_asked" Finding Note "the proof of a done slice was not run at this tree", "nothing: it runs before a slice is accepted, before `stop`, and with `cook verify --rerun`";
    ProofReplaced "proof_replaced" Finding Warning "the proof of a done slice was replaced", "check whether the new proof asks for the same as the old one";
    TextOnly "text_only" Finding Warning "no command ran for the new proof of a slice", "check whether a test could show it; text shows that something was written, not that it works";
    ProofNotNew "proof_not_new" Finding Warning "a proof already held at the slice's basis", "check whether the slice meets the criterion; a test that is red at the basis shows it";
    Rebound "rebound" Finding Note "HEAD lost the slice's commit, but has the same tree", "nothing: the work continues at HEAD";
    ProofStale "proof_stale" Finding NeedsReground "a done slice's proof belongs to another state of the repository", "run `cook gate --clean`, or let the next re-ground anchor it again";
    StopVerifierFailed "stop_verifier_failed" Finding Error "`bash .agent/verify_completion_stop.sh` does not pass", "run it and mend what it names";
    EvidenceImported "evidence_imported" Finding NeedsReground "a done slice's evidence is plain text from an older layout", "anchor the criterion again in `evidence` of the next re-ground";
    RoomRed "room_red" Finding NeedsReground "a required gate is red at HEAD in a clean room", "open or reopen a slice that mends it; `cook verify stop` checks again";
    GateRed "gate_red" Finding Warning "a gate is red", "run `cook gate --clean`, and mend what it names";
    GateOptionalRed "gate_optional_red" Finding Warning "an optional gate is red", "run `cook gate --clean`, and mend what it names; the slice can be accepted without it";
    StopVerifierUntrusted "stop_verifier_untrusted" Finding Error "the stop verifier was not run: this machine does not trust its scripts", "look at them, then run `cook trust 'bash .agent/verify_completion_stop.sh'`; `--trust-repo` trusts for one run";
    GateUntrusted "gate_untrusted" Finding Warning "a gate is not trusted on this machine", "run `cook trust 'COMMAND'`";
    TrustForeign "trust_foreign" Finding Warning "another user made this machine's list of trusted commands, so it does not count", "look at `.agent/cook.toml`, then run `cook trust --gates`";
    ProgramAbsent "program_absent" Finding Warning "a gate or the setup names a program that is not on this machine", "install it; `cook gate` then says whether its place must be trusted";
    NextRoleDiffers "next_role_differs" Finding Note "the report expects another next role than dispatch", "run `cook next`, and start the role that it names";
    CommandDropped "command_dropped" Finding Warning "a slice in work no longer names a verification command", "add the command to `verification_commands` again, unless another command proves the same";
    SliceImported "slice_imported" Finding Warning "a slice was imported as done from state that cook did not write here", "anchor its criteria again in the next re-ground, or build it again";
    SliceCancelled "slice_cancelled" Finding Warning "a slice was cancelled", "plan a new slice if the reason does not hold";
    PassToFail "pass_to_fail" Finding Warning "a test was green at the base and is red on the new code", "mend the code, or declare the change in a commit's message: `Test-Changed: NAME: why`";
    Bent "bent" Finding Warning "a test is green only because it was changed: its old version is still red", "mend the code, or declare the change in a commit's message: `Test-Changed: NAME: why`";
    TestRepaired "test_repaired" Finding Warning "a red test became green although only the test changed", "declare the change in a commit's message: `Test-Changed: NAME: why`";
    SetAside "set_aside" Finding Warning "a test that ran and passed is skipped now", "let it run again, or declare the change in a commit's message: `Test-Changed: NAME: why`";
    Lost "lost" Finding Warning "a test that ran at the base no longer runs", "put it back if nothing else proves the same";
    RedBefore "red_before" Finding Warning "a test is red and was red before the change", "mend it, or name it in `[check] known_red` of `.agent/cook.toml`";
    NotComparable "not_comparable" Finding Warning "the old tests have no result on the new code: they cannot be built or loaded, or do not run", "declare the change in a commit's message, by test or by directory: `Test-Changed: DIRECTORY/: why`";
    FailToPass "fail_to_pass" Finding Note "a test fails without the change and passes with it", "nothing: it proves that the tests notice the change";
    RunnerChanged "runner_changed" Finding Warning "edited settings of the test runner hide a red test", "take the edit back, or declare it in a commit's message: `Test-Changed: PATH: why`";
    GateChanged "gate_changed" Finding Warning "the command of a gate changed, and the old one could not be tried", "declare the change in a commit's message: `Test-Changed: PATH: why`";
    MadeFlaky "made_flaky" Finding Warning "a test became flaky: some runs pass, some fail", "mend the test or the code so that every run has the same result";
    Flaky "flaky" Finding Note "a test was flaky before and still is: some runs pass, some fail", "mend the test so that every run has the same result";
    NothingRan "nothing_ran" Finding Warning "a gate ran no test", "name the repository's tests in `[gates]` of `.agent/cook.toml`";
    DeclarationUnknown "declaration_unknown" Finding Warning "a commit declares a changed test that is not among the results", "name the test as `cook check` names it";
    TestChangeUnanswered "test_change_unanswered" Finding Warning "a review says yes but does not address a declared change of a test", "write `WAIVE ID: why` in `Findings` for each id that the prompt shows";
    TestsUndeclared "tests_undeclared" Refusal Error "tests of the basis do not hold on the new code, and no commit declares it", "mend the code, or declare each change in a commit's message (`git commit --allow-empty`): `Test-Changed: NAME: why`";
    GateNeedsUncommitted "gate_needs_uncommitted" Finding Error "a gate is green in the worktree and red in the commit", "commit what the gate needs, or make it in `[clean_room] setup`";
    ChangeUnnoticed "change_unnoticed" Finding Warning "the gates pass even with the change taken back", "add a test that fails without the change";
    DefectsUnnoticed "defects_unnoticed" Finding Warning "no gate notices some planted defects", "run `cook strength SLICE`, which shows each; add a test that fails with it";
    StrengthUnknown "strength_unknown" Finding Warning "it is unknown whether the gates notice planted defects", "look at what the message names; `cook strength SLICE` tries it again";
    WaiverUnknown "waiver_unknown" Finding Warning "a waiver in a review names no planted defect, or gives no reason", "write `WAIVE ID: why` in `Findings`, with an id that the prompt shows";
    ProvesNothing "proves_nothing" Finding Warning "the gates pass even with the whole change taken back, so they prove nothing about it", "add a test that fails without the change";
    UnwatchedEdits "unwatched_edits" Finding Warning "git ignores edits of tracked files here, so cook cannot tell whether they are committed", "run `git update-index --no-assume-unchanged --no-skip-worktree PATH`";
    RoomLacks "room_lacks" Finding Warning "a gate is red in the clean room but green on the same commit with the user's environment", "declare its needs in the repository, or name them in `[clean_room]` of `.agent/cook.toml`";
    NoGates "no_gates" Finding Warning "there is no command that could test the commit", "name the repository's test in `[gates]` of `.agent/cook.toml`";
    GateSurroundings "gate_surroundings" Finding Warning "a gate used something that another clone may lack, or gave two results for one tree", "the message names the remedy: `cook trust --program NAME`, `cook trust --tools` or `[clean_room] dir`; mend a gate that passes by chance";
    NotifyFailed "notify_failed" Finding Warning "the command of `[notify]` failed", "run the command of `[notify]` by hand; `cook trust 'COMMAND'` lets cook run it";
    OutsideSurfaces "outside_surfaces" Finding Warning "files outside the slice's surfaces were changed", "say why under `Files changed`, or name the files in `implementation_surfaces`";
    AnswersEnded "answers_ended" Finding Warning "earlier answers of the user no longer bind: the mission changed or they were undone", "repeat the valid ones in the mission or with `cook brief say TEXT`";
    AcceptDirty "accept_dirty" Finding Warning "a slice was not accepted, because the worktree is not clean", "commit, stash or ignore the named paths";
    DirtyWorktree "dirty_worktree" Finding Warning "the worktree is not clean", "commit, stash or ignore the named paths";
    OtherBranchNow "other_branch_now" Finding NeedsReground "the checked-out branch is not the one of the workflow", "`git switch` back, or run `cook plan adopt --branch`";
    HeadMovedSinceDone "head_moved_since_done" Finding NeedsReground "HEAD moved after the project was found done", "in the workflow's worktree `cook resume` continues here; elsewhere check out the done commit or an exact merge of it";
    CheckoutPending "checkout_pending" Finding Warning "the log is ahead of `.agent/`", "the next writing command of cook brings it up to date";
    Displaced "displaced" Finding Note "copies of edited files were set aside", "run `cook doctor rescue list`";
    ScriptedCommand "scripted_command" Finding Note "a script ran a user-only command", "run `cook log N` with its number: it shows what the command did";
    UnansweredNo "unanswered_no" Finding NeedsReground "a rejection by a judge or a review is not answered", "answer it in `answers` of the next re-ground, with a slice or a reason";
    HooksMissing "hooks_missing" Finding Error "hooks are not installed", "run `cook hooks install AGENT`";
    HooksStale "hooks_stale" Finding Error "installed hooks differ from those of this version", "run `cook hooks install AGENT`";
    HooksDead "hooks_dead" Finding Error "the installed command does not work", "put `cook` on the PATH that the agent has";
    HooksUnseen "hooks_unseen" Finding Warning "hooks are installed but were never called", "start a new session of the agent; `cook hooks check AGENT` says more";
    TrailTorn "trail_torn" Finding Warning "a line of an append-only file is malformed", "look at the named file; all other lines were read";
    InboxTaken "inbox_taken" Finding Note "cook took in what a sandboxed session left", "run `cook status` to see where the work stands now";
    InboxRefused "inbox_refused" Finding Warning "a file in the inbox was set aside", "look at the file, which now ends in `.refused`";
    RecordNotRecomputable "record_not_recomputable" Finding Error "a recorded report is not what its session answered", "run `cook log ID` on the transition";
    FactsContradicted "facts_contradicted" Finding Error "the log contradicts git about a commit", "ask those who may write this log; `cook log ID` shows what the transition says";
    LogNotDerivable "log_not_derivable" Finding Error "the log holds a state that does not follow from its events", "run `cook doctor fsck` where the log was written; if it was fetched (`--from`), ask those who may push there";
    LogDamaged "log_damaged" Finding Error "an object or a link of the log is damaged", "copy the named object back from a copy of `<git dir>/cook/log.git`, then run `cook doctor fsck`";
    LogRewound "log_rewound" Finding Error "the log's branch is behind a transition that this worktree has shown", "`cook next` prints the command that brings the later transitions back";
    TransitionsSetAside "transitions_set_aside" Finding Warning "transitions that the remote lacks were set aside", "look at them with the command that the message names; do their work again where it still counts";
    BranchElsewhere "branch_elsewhere" Finding Warning "the branch is at another commit on the remote", "run `git pull`, or `cook push`";
    PushPending "push_pending" Finding Warning "the remote does not have the newest transitions yet", "run `cook push`";
    LogMissing "log_missing" Finding NeedsReground "there is no log for this worktree", "a clone does not bring its log: `cook pull` gets it from where it was pushed, `cook verify --from REMOTE` reads it there";
    GoalNotReached "goal_not_reached" Finding Error "the goal is not reached at this commit", "run `cook goal`: it names each check that is not green";
    GoalCommands "goal_commands" Finding Error "a log names commands that nobody has allowed here", "read them, then run it again with `--goal DIGEST`";
    CheckWrittenByAgent "check_written_by_agent" Finding Warning "a check's file was added after the goal was set and notices no planted defect", "the user should look at that file";
    NotDone "not_done" Finding Error "the project is not done at this HEAD", "run `cook next`; `cook verify control-plane --strict` checks work in progress";
    NotRerun "not_rerun" Finding Error "this commit is not the judged one, and no gate ran on it here", "run `cook verify --rerun`";
    CriterionDiffers "criterion_differs" Finding Error "a criterion's gate or test has another result than recorded", "run the named command at the named commit: `cook gate` runs gates";
    NoCommandRan "no_command_ran" Finding Warning "the job ran no command: it has no gate, and no command proves a criterion", "run a gate, and prove a criterion with a test; if the mission is only text, set `text_proof_alone` in `.agent/profile.json`";
    ProofNotReproducible "proof_not_reproducible" Finding Warning "a criterion's proof can be neither looked up nor run here", "the message names what is missing";
    HistoryShallow "history_shallow" Finding Error "this clone does not hold the history that the proof rests on", "run `git fetch --unshallow`; in CI check out with `fetch-depth: 0`";
    SliceNotProven "slice_not_proven" Finding Error "the slice is not done, or its accepted proof is not recorded", "run `cook status`";
    WordUnsigned "word_unsigned" Finding Error "nobody on the base branch's list signed the fetched log", "let a signer in `.agent/allowed_signers` of the base branch run `cook push --sign`";
    WordSignerUnknown "word_signer_unknown" Finding Error "the log's tip is signed by a key that the base branch does not list", "let a signer in `.agent/allowed_signers` of the base run `cook push --sign`; to add a signer, change the contract alone";
    WordSignerExpired "word_signer_expired" Finding Error "the log's tip is signed by a listed key that is not valid now", "run `cook push --sign --key FILE` with a key whose `valid-before` has not passed, or renew its line in a change of the contract alone";
    WordNamespace "word_namespace" Finding Error "the log's tip is signed for something else than cook", "run `cook push --sign`, which signs for `cook`; a line of `.agent/allowed_signers` with `namespaces` must name `cook`";
    ContractChanged "contract_changed" Finding Error "the branch changes the contract that judges it; a person must decide", "put the file back; or look at the change, and pass `--accept-contract DIGEST` with the digest that the answer names";
    ContractWeaker "contract_weaker" Finding Error "the log proves less than the base's contract requires", "prove what is named; `--accept-contract DIGEST` judges by the contract of HEAD, with the digest that the answer names";
    ContractStronger "contract_stronger" Finding Note "the contract requires more than the base's", "satisfy both";
    ContractAlone "contract_alone" Finding Error "only the contract is changed; a person must decide", "look at the named differences, then merge it yourself; `--accept-contract DIGEST` says the same in CI";
    ContractNotAccepted "contract_not_accepted" Finding Error "the accepted contract is not this one", "look at the contract again: an acceptance ends with an edit";
    BaseContractMissing "base_contract_missing" Finding Error "the base has no contract that could judge the branch", "merge the contract alone first (`cook init --commit` writes it), or name another base";
    RunnerFilesWritten "runner_files_written" Finding Error "something wrote the CI runner's files while gates ran", "look at what the gates start; install bubblewrap and set `[sandbox] mode = \"required\"`, so that no gate can";
    VotesMissing "votes_missing" Finding Error "the stop wave lacks votes at this HEAD", "run `cook next`";
    ImportDropped "import_dropped" Finding Note "an imported document held unknown fields", "look at the named place, and carry over by hand what still matters";
    ArtifactKeyUnknown "artifact_key_unknown" Finding Warning "an artifact holds an unknown key", "correct the key if it was meant to be read; `cook brief export` shows the known keys";
    BriefDemoted "brief_demoted" Finding Warning "an established entry became a question, because its anchor changed", "anchor it again: `cook brief note established …`";
    BriefNotTaken "brief_not_taken" Finding Warning "the task and its end come from the documents, not from the artifact", "run `cook plan refocus --mission TEXT` where the mission is another";
    BriefUnverified "brief_unverified" Finding Warning "the evidence of an imported entry does not hold now", "run `cook brief check`";
    BriefOverBudget "brief_over_budget" Finding Warning "the required part of the brief exceeds the budget", "run `cook brief --all`, or give more room with `--max-bytes`";
    BriefUndone "brief_undone" Finding Note "`cook undo` changed entries of the brief", "run `cook brief --ids`";
    ReadyIncomplete "ready_incomplete" Finding Note "the tracker did not say in time what depends on an issue", "run `cook issue show ID` for what is missing";
    TrackerBehind "tracker_behind" Finding Warning "the issue tracker refused an update; cook will retry", "run `cook issue status`";
    SessionDamaged "session_damaged" Finding Error "stored data of a session is damaged", "import it from another copy: `cook session import FILE`";
    RefChosen "ref_chosen" Finding Note "several calls have the given content, and one was taken", "give the whole ref to name another one; `cook session log` lists them";
    AgentUnfit "agent_unfit" Finding Error "the settings name an agent that cannot work here", "mend the named table of `.agent/cook.toml`; `cook doctor agents` lists those that are here";
    AgentSilent "agent_silent" Finding Error "an agent did not answer", "run `cook doctor agents`";
    SandboxOff "sandbox_off" Finding Warning "agents run without a sandbox: their changes are measured afterwards", "install bubblewrap and leave `[sandbox] mode` at `auto`; `cook doctor` says what stands in the way";
    SandboxOpened "sandbox_opened" Finding Warning "agents reach a socket of this machine from inside the sandbox", "take it out of `[sandbox] sockets` in `.agent/cook.toml` when it is not needed";
    TreeMoved "tree_moved" Finding Warning "the worktree differs from the one that the conversation left", "tell the agent what changed; `--require-tree` refuses such a call";
    ConfigInvalid "config_invalid" Finding Error "`.agent/cook.toml` cannot be read", "mend the named line, then run the command again";

    // Commands that cannot run.
    ArtifactUnreadable "artifact_unreadable" Failure Error "no artifact can be read from the input", "give one JSON object of at most 1 MiB";
    ArtifactAmbiguous "artifact_ambiguous" Failure Error "the input holds two different artifacts", "keep one";
    ArtifactInvalid "artifact_invalid" Failure Error "an artifact breaks its contract", "mend the named field";
    PathUnsafe "path_unsafe" Failure Error "that path may not be written", "name a plain path inside the worktree, free of symlinks";
    Usage "usage" Failure Error "the command line is wrong", "run `cook --help`, or put `--help` behind the command";
    NotARepository "not_a_repository" Failure Error "this is not a git repository", "run `git init`";
    BareRepository "bare_repository" Failure Error "a bare repository has no worktree to work in", "run cook in a worktree";
    RepositoryAstray "repository_astray" Failure Error "a file of the git dir leads git to another repository", "look at `.git/commondir`, then remove it: only the git dir of a linked worktree has one";
    ForeignOwner "foreign_owner" Failure Error "the repository belongs to another user", "run cook as the user that owns it";
    GitMissing "git_missing" Failure Error "the `git` program is not on PATH", "install git";
    GitFailed "git_failed" Failure Error "git could not answer", "run `git status` and mend what it names";
    AgentDirUnsafe "agent_dir_unsafe" Failure Error "`.agent`, or a file of cook's in it, is a symlink or of another kind", "move it away, then run the command again";
    NotReproducible "not_reproducible" Failure Error "the commit cannot be checked out from its objects alone", "provide or commit what the message names, then run the command again";
    NoSpace "no_space" Failure Error "the file system has too little space for the commit's files", "free space where the message says, or move `[clean_room] dir`";
    NotWritable "not_writable" Failure Error "a file cannot be written", "free space or correct the permissions at the named place, then run the command again";
    NotInitialised "not_initialised" Failure Error "cook is not set up here", "run `cook init --mission TEXT`";
    LogUnreadable "log_unreadable" Failure Error "the log cannot be read", "run `cook doctor fsck`";
    LogUnclaimed "log_unclaimed" Failure Error "the id or the log branch of this worktree's workflow is lost", "run `cook init --log ID` with one of the ids that the message names";
    LogUnsafe "log_unsafe" Failure Error "the log's directory is not as cook writes it", "look at `<git dir>/cook`; cook does not use it as it stands";
    LogTooOld "log_too_old" Failure Error "the log was written by a cook from before the first release", "finish the work with the cook that wrote it, or move the directory `cook` of the git directory to another place and run `cook init`; nothing of the worktree is lost";
    LogTooNew "log_too_new" Failure Error "the log was written by a newer cook", "update cook";
    RemoteUnknown "remote_unknown" Failure Error "there is no such remote, or none is named", "name one that `git remote -v` shows, or a URL: `cook push REMOTE`, `cook pull REMOTE`";
    RemoteUnreachable "remote_unreachable" Failure Error "the remote did not answer, or did not let this user in; nothing changed", "try `git ls-remote`, mend what it names, then run the command again";
    RemoteRefused "remote_refused" Failure Error "the remote took nothing of the push", "mend what git names, then run `cook push` again";
    RemoteNotAtomic "remote_not_atomic" Failure Error "the remote cannot take several refs at once", "use a remote that can; nothing was pushed";
    RemoteSplit "remote_split" Failure Error "the remote took a part of the push and refused the rest", "run `cook push --yes` again: it pushes the log alone before anything else";
    RemoteMirror "remote_mirror" Failure Error "the remote is a mirror: a push there would delete what this clone does not have", "run `git config --unset remote.NAME.mirror`, or name another remote";
    RemoteLogAbsent "remote_log_absent" Failure Error "the remote has no log for this branch", "run `cook push` where the work was done; `cook init` begins it here";
    RemoteLogRefused "remote_log_refused" Failure Error "cook did not write the remote's log; nothing of it was taken", "ask those who may push there; `cook push` from a clone with the right log says what prevents it";
    RemoteLogRewound "remote_log_rewound" Failure Error "the log of the remote is not the one that this clone has seen there; nothing changed", "ask whoever may push there; a clone that holds the later transitions can push them again";
    LogGone "log_gone" Failure Error "the log that this clone has seen on the remote is gone; no new one is begun", "ask whoever may push there; a clone that holds the log can push it again";
    LogOther "log_other" Failure Error "the remote holds the log of another workflow for this branch, and it is not finished", "work on a branch of your own, or finish or cancel that workflow where it is";
    BranchMissing "branch_missing" Failure Error "no branch is checked out, and a log belongs to a branch", "run `git switch BRANCH`, or name it: `cook pull --branch BRANCH`";
    LockHeld "lock_held" Failure Error "another cook is writing", "run the command again";
    StepOvertaken "step_overtaken" Failure Error "another worker was first at the remote; this step's work is kept", "run the command again";
    LeaseHeld "lease_held" Failure Error "another cook drives this workflow", "run `cook status`";
    ForgeAbsent "forge_absent" Failure Error "neither `gh` nor `glab` is installed", "install one and log in with it, or run `cook report --format pr >body.md` and make the request by hand";
    ForgeRefused "forge_refused" Failure Error "the forge's program made no pull request", "push the branch (`cook push`), log in (`gh auth login`, `glab auth login`), and name the other program with `--with` where it is the wrong one";
    SigningFormat "signing_format" Failure Error "git is set to sign without SSH, and cook signs with SSH keys only", "run `git config cook.signingkey ~/.ssh/id_ed25519.pub`, or name the key: `--key FILE`";
    SigningKeyMissing "signing_key_missing" Failure Error "no signing key is named, or it does not exist", "run `git config cook.signingkey ~/.ssh/id_ed25519.pub`, or name the key: `--key FILE`; `ssh-keygen -t ed25519` makes one";
    SigningFailed "signing_failed" Failure Error "`ssh-keygen` failed", "look at its message; a key with a passphrase needs a terminal or `ssh-add`";
    SshKeygenMissing "ssh_keygen_missing" Failure Error "`ssh-keygen`, which makes and checks signatures, is not on PATH", "install OpenSSH 8.7 or later";
    SignerNotListed "signer_not_listed" Failure Error "the list does not allow the signing key for the namespace `cook`", "find out whose key it is; a line of the list is `NAME namespaces=\"cook\" ssh-ed25519 …`";
    SignerOutOfTime "signer_out_of_time" Failure Error "the list allows the key, but not now", "sign anew with a key that is valid, or ask whoever keeps the list";
    SignatureNamespace "signature_namespace" Failure Error "the signature was made for another purpose than attestations of cook", "sign with `cook attest --sign`, or `ssh-keygen -Y sign -n cook`";
    SignatureInvalid "signature_invalid" Failure Error "the signature belongs to other bytes, or is malformed", "get the file from where it was made; `cook attest --sign` makes a new one";
    AttestationEmpty "attestation_empty" Failure Error "the file holds no statement", "run `cook attest --out FILE`";
    AttestationUnsigned "attestation_unsigned" Failure Error "the statement is unsigned, so anybody may have written it", "run `cook attest --sign --out FILE`";
    AttestationMalformed "attestation_malformed" Failure Error "the file is not what `cook attest` writes", "get the file from where it was made; `cook attest --out FILE` makes a new one";
    AttestationAmbiguous "attestation_ambiguous" Failure Error "the file says one thing twice, and readers may differ", "get the file from where it was made; `cook attest --out FILE` makes a new one";
    AttestationType "attestation_type" Failure Error "the file holds another kind of statement than `cook attest` writes", "check it with the tool that made it";
    AttestationOtherCommit "attestation_other_commit" Failure Error "the statement is about another commit", "check out the commit that it names, or name it with `--commit`";
    OutputUnwritable "output_unwritable" Failure Error "the answer could not be written to standard output", "free space where standard output leads; `cook log` shows what was done";
    WriteFailed "write_failed" Failure Error "the transition could not be written; nothing changed", "free space or correct the permissions, then run the command again";
    InputTooLarge "input_too_large" Failure Error "the input is larger than the limit", "give a smaller input";
    InputUnreadable "input_unreadable" Failure Error "the input cannot be read", "name a readable file of UTF-8 text, or `-` for standard input";
    OperationUnknown "operation_unknown" Failure Error "the transition is not known", "run `cook log`";
    ReportInvalid "report_invalid" Failure Error "the report breaks the grammar", "run `cook record ROLE --repair-prompt FILE`";
    Interrupted "interrupted" Failure Error "cook was interrupted while a gate ran or git spoke to a remote; nothing changed here", "run the command again";
    HooksFile "hooks_file" Failure Error "an agent's settings file cannot be changed", "mend or move the named file, then run the command again";
    SessionUnknown "session_unknown" Failure Error "no such agent session is known here", "run `cook hooks check AGENT`";
    TrackerAbsent "tracker_absent" Failure Error "this worktree has no issue tracker of that kind", "run `br init` or `bd init`, or set `[tracker] kind`";
    TrackerUnavailable "tracker_unavailable" Failure Error "the issue tracker is locked, does not answer, or may not be used", "run `cook issue status`";
    TrackerUnreadable "tracker_unreadable" Failure Error "the issue tracker's answer has an unknown shape", "update cook, or set `[tracker] kind = \"none\"`";
    AgentUnknown "agent_unknown" Failure Error "the agent is not known", "run `cook doctor agents`";
    AgentInvalid "agent_invalid" Failure Error "a table of `cook.toml` does not define a valid agent", "mend the named table of `.agent/cook.toml`";
    JudgeUncalibrated "judge_uncalibrated" Refusal Error "`[rules] min_catch_rate` requires a catch rate that was not measured for this agent and prompt", "run `cook calibrate`, or lower `min_catch_rate`";
    JudgeMissesMuch "judge_misses_much" Refusal Error "an agent's catch rate is below `[rules] min_catch_rate`", "choose another agent or model for the role, or lower `min_catch_rate`";
    AgentUntrusted "agent_untrusted" Failure Error "an agent that `cook.toml` defines is not trusted on this machine", "look at its table, then run `cook trust 'WORDS'`";
    SandboxUnavailable "sandbox_unavailable" Failure Error "the settings require the sandbox, which does not work here", "mend what the message names, then run `cook doctor`; `mode = \"auto\"` under `[sandbox]` runs without it";
    SchemaInvalid "schema_invalid" Failure Error "the given file is not a JSON Schema 2020-12", "mend the schema file";
    ContinuationNotSupported "continuation_not_supported" Failure Error "the agent cannot continue a conversation in the requested way", "ask afresh without `--on-…`, or use another agent";
    EpisodeCompacted "episode_compacted" Failure Error "a compaction closed the episode", "continue in its series: `--on-series REF`";
    EpisodeNotFound "episode_not_found" Failure Error "the episode is not known", "run `cook session log`, and name an episode of the list";
    SeriesNotFound "series_not_found" Failure Error "the series is not known", "run `cook session log`, and name a series of the list";
    RefAmbiguous "ref_ambiguous" Failure Error "several refs begin with that text", "give more characters of the ref";
    RefKindMismatch "ref_kind_mismatch" Failure Error "the ref is of another kind", "give an episode to `--on-episode` and a series to `--on-series`; `cook session show REF` takes both";
    ObjectCorrupt "object_corrupt" Failure Error "stored data of a session is damaged", "run `cook session verify`";
    OnConflict "on_conflict" Failure Error "neither or both of episode and series are given", "give one of `--on-episode` and `--on-series`";
    ContextWindowExceeded "context_window_exceeded" Failure Error "the call does not fit the agent's context window", "continue with `--on-series REF`, say less, or use an agent with a larger window";
    OutputSchemaInvalid "output_schema_invalid" Failure Error "every answer broke the schema", "ask again, or relax the schema";
    SupplierFailed "supplier_failed" Failure Error "the agent ended with an error", "run `cook doctor agents` to see which agents are here, then try again";
    SupplierTimeout "supplier_timeout" Failure Error "the agent did not answer in time", "give it longer with `--timeout` or `--idle-timeout`";
    SupplierUnparseable "supplier_unparseable" Failure Error "the agent's output is unreadable", "ask again; `cook doctor --probe` says whether the agent answers";
    ReadOnlyViolated "read_only_violated" Failure Error "a question changed the repository", "look with `git status`; `cook act TEXT` is for orders that change something";
    TreeDrift "tree_drift" Failure Error "the worktree is not the one the conversation left", "leave `--require-tree` out to go on with the tree as it is";
    JudgeNotIndependent "judge_not_independent" Failure Error "two answers come from one session", "ask each in a session of its own";
    DemoFailed "demo_failed" Failure Error "the demonstration did not finish", "mend what is named, then run `cook demo` again";
    DemoNotCaught "demo_not_caught" Failure Error "the demonstration did not catch an agent that misbehaved: a defect in cook", "report it";
    SessionStoreFailed "session_store" Failure Error "the session store cannot be read or written", "run `cook doctor`";
    SessionLayoutEarlier "session_layout_earlier" Failure Error "an earlier cook kept its sessions in another layout, which is not read", "move `<git dir>/cook/sessions` away, or remove it";
    TrustUnreadable "trust_unreadable" Failure Error "the list of trusted commands cannot be read", "move `<git dir>/cook/trust.json` away, then run `cook trust --gates`";
}
