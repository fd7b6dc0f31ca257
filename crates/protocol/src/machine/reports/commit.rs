//! The commit that an implementer names: whether it can be the slice's, which commits come with
//! it, and what it changes that reviewers should see.

use crate::change::{code_of, list_test_changes};
use crate::diagnostic::{Code, Refusal};
use crate::machine::facts::{CommitFacts, GateRun, Range};
use crate::machine::text::short;
use crate::machine::work::Work;
use crate::model::{ReportRecord, surface_matches, surface_names};
use crate::report::list_items;
use crate::trials::Word;

/// The full id of the reported commit, after every check on it.
pub(super) fn find_commit(work: &Work, slice_id: &str) -> Result<String, Refusal> {
    let facts = work.facts.commit()?;
    let Some(id) = &facts.id else {
        return Err(Refusal::new(
            Code::CommitUnknown,
            "the reported id does not name exactly one commit",
        ));
    };
    let short = short(id);
    if !facts.on_head {
        return Err(Refusal::new(
            Code::CommitNotOnHead,
            format!("commit {short} is not on HEAD"),
        ));
    }
    if !facts.after_basis {
        return Err(Refusal::new(
            Code::CommitNotAfterBasis,
            format!("commit {short} does not come after the slice's basis"),
        ));
    }
    if facts.paths.is_empty() {
        return Err(Refusal::new(
            Code::CommitEmpty,
            format!("nothing differs between the slice's basis and commit {short}"),
        ));
    }
    if let Some(ledger) = work.next.ledger.slices.get(slice_id)
        && (ledger.head.as_ref() == Some(id)
            || (ledger.last_head.as_ref() == Some(id) && has_must_fix(work)))
    {
        return Err(Refusal::new(
            Code::CommitAlreadyReported,
            format!("commit {short} was reported, and nothing was committed since"),
        ));
    }
    let mut others = work.next.ledger.slices.iter();
    if let Some((other, _)) =
        others.find(|(other, ledger)| *other != slice_id && ledger.claimed.contains(id))
    {
        return Err(Refusal::new(
            Code::CommitAlreadyReported,
            format!("commit {short} was reported for slice `{other}`"),
        )
        .replace_hints([format!(
            "commit with the trailer `Cook-Slice: {slice_id}` and report that commit; it may be empty where HEAD holds the work"
        )]));
    }
    let surfaces = surfaces(work, slice_id);
    let forbidden: Vec<&String> = facts
        .protected
        .iter()
        .filter(|path| !surfaces.iter().any(|surface| surface_names(surface, path)))
        .filter(|path| !is_as_the_user_left_it(work, path))
        .collect();
    if let Some(path) = forbidden.first() {
        return Err(Refusal::new(
            Code::ProtectedPath,
            format!("the slice's work changes `{path}`, which is protected"),
        )
        .replace_hints(["take the change back, or, when the user wants it, name the path in the slice's `implementation_surfaces` in `.agent/plan.json` and run `cook plan adopt`"]));
    }
    Ok(id.clone())
}

/// A settings file that changed since the basis, and is as the user wants it.
fn is_as_the_user_left_it(work: &Work, path: &str) -> bool {
    let left = work.before.ledger.settings.get(path);
    let found = work.facts.settings.as_ref();
    left.is_some() && left == found.and_then(|found| found.get(path))
}

fn has_must_fix(work: &Work) -> bool {
    work.next
        .active
        .handoff
        .as_ref()
        .is_some_and(|handoff| !handoff.must_fix_findings.is_empty())
}

pub(super) fn surfaces(work: &Work, slice_id: &str) -> Vec<String> {
    work.next
        .plan
        .slice(slice_id)
        .and_then(|slice| slice.implementation_surfaces.clone())
        .unwrap_or_default()
}

