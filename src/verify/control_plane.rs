//! Checks contract, documents, histories, log and the plan's evidence, without running a gate.

use super::criterion_proof::{Outcome, check_proof};
use super::git_facts::Again;
use super::verification::{Answered, find_standing};
use crate::prelude::*;
use crate::service;
use crate::workspace::Workspace;
use cook_protocol::machine::{CONTRACT_TEXTS, OutsideEdit};
use cook_protocol::model::{
    ActiveSlice, BriefDocument, CitedExchange, SliceRecord, State, StopRecord, VerificationEvidence,
};
use cook_protocol::prompt;
use cook_protocol::report::{self, Provenance, Reported};
use cook_protocol::schema::{self, Documented, MAX_DOCUMENT_BYTES};
use cook_repo::run_again;
use cook_repo::session::wrong_citation;
use cook_repo::store::Before;
use std::io::{BufRead, BufReader, Read};

/// Maximum number of dirty paths that are named.
const NAMED: usize = 5;

/// Whether the state is sound: contract, documents, histories, log, and the plan's evidence.
///
/// # Errors
/// A failing git, or a log that cannot be read.
pub fn control_plane(workspace: &Workspace) -> Result<Answered> {
    let mut outcome = check_state(workspace)?;
    if let Some(snapshot) = outcome.sound_log(workspace)? {
        check_proof(workspace, &snapshot, &mut outcome)?;
        // A fetched log also concerns HEAD if HEAD has the done commit's tree or is its merge.
        if workspace.log_from.is_some()
            && find_standing(workspace, &snapshot, &mut Outcome::default())?
                .how
                .is_some()
        {
            outcome.forget(Code::HeadMovedSinceDone);
        }
    } else if workspace.log_from.is_some() && !outcome.has_found(Code::LogDamaged) {
        outcome.miss_log(workspace);
    }
    let answer = match (&workspace.store, &workspace.log_from) {
        (Some(_), None) => "contract, documents, log and histories were compared",
        (Some(_), Some(_)) => "contract, log and histories were compared",
        (None, Some(_)) => "there is no log there, so only the contract was checked",
        (None, None) => "there is no log here, so only the contract was checked",
    };
    Ok(Answered {
        // If no log was named, the contract alone is a complete question.
        has_log: workspace.store.is_some() || workspace.log_from.is_none(),
        ..Answered::new("is the state sound?", answer, outcome.sort())
    })
}

/// Checks contract, documents, histories and log.
pub(super) fn check_state(workspace: &Workspace) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    outcome.findings.extend(workspace.config_problem().cloned());
    check_worktree(workspace, &mut outcome)?;
    // The objects of a log that was just fetched need no check: git has computed each id from the content, and the
    // chain was followed to its end.
    let own = workspace.store.as_ref();
    let own = own.filter(|_| workspace.log_from.is_none());
    if let Some(reach) = own.map(Store::reach).transpose()? {
        let count = count_noun(reach.objects, "object");
        outcome.add_checked(format!("{count} that the log leads to"));
        outcome.findings.extend(reach.findings);
        if !reach.is_whole {
            // The transitions cannot be replayed.
            let snapshot = match reach.stands {
                true => workspace.current()?.1,
                false => None,
            };
            check_contract(workspace, snapshot.as_ref(), &mut outcome)?;
            return Ok(outcome);
        }
    }
    let (_, snapshot) = workspace.current()?;
    // A goal has no contract, and its documents are in the git directory.
    let is_goal = snapshot.as_ref().is_some_and(|it| it.goal().is_some());
    if !is_goal {
        check_contract(workspace, snapshot.as_ref(), &mut outcome)?;
    }
    let Some(snapshot) = snapshot else {
        check_without_log(workspace, &mut outcome)?;
        return Ok(outcome);
    };
    if workspace.log_from.is_none() && !is_goal {
        check_documents(workspace, &snapshot, &mut outcome)?;
    }
    check_log(workspace, &mut outcome)?;
    check_sessions(workspace, &mut outcome)?;
    check_dispatch(workspace, &snapshot, &mut outcome)?;
    Ok(outcome)
}

/// Verification is about a commit, so a worktree that differs from it is a finding.
pub(super) fn check_worktree(workspace: &Workspace, outcome: &mut Outcome) -> Result<()> {
    let status = workspace.repo.read_status_anew()?.worktree;
    if !status.is_clean() {
        let dirty = status.name_dirty(NAMED);
        let what = format!("the worktree is not clean: {dirty}");
        outcome.find(Code::DirtyWorktree, what);
    }
    let unwatched = workspace.repo.list_unwatched()?;
    if let Some(first) = unwatched.first() {
        let more = and_more(unwatched.len() - 1);
        let what = format!(
            "git is set to ignore changes to {first}{more}, so a clean status does not cover them; `git update-index --no-assume-unchanged --no-skip-worktree` ends that"
        );
        outcome.find(Code::DirtyWorktree, what);
    }
    outcome.add_checked("the worktree against HEAD");
    Ok(())
}