pub(super) fn note_outside_surfaces(
    work: &mut Work,
    slice_id: &str,
    report: &ReportRecord,
) -> Result<(), Refusal> {
    let surfaces = surfaces(work, slice_id);
    if surfaces.is_empty() {
        return Ok(());
    }
    let outside: Vec<String> = work
        .facts
        .commit()?
        .paths
        .iter()
        .filter(|path| {
            !surfaces
                .iter()
                .any(|surface| surface_matches(surface, path))
        })
        .take(20)
        .cloned()
        .collect();
    if !outside.is_empty() {
        let reasons = list_said_of(report, &outside);
        let said = match reasons.is_empty() {
            true => "; the implementer gives no reason".to_owned(),
            false => format!("; the implementer says: {}", reasons.join("; ")),
        };
        let what = format!(
            "changed outside the slice's surfaces: {}{said}",
            outside.join(", ")
        );
        work.remark(Code::OutsideSurfaces, slice_id, what);
    }
    Ok(())
}

/// What a report says of paths besides their names.
fn list_said_of(report: &ReportRecord, paths: &[String]) -> Vec<String> {
    let files = list_items(report, "files_changed");
    files
        .into_iter()
        .filter(|item| {
            paths.iter().any(|path| {
                let named = item.trim_matches(['`', '*']);
                item.contains(path.as_str()) && named != path
            })
        })
        .collect()
}

/// What the slice takes away from the tests, and what may make its gates' runs differ from those
/// of a clone. The diff is the whole slice's: what was said of
/// an earlier commit of it holds no longer.
pub(super) fn note_runs(work: &mut Work, slice_id: &str, runs: &[GateRun]) -> Result<(), Refusal> {
    let lines = work.facts.trials.clone();
    work.next.ledger.remarks.retain(|remark| {
        remark.slice_id != slice_id || !OF_RUNS.iter().any(|code| code.id() == remark.code)
    });
    for what in runs.iter().flat_map(|run| &run.remarks) {
        work.remark(Code::GateSurroundings, slice_id, what);
    }
    for line in lines.iter().filter(|line| line.word != Word::FailToPass) {
        let what = match &line.declared {
            Some(why) => format!("{}; declared: {why}", line.what),
            None => line.what.clone(),
        };
        work.remark(code_of(line.word), slice_id, what);
    }
    work.ledger(slice_id).test_changes = list_test_changes(&lines);
    Ok(())
}

/// The remarks that the slice's latest runs make anew.
const OF_RUNS: [Code; 12] = [
    Code::GateSurroundings,
    Code::PassToFail,
    Code::Bent,
    Code::TestRepaired,
    Code::SetAside,
    Code::Lost,
    Code::RedBefore,
    Code::NotComparable,
    Code::RunnerChanged,
    Code::GateChanged,
    Code::ChangeUnnoticed,
    Code::DeclarationUnknown,
];

/// The commits that a report of a slice claims: those that appeared during its session, where no other
/// slice has them, those with the slice's trailer up to the commit that it reports, and that one.
pub fn claims(
    slice_id: &str,
    commit: &str,
    facts: &CommitFacts,
    range: &Range,
    is_others: impl Fn(&String) -> bool,
) -> Vec<String> {
    let session = facts.claimed.iter();
    let session = session.filter(|made| !facts.merged.contains(made) && !is_others(made));
    let commits = &range.commits;
    let upto = commits.iter().position(|seen| seen.id == commit);
    let upto = &commits[..upto.map_or(0, |at| at + 1)];
    let own = upto
        .iter()
        .filter(|seen| seen.slice.as_deref() == Some(slice_id))
        .map(|seen| &seen.id);
    let claimed = session.chain(own).cloned();
    claimed.chain([commit.to_owned()]).collect()
}

/// The slice has all that its report claims.
pub(super) fn claim(work: &mut Work, slice_id: &str, commit: &str) -> Result<(), Refusal> {
    let slices = &work.next.ledger.slices;
    let is_others = |made: &String| {
        let mut others = slices.iter().filter(|(other, _)| *other != slice_id);
        others.any(|(_, ledger)| ledger.claimed.contains(made))
    };
    let handoff = work.next.active.handoff.as_ref();
    let basis = handoff.map(|handoff| handoff.basis_commit.as_str());
    let range = work.facts.range(basis.unwrap_or_default())?;
    let claimed = claims(slice_id, commit, work.facts.commit()?, range, is_others);
    let ledger = work.ledger(slice_id);
    for id in claimed {
        if !ledger.claimed.contains(&id) {
            ledger.claimed.push(id);
        }
    }
    ledger.reported = Some(commit.to_owned());
    Ok(())
}