/// Replays every event and compares the result with the log.
pub(super) fn check_log(workspace: &Workspace, outcome: &mut Outcome) -> Result<()> {
    let mut again = Again::new(workspace)?;
    let mut failed = None;
    let mut untrue = Vec::new();
    let mut builders = BTreeMap::new();
    let mut seq = 0;
    let report = workspace.store()?.replay(|before, event, facts, actor| {
        seq += 1;
        let produced = run_again(before, event, facts, actor)?;
        let mut find = |code, what| {
            untrue.push(Finding::new(code, what).at(format!("transition {seq}")));
        };
        if let Some((role, built)) = find_builder(&mut builders, seq, event) {
            let what = format!("the {role} is the session that did the work (transition {built})");
            find(Code::JudgeNotIndependent, what);
        }
        match again.contradiction(seq, before, event, facts) {
            Ok(None) => {}
            Ok(Some(what)) => find(
                Code::FactsContradicted,
                format!("git says otherwise: {what}"),
            ),
            Err(failure) => failed = failed.take().or(Some(failure)),
        }
        Ok(produced)
    })?;
    if let Some(failure) = failed {
        return Err(failure);
    }
    outcome.add_checked(format!(
        "{} run again, {} compared; git asked again about {}",
        count_noun(report.transitions, "transition"),
        count_noun(report.records, "record"),
        again.compared
    ));
    outcome.findings.extend(report.findings);
    outcome.findings.extend(untrue);
    outcome.findings.extend(again.tell_unasked());
    if workspace.log_from.is_none() {
        outcome.findings.extend(workspace.store()?.trail_finding()?);
    }
    Ok(())
}

/// Returns the role and the first implementing transition of a session that now reviews or judges. `builders` holds the
/// sessions that have implemented so far.
fn find_builder(
    builders: &mut BTreeMap<String, u64>,
    seq: u64,
    event: &Event,
) -> Option<(Role, u64)> {
    let role = event.role()?;
    let session = event.submission()?.session.as_ref()?;
    if role == Role::Implementer {
        builders.entry(session.clone()).or_insert(seq);
    }
    let built = builders.get(session).filter(|_| role.is_independent())?;
    Some((role, *built))
}

/// Compares the dispatch with the recorded next role, and adds its findings.
fn check_dispatch(workspace: &Workspace, snapshot: &Snapshot, outcome: &mut Outcome) -> Result<()> {
    let (dispatch, _) = service::dispatch_told(workspace, Some(snapshot))?;
    // The checks that read single files report those.
    let is_of_all = |finding: &Finding| {
        !matches!(
            finding.code,
            Code::EditedOutside | Code::ContractUntracked | Code::DirtyWorktree
        )
    };
    let found = dispatch.findings.into_iter().filter(is_of_all);
    outcome.findings.extend(found);
    let stored = snapshot.state.next_mandatory_role.0;
    if stored != dispatch.role {
        let name = |role: Option<Role>| role.map_or("nobody", |role| role.id());
        let what = format!(
            "the log names {} as the next role, but rule {} names {}",
            name(stored),
            dispatch.rule,
            name(dispatch.role)
        );
        outcome.find(Code::DispatchDiffers, what);
    }
    let scripted = snapshot.ledger.scripted_commands.0;
    if scripted > 0 {
        let commands = service::list_scripted_commands(workspace, snapshot)?;
        let what = service::describe_scripted(scripted, &commands);
        outcome.find(Code::ScriptedCommand, what);
    }
    // Slices that were begun and then cancelled as already satisfied: their work was never reviewed.
    let slices = snapshot.plan.candidate_slices.iter();
    for slice in slices.filter(|slice| slice.is_satisfied()) {
        let ledger = snapshot.ledger.slices.get(&slice.slice_id);
        if let Some(basis) = ledger.and_then(|ledger| ledger.basis.as_deref()) {
            let what = format!(
                "it was in work since {} and was then cancelled as already satisfied, so its work was never reviewed",
                short(basis)
            );
            outcome.find_at(Code::SliceCancelled, what, &slice.slice_id);
        }
    }
    if workspace.repo.head()?.commit.is_none() {
        outcome.find(Code::UnbornHead, "the repository has no commit yet");
    }
    outcome.add_checked(format!("dispatch: rule {}", dispatch.rule));
    Ok(())
}

// The contract and the documents in the worktree: whether they exist, follow their schemas, match the log, and agree
// with one another. Without a log also the histories, line by line: a clone has none because they are not tracked, so
// these belong to a copied or restored worktree.

/// Checks that the tracked contract exists, can be read, is committed, and matches the repository.
pub(super) fn check_contract(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
    outcome: &mut Outcome,
) -> Result<()> {
    let missing = workspace.repo.contract_missing()?;
    for path in &missing {
        let what = format!("`{path}` is not in the worktree");
        outcome.find_at(Code::ContractMissing, what, path);
    }
    let head = workspace.repo.head()?;
    for path in workspace.repo.contract_uncommitted(&head)? {
        if !missing.contains(&path) {
            let what = format!("`{path}` is not committed in its present form");
            outcome.find_at(Code::ContractUntracked, what, &path);
        }
    }
    let [_, profile] = CONTRACT_TEXTS;
    if let Some(bytes) = workspace.read_contract_text(profile)? {
        parse::<Profile>(&bytes, "", outcome);
    }
    for path in workspace.contract_differs(snapshot)? {
        let take_in = machine::take_in_command(&path);
        let what = format!("`{path}` differs from the log's; `{take_in}` takes it in");
        outcome.find_at(Code::ContractEdited, what, &path);
    }
    if workspace.is_stop_verifier_stale()? {
        outcome.findings.push(machine::stale_stop_verifier());
    }
    outcome.add_checked("the tracked contract");
    Ok(())
}

/// Parses a document; errors become findings with the file and the line as their place.
fn parse<T: Documented>(bytes: &[u8], line: &str, outcome: &mut Outcome) -> Option<T> {
    let file = T::DOCUMENT.file();
    let findings = match schema::read_document::<T>(bytes, MAX_DOCUMENT_BYTES) {
        Ok(document) => return Some(document),
        Err(findings) => findings,
    };
    outcome.findings.extend(findings.into_iter().map(|finding| {
        let inside = finding.place.as_deref().unwrap_or_default();
        let inside = inside.strip_prefix(file).unwrap_or(inside);
        let place = format!(".agent/{file}{line}{inside}");
        finding.at(place)
    }));
    None
}

/// Reads a document; errors become findings.
fn read<T: Documented>(root: &Path, outcome: &mut Outcome, required: bool) -> Option<T> {
    let place = format!(".agent/{}", T::DOCUMENT.file());
    let mut bytes = Vec::new();
    let read = disk::open_regular(&root.join(&place), Links::Refuse).and_then(|file| {
        let limit = MAX_DOCUMENT_BYTES as u64 + 1;
        let read = file.map(|file| file.take(limit).read_to_end(&mut bytes));
        read.transpose()
    });
    match read {
        Ok(Some(_)) => return parse(&bytes, "", outcome),
        Ok(None) if required => {
            let what = format!("`{place}` is missing");
            outcome.find_at(Code::DocumentMissing, what, &place);
        }
        Ok(None) => {}
        Err(error) => {
            let what = format!("`{place}`: {error}");
            outcome.find_at(Code::DocumentUnreadable, what, &place);
        }
    }
    None
}

/// Checks a history line by line, with at most one document in memory. Returns the number of lines; 0 if there is no
/// history.
fn check_history<T: Documented>(root: &Path, outcome: &mut Outcome) -> u64 {
    let place = format!(".agent/{}", T::DOCUMENT.file());
    let most = outcome.findings.len() + schema::MAX_FINDINGS;
    let mut lines = 0;
    let mut check = || -> std::io::Result<()> {
        let Some(opened) = disk::open_regular(&root.join(&place), Links::Refuse)? else {
            return Ok(());
        };
        let mut opened = BufReader::new(opened);
        let mut line = Vec::new();
        while outcome.findings.len() < most {
            line.clear();
            let mut rest = opened.by_ref().take(MAX_DOCUMENT_BYTES as u64 + 2);
            if rest.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            lines += 1;
            let whole = line.strip_suffix(b"\n");
            if whole.is_none() && line.len() <= MAX_DOCUMENT_BYTES {
                let place = format!("{place}:{lines}");
                outcome.find_at(Code::HistoryTorn, "the last line is incomplete", &place);
                break;
            }
            parse::<T>(whole.unwrap_or(&line), &format!(":{lines}"), outcome);
            if whole.is_none() {
                break;
            }
        }
        Ok(())
    };
    if let Err(error) = check() {
        outcome.find_at(Code::DocumentUnreadable, error.to_string(), &place);
    }
    lines
}

/// A clone without execution state passes if its contract does; execution state without a log is a finding.
fn check_without_log(workspace: &Workspace, outcome: &mut Outcome) -> Result<()> {
    let root = workspace.repo.root();
    let plan = read::<Plan>(root, outcome, false);
    let state = read::<State>(root, outcome, false);
    read::<ActiveSlice>(root, outcome, false);
    read::<VerificationEvidence>(root, outcome, false);
    let slices = check_history::<SliceRecord>(root, outcome);
    let records = slices + check_history::<StopRecord>(root, outcome);
    if records > 0 {
        outcome.add_checked(format!("{records} history records"));
    }
    // The state of this clone says nothing about a log that was requested from elsewhere.
    let is_here = workspace.log_from.is_none();
    if is_here && (plan.is_some() || state.is_some() || records > 0) {
        let what = "this worktree has execution state but no log; `cook init` imports the state";
        outcome.find(Code::LogMissing, what);
    }
    outcome.add_checked("no log here: the contract alone was checked");
    Ok(())
}

fn check_documents(
    workspace: &Workspace,
    snapshot: &Snapshot,
    outcome: &mut Outcome,
) -> Result<()> {
    let root = workspace.repo.root();
    read::<State>(root, outcome, true);
    let plan = read::<Plan>(root, outcome, true);
    let active = read::<ActiveSlice>(root, outcome, true);
    read::<VerificationEvidence>(root, outcome, true);
    read::<BriefDocument>(root, outcome, snapshot.brief.is_some());
    for edit in workspace.outside_edits()? {
        find_edit(&edit, outcome);
    }
    let mut view = snapshot.clone();
    view.plan = plan.unwrap_or_else(|| snapshot.plan.clone());
    view.active = active.unwrap_or_else(|| snapshot.active.clone());
    outcome.findings.extend(machine::contradictions(&view));
    let in_work = view.active.slice_id.as_deref();
    for slice in view.plan.open_slices() {
        // For the slice in work this is reported as a contradiction already.
        if slice.acceptance_criteria.is_empty() && in_work != Some(slice.slice_id.as_str()) {
            let what = format!("slice `{}` has no acceptance criteria", slice.slice_id);
            outcome.find_at(Code::CriteriaMissing, what, &slice.slice_id);
        }
    }
    check_basis(workspace, &view, outcome)?;
    outcome.add_checked("the documents in .agent/");
    Ok(())
}

/// Adds a finding for an edited file, unless it was reported as missing already.
fn find_edit(edit: &OutsideEdit, outcome: &mut Outcome) {
    let place = format!(".agent/{}", edit.file);
    let is_missing = |finding: &Finding| {
        finding.code == Code::DocumentMissing && finding.place.as_deref() == Some(&place)
    };
    if outcome.findings.iter().any(is_missing) {
        return;
    }
    let fields = match edit.fields.is_empty() {
        true => String::new(),
        false => format!(" ({})", edit.fields.join(", ")),
    };
    let is_history = edit.file.ends_with("-history.jsonl");
    let (code, what) = match edit.file.as_str() {
        "state.json" => (Code::StateForged, "differs from the log"),
        _ if is_history && edit.missing => (Code::DocumentMissing, "is missing"),
        _ if is_history => (Code::HistoryForged, "differs from the log"),
        _ => (Code::EditedOutside, "was edited outside cook"),
    };
    outcome.find_at(code, format!("`{place}` {what}{fields}"), &place);
}

/// Checks that the basis in `.agent/active-slice.json` is a commit of this repository and an ancestor of HEAD.
fn check_basis(workspace: &Workspace, view: &Snapshot, outcome: &mut Outcome) -> Result<()> {
    let is_open = view.active.status != ActiveStatus::Done;
    let Some(handoff) = view.active.handoff.as_ref().filter(|_| is_open) else {
        return Ok(());
    };
    let basis = &handoff.basis_commit;
    let head = workspace.repo.head()?;
    let range = workspace.repo.range(&head, basis, false)?;
    let (code, what) = match (range.resolves, range.ancestor) {
        (false, _) => (Code::BasisUnresolved, "is not a commit of this repository"),
        (true, false) => (Code::BasisNotAncestor, "is not an ancestor of HEAD"),
        (true, true) => return Ok(()),
    };
    let place = ".agent/active-slice.json/basis_commit";
    outcome.find_at(code, format!("`basis_commit` {basis} {what}"), place);
    Ok(())
}

// Records of sessions, recomputed from the answers that the log keeps.

/// Parses each kept answer again and compares the result with the record.
fn check_sessions(workspace: &Workspace, outcome: &mut Outcome) -> Result<()> {
    let mut made = 0;
    let mut findings = Vec::new();
    workspace
        .store()?
        .each_cited_exchange(None, |before, seq, event, cited| {
            made += 1;
            let why = match cited {
                Ok(cited) => differs(before, event, cited)?,
                Err(why) => Some(why.to_owned()),
            };
            if let Some(why) = why {
                findings.push(
                    Finding::new(Code::RecordNotRecomputable, why).at(format!("transition {seq}")),
                );
            }
            Ok(())
        })?;
    if made > 0 {
        outcome.add_checked(format!(
            "{} compared with the recorded answers of the sessions",
            count_noun(made, "report")
        ));
    }
    outcome.findings.extend(findings);
    Ok(())
}

/// How the record differs from the answer; `None` if it does not.
fn differs(before: Before, event: &Event, cited: &CitedExchange) -> Result<Option<String>> {
    if let Some(why) = wrong_citation(event, cited) {
        return Ok(Some(why));
    }
    let (Some(role), Some(submission), Some(last)) =
        (event.role(), event.submission(), cited.said.last())
    else {
        return Ok(None);
    };
    let parsed = report::parse(role, last.output.as_bytes());
    let made = match parsed.report.filter(|_| parsed.findings.is_empty()) {
        Some(report) => report::event(&report, Provenance::of(submission)),
        None => Reported::Nothing,
    };
    let same = match made {
        Reported::Event(made) if *made == *event => true,
        // The event has the wording of the documents where the prompt showed other wording to the role.
        Reported::Event(made) => {
            before()?.is_some_and(|before| prompt::in_own_words(&made, &before) == *event)
        }
        Reported::Nothing => false,
    };
    let what = "the recorded report differs from the answer of {}";
    Ok((!same).then(|| what.replace("{}", &cited.exchange)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cook_protocol::model::{Role, Said};
    use cook_repo::session::{Exchange, Kind};

    const ANSWER: &str = "MISSION ANCHOR: m\nRemaining contract IDs: none\nRubric:\n\
        - Contract coverage: pass - a\n- Correctness risk: pass - a\n\
        - Verification evidence: pass - a\n- Docs/state parity: pass - a\n\
        Findings: none\nAcceptable as-is (yes/no): yes\nSmallest follow-up slice: none\n";
    const NAME: &str = "ex_01ARZ3NDEKTSV4RRFFQ69G5FAV";

    fn review() -> (Event, CitedExchange) {
        let parsed = report::parse(Role::Reviewer, ANSWER.as_bytes());
        let provenance = Provenance {
            session: Some(NAME.to_owned()),
            ticket: None,
            began_at: None,
        };
        let Reported::Event(event) = report::event(&parsed.report.unwrap(), provenance) else {
            panic!("a review is an event");
        };
        let exchange = Exchange::new(Kind::Say, "review it", ANSWER, None);
        let cited = CitedExchange {
            exchange: NAME.to_owned(),
            said: vec![Said {
                hash: exchange.hash().to_string(),
                kind: "say".to_owned(),
                input: "review it".to_owned(),
                output: ANSWER.to_owned(),
            }],
        };
        (*event, cited)
    }

    #[test]
    fn a_report_is_made_again_and_every_other_answer_is_noticed() {
        let (event, cited) = review();
        let differs = |event: &Event, cited: &CitedExchange| {
            super::differs(&|| Ok(None), event, cited).unwrap()
        };
        assert_eq!(differs(&event, &cited), None);
        let told = |change: &dyn Fn(&mut Said)| {
            let mut other = cited.clone();
            change(&mut other.said[0]);
            differs(&event, &other).unwrap_or_default()
        };
        assert!(told(&|said| said.output.push('x')).ends_with("is another one"));
        assert!(told(&|said| said.kind = "act".to_owned()).ends_with("is another one"));
        let softened = told(&|said| {
            said.output = ANSWER.replace("Findings: none", "Findings: it fails");
            said.hash = Exchange::new(Kind::Say, "review it", said.output.as_str(), None)
                .hash()
                .to_string();
        });
        assert!(
            softened.starts_with("the recorded report differs"),
            "{softened}"
        );
        // The answer is unchanged, but the decision is not.
        let mut flipped = event.clone();
        if let Event::Reviewed { verdicts, .. } = &mut flipped {
            verdicts.positive = false;
        }
        assert!(differs(&flipped, &cited).is_some());
        let mut elsewhere = cited.clone();
        elsewhere.exchange = NAME.replace("FAV", "FAW");
        assert!(differs(&event, &elsewhere).is_some());
    }
}
