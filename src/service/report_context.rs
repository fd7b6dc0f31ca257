//! The part of a prompt about the repository, beside the brief. Roles that may change nothing may not have a shell
//! either: everything that they need to decide is included, or named with the command that shows it.

use super::due_role::find_head;
use crate::prelude::*;
use crate::workspace::Workspace;
use cook_mutants::{Class, classify};
use cook_protocol::machine::{CommitSeen, list_others_since};
use cook_protocol::model::{
    EvidenceClaim, Offer, Place, StrengthNote, TestChange, USER_COMMANDS, WHOLE, surface_matches,
};
use cook_repo::git::{ChangeKind, make_unified_diff};
use std::fmt::Write;

/// Maximum number of paths that are listed.
const LISTED: usize = 200;
/// Maximum number of bytes of one file's diff.
const FILE_DIFF: usize = 12_000;
/// Maximum number of bytes for criteria whose proof holds.
const ROOM: usize = 6_000;
/// Maximum number of bytes of the whole diff.
const WHOLE_DIFF: usize = 90_000;

/// The text so far, and its sources.
pub(super) struct Context<'a> {
    pub text: String,
    pub workspace: &'a Workspace,
    /// The documents in the log.
    pub logged: &'a Snapshot,
    /// The documents as a report finds them.
    pub snapshot: &'a Snapshot,
    pub facts: &'a Facts,
    pub head: &'a Head,
    pub role: Role,
}

/// The context of a role's prompt, from the documents in the log and those that a report finds.
///
/// # Errors
/// Unreadable state.
pub(super) fn context_text(
    workspace: &Workspace,
    (logged, snapshot): (&Snapshot, &Snapshot),
    facts: &Facts,
    role: Role,
) -> Result<String> {
    let head = find_head(facts)?;
    let mut context = Context {
        text: String::new(),
        workspace,
        logged,
        snapshot,
        facts,
        head: &head,
        role,
    };
    context.write_all()?;
    Ok(context.text)
}

impl Context<'_> {
    /// Adds a line.
    pub(super) fn add(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    fn write_all(&mut self) -> Result<()> {
        let (workspace, snapshot) = (self.workspace, self.snapshot);
        let commit = self.head.commit.as_deref();
        let span = self.find_span();
        // If HEAD is the slice's commit, it is named with the slice.
        if !matches!(&span, Some((_, upto)) if Some(upto.as_str()) == commit) {
            let commit = commit.unwrap_or("the repository has no commit yet");
            self.add(format!("HEAD: {commit}"));
        }
        let gates = workspace.list_gate_commands(snapshot)?;
        let (edits, foreign) = match &span {
            Some((basis, upto)) => (
                workspace.repo.edits(basis, upto)?,
                self.find_foreign((basis, upto))?,
            ),
            None => Default::default(),
        };
        let rows = name_files(&edits, &gates, &foreign);
        if let (Some((basis, upto)), Some(id)) = (&span, &snapshot.active.slice_id) {
            let (from, to) = (short(basis), short(upto));
            let at = if Some(upto) == self.head.commit.as_ref() {
                ", which is HEAD"
            } else {
                ""
            };
            let _ = write!(self.text, "slice {id} from its basis {from} to {to}{at}: ");
            self.list_paths((basis, upto), &edits, &gates, &rows);
            self.list_foreign(&foreign)?;
        }
        if self.role == Role::Regrounder {
            self.list_others(&foreign)?;
            self.list_untrusted()?;
        }
        self.list_past(&foreign)?;
        self.add_slice_rows()?;
        self.add_runs()?;
        if self.role == Role::Implementer {
            return Ok(());
        }
        self.list_criteria()?;
        self.list_offers()?;
        if let (Some((basis, _)), Role::Regrounder, ActiveStatus::Committed) =
            (&span, self.role, snapshot.active.status)
        {
            self.list_candidates((basis, &edits), &gates)?;
        }
        let opened = snapshot.ledger.scripted_commands.0;
        if opened > 0 {
            let commands = list_scripted_commands(workspace, snapshot)?;
            let told = describe_scripted(opened, &commands);
            self.add(told);
        }
        if let Some((basis, upto)) = &span {
            add_diff(&mut self.text, (&edits, &rows), (basis, upto), &foreign)?;
        }
        Ok(())
    }

    /// The basis and the end of the slice in work, if both commits exist.
    fn find_span(&self) -> Option<(String, String)> {
        let basis = &self.snapshot.active.handoff.as_ref()?.basis_commit;
        let id = self.snapshot.active.slice_id.as_ref()?;
        let own = self.snapshot.ledger.slices.get(id)?.head.clone();
        let upto = own.or_else(|| self.head.commit.clone())?;
        let range = self.facts.ranges.get(basis)?;
        range.resolves.then(|| (basis.clone(), upto))
    }

    fn list_paths(
        &mut self,
        (basis, upto): (&str, &str),
        edits: &[Edit],
        gates: &[String],
        rows: &[String],
    ) {
        let mut by_class: BTreeMap<Class, u64> = BTreeMap::new();
        for edit in edits {
            *by_class
                .entry(classify(&edit.change.path, gates))
                .or_default() += 1;
        }
        let classes: Vec<String> = by_class
            .iter()
            .map(|(class, count)| format!("{count} {class}"))
            .collect();
        let _ = match edits.len() {
            0 => writeln!(self.text, "no file differs"),
            1 => writeln!(self.text, "1 file differs: {}", classes.join(", ")),
            files => writeln!(self.text, "{files} files differ: {}", classes.join(", ")),
        };
        // Other roles are shown the diff, which names the files.
        if self.role != Role::Implementer {
            return;
        }
        for row in rows.iter().take(LISTED) {
            self.add(format!("  {row}"));
        }
        if rows.len() > LISTED {
            self.add(format!(
                "  and {} more (`git diff --stat {basis} {upto}` shows all)",
                rows.len() - LISTED
            ));
        }
    }

    /// Lists each criterion of slices that are done or in work, and the present state of its proof by kept receipts: no
    /// gate is run for a prompt. Judges are shown all criteria, other roles those whose proof does not simply hold.
    fn list_criteria(&mut self) -> Result<()> {
        let active = self.logged.active.slice_id.as_deref();
        let slices = self.logged.plan.candidate_slices.iter().filter(|slice| {
            slice.status == SliceStatus::Done || Some(slice.slice_id.as_str()) == active
        });
        let mut wanted = BTreeSet::new();
        let mut rows = Vec::new();
        for slice in slices {
            for criterion in &slice.acceptance_criteria {
                let records = slice.evidence.iter().filter_map(Evidence::record);
                let questions: Vec<AnchorQuestion> = records
                    .filter(|record| record.criterion == *criterion)
                    .map(|record| AnchorQuestion::ask_stored(slice, record))
                    .collect();
                wanted.extend(questions.iter().cloned());
                rows.push((slice, criterion, questions));
            }
        }
        if rows.is_empty() {
            return Ok(());
        }
        let answers = self.workspace.measure_kept(self.logged, wanted)?;
        let is_judge = self.role == Role::StopJudge;
        let mut standing = 0_u64;
        let mut shown = String::new();
        for (slice, criterion, questions) in rows {
            let known = questions.iter().filter_map(|question| {
                let answer = answers.get(&question.key())?;
                Some((answer.verdict, &question.anchor))
            });
            let known: Vec<_> = known.collect();
            let mut verdicts = known.iter().map(|(verdict, _)| *verdict);
            let stands = verdicts.all(|verdict| verdict == Verdict::Verified);
            if stands && !known.is_empty() && !is_judge {
                standing += 1;
                continue;
            }
            // A slice has no proof before it is accepted.
            if known.is_empty() && slice.status != SliceStatus::Done {
                continue;
            }
            let proofs = match known.is_empty() {
                true => "without proof".to_owned(),
                false => {
                    let proofs = known.iter();
                    let proofs =
                        proofs.map(|(verdict, anchor)| format!("{} ({anchor})", verdict.id()));
                    proofs.collect::<Vec<_>>().join(", ")
                }
            };
            let row = format!("  {}: {criterion}: {proofs}\n", slice.slice_id);
            if stands && shown.len() + row.len() > ROOM {
                standing += 1;
                continue;
            }
            shown.push_str(&row);
        }
        if standing > 0 {
            self.add(format!(
                "proofs that hold: {standing} (`cook brief check` lists all)"
            ));
        }
        if !shown.is_empty() {
            self.add("criteria and the present state of their proof:");
            self.text.push_str(&shown);
        }
        Ok(())
    }

    // Rows about the slice in work that depend on settings and worktree: attempts, the gates that will run, and which
    // uncommitted changes belong to the slice.

    /// Adds the rows that this role needs; none if no slice is in work.
    pub(super) fn add_slice_rows(&mut self) -> Result<()> {
        let Some(id) = self.snapshot.find_slice_in_work() else {
            return Ok(());
        };
        if matches!(self.role, Role::Implementer | Role::Regrounder) {
            let limits = &self.workspace.config()?.limits();
            let allowed = limits.add_attempts(&self.snapshot.counters.granted);
            let spent = self.snapshot.counters.attempts.get(id);
            let spent = spent.map_or(0, |spent| spent.0);
            let left = allowed.saturating_sub(spent);
            self.add(format!("attempts left at slice {id}: {left} of {allowed}"));
        }
        self.list_vanished(id)?;
        match self.role {
            Role::Implementer => self.list_gates(),
            Role::Regrounder => {
                self.split_dirty(id);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Lists commits that were reported for the slice but are no longer on HEAD.
    fn list_vanished(&mut self, id: &str) -> Result<()> {
        let (Some(ledger), Some(head)) = (self.snapshot.ledger.slices.get(id), &self.facts.head)
        else {
            return Ok(());
        };
        let reported = [&ledger.head, &ledger.reported].into_iter().flatten();
        let reported: BTreeSet<&String> = reported.chain(&ledger.claimed).collect();
        let mut gone = Vec::new();
        for commit in reported {
            if !self.workspace.repo.on_head(head, commit)? {
                gone.push(commit.as_str());
            }
        }
        if !gone.is_empty() {
            self.add(format!(
                "reported for slice {id} but no longer on HEAD, so these commits do not count: {}",
                gone.join(", ")
            ));
        }
        Ok(())
    }

    /// Lists the gates that run at the commit, whether they are trusted, and how long they took last.
    fn list_gates(&mut self) -> Result<()> {
        let handoff = self.snapshot.active.handoff.as_ref();
        let commands = handoff.and_then(|handoff| handoff.verification_commands.clone());
        let gates = merge_gates(
            self.workspace.config()?.gate_specs(),
            &commands.unwrap_or_default(),
        );
        let trust = self.workspace.trust()?;
        let receipts = Receipts::of(&self.workspace.repo)?;
        let tree = self
            .facts
            .head
            .as_ref()
            .and_then(|head| head.tree.as_deref());
        for gate in gates {
            let mut about = Vec::new();
            about.push(match gate.place {
                Place::CleanRoom => "runs at your commit, in a clean checkout",
                Place::Worktree => "runs in the worktree",
            });
            if !gate.required {
                about.push("may fail");
            }
            about.push(match trust.is_trusted(&gate.run) {
                true => "is trusted here",
                false => "is not trusted here yet, so it does not run",
            });
            let _ = write!(self.text, "gate `{}`: {}", gate.run, about.join(", "));
            let runs = self.snapshot.evidence.runs.iter().rev();
            let of_slice = runs.into_iter().find(|run| run.command == gate.run);
            let at_head = match (of_slice, tree) {
                (None, Some(tree)) => receipts.find(&gate.run, tree)?,
                _ => None,
            };
            let _ = match of_slice.or(at_head.as_ref()) {
                Some(run) => write!(self.text, "; took {} ms last", run.duration_ms.0),
                None => write!(self.text, "; has not run at this HEAD"),
            };
            self.text.push('\n');
        }
        Ok(())
    }

    /// Lists commands of the settings and of open slices that this machine does not trust: the work stops at them until
    /// the user trusts them.
    ///
    /// # Errors
    /// Settings or trust that cannot be read.
    pub(super) fn list_untrusted(&mut self) -> Result<()> {
        let trust = self.workspace.trust()?;
        let gates = self.workspace.config()?.gate_specs().into_iter();
        let gates = gates.map(|gate| gate.run);
        let slices = self.snapshot.plan.open_slices();
        let planned =
            slices.flat_map(|slice| slice.verification_commands.iter().flatten().cloned());
        let untrusted: BTreeSet<String> = gates
            .chain(planned)
            .filter(|command| !trust.is_trusted(command))
            .collect();
        for command in untrusted {
            self.add(format!(
                "gate `{command}`: is not trusted here yet; the work stops until the user trusts it"
            ));
        }
        Ok(())
    }

    /// Lists the uncommitted changes on the slice's surfaces, and separately the others.
    fn split_dirty(&mut self, id: &str) {
        let Some(worktree) = self.facts.worktree.as_ref().filter(|tree| !tree.is_clean()) else {
            return;
        };
        let handoff = self.snapshot.active.handoff.as_ref();
        let surfaces = handoff.and_then(|handoff| handoff.implementation_surfaces.as_ref());
        let surfaces = surfaces.map(Vec::as_slice).unwrap_or_default();
        let is_own = |path: &&String| {
            surfaces
                .iter()
                .any(|surface| surface_matches(surface, path))
        };
        let (own, beside): (Vec<_>, Vec<_>) = worktree.dirty.iter().partition(is_own);
        let mut list = |label: &str, paths: &[&String], more: u64| {
            if paths.is_empty() {
                return;
            }
            let named: Vec<&str> = paths.iter().take(NAMED).map(|path| path.as_str()).collect();
            let more = more + (paths.len() - named.len()) as u64;
            let _ = write!(self.text, "{label}: {}", named.join(", "));
            let _ = match more {
                0 => writeln!(self.text),
                more => writeln!(self.text, " and {more} more (`git status` shows all)"),
            };
        };
        list(&format!("uncommitted on the surfaces of {id}"), &own, 0);
        list("uncommitted beside them", &beside, worktree.more);
    }

    /// Adds the gate runs that this role needs.
    ///
    /// # Errors
    /// Unreadable state.
    pub(super) fn add_runs(&mut self) -> Result<()> {
        let shown = match self.snapshot.find_slice_in_work() {
            // A slice in work is judged at its own commit, not at HEAD.
            Some(_) => self.snapshot.evidence.runs.clone(),
            None => self.list_newest_at_head()?,
        };
        for run in &shown {
            self.add_run(run);
        }
        self.add_strength();
        match self.role {
            Role::Regrounder | Role::Implementer => self.add_red_at_head(&shown),
            _ => Ok(()),
        }
    }

    /// The newest run at HEAD's tree of each gate of the slice that was last in work and, for a judge, of each required
    /// gate. If a gate of the slice has no such run, its run at the slice's commit is shown.
    fn list_newest_at_head(&self) -> Result<Vec<Receipt>> {
        let evidence = &self.snapshot.evidence;
        let Some(tree) = self.head.tree.as_deref() else {
            return Ok(evidence.runs.clone());
        };
        let receipts = Receipts::of(&self.workspace.repo)?;
        let mut shown: Vec<Receipt> = Vec::new();
        for run in &evidence.runs {
            let is_of_basis = run.head_sha.is_some() && run.head_sha == evidence.basis_commit;
            let newest = match is_of_basis {
                true => None,
                false => receipts.find(&run.command, tree)?,
            };
            shown.push(newest.unwrap_or_else(|| run.clone()));
        }
        if self.role == Role::StopJudge {
            let gates = self.workspace.config()?.gate_specs().into_iter();
            for gate in gates.filter(|gate| gate.required) {
                let is_shown = shown.iter().any(|run| run.command == gate.run);
                if !is_shown && let Some(found) = receipts.find(&gate.run, tree)? {
                    shown.push(found);
                }
            }
        }
        Ok(shown)
    }

    /// Adds the result of a gate and where it ran; for a red one also the last lines that it printed.
    fn add_run(&mut self, run: &Receipt) {
        let how = if run.has_passed() { "passed" } else { "failed" };
        let at = match (
            &run.head_sha,
            run.tree_oid.is_some() && run.tree_oid == self.head.tree,
        ) {
            (at, true) if *at == self.head.commit => "at HEAD".to_owned(),
            (Some(at), true) => format!("at {}, which has HEAD's tree", short(at)),
            (None, true) => "at HEAD's tree".to_owned(),
            (Some(at), false) => format!("at {}, NOT at HEAD", short(at)),
            (None, false) => "NOT at HEAD".to_owned(),
        };
        self.add(format!("gate `{}` {how} {at}", run.command));
        if !run.has_passed() {
            let tail = without_escapes(&run.tail);
            let lines: Vec<&str> = tail.lines().collect();
            for line in &lines[lines.len().saturating_sub(OUTPUT)..] {
                self.add(format!("  | {line}"));
            }
        }
    }

    /// Adds the results of planted defects: for the slice in work each defect that no gate notices, for other slices
    /// one line.
    fn add_strength(&mut self) {
        let in_work = self.snapshot.find_slice_in_work();
        let is_of_all = matches!(self.role, Role::Auditor | Role::StopJudge);
        for (id, ledger) in &self.snapshot.ledger.slices {
            // Roles that judge the whole project are shown the test changes of all slices.
            if is_of_all || in_work == Some(id.as_str()) {
                self.add_test_changes(id, &ledger.test_changes);
            }
            let head = match &ledger.accepted {
                Some(accepted) => Some(&accepted.head),
                None => ledger.head.as_ref().or(ledger.last_head.as_ref()),
            };
            let note = ledger.strength.as_deref();
            let Some(note) = note.filter(|note| head == Some(&note.commit)) else {
                continue;
            };
            let told = note.tell();
            self.add(format!(
                "strength of the gates over slice `{id}` at {}: {told}",
                short(&note.commit)
            ));
            for waiver in &note.waived {
                let why = without_escapes(&waiver.why);
                self.add(format!("  waived `{}`: {why}", waiver.id));
            }
            if in_work != Some(id.as_str()) {
                continue;
            }
            let is_waived = |id: &str| note.waived.iter().any(|waiver| waiver.id == id);
            for defect in note.defects.iter().filter(|defect| !is_waived(&defect.id)) {
                let (id, line, what) = (&defect.id, defect.line.0, &defect.what);
                let path = &defect.path;
                self.add(format!(
                    "  `{id}` {path}:{line}, {what}: every gate passes with this change"
                ));
                for line in without_escapes(&defect.diff).lines() {
                    self.add(format!("  | {line}"));
                }
            }
            if self.role == Role::Reviewer {
                self.text.push_str(&how_to_waive(note));
            }
        }
    }

    /// Adds changes of tests that commits of a slice declare, changes that could not be compared, and tests that are
    /// gone.
    fn add_test_changes(&mut self, slice: &str, changes: &[TestChange]) {
        if changes.is_empty() {
            return;
        }
        self.add(format!(
            "changes of tests in slice `{slice}`, by running the tests of its basis on its code:"
        ));
        for change in changes {
            let what = without_escapes(&change.what);
            self.add(format!("  `{}` [{}] {what}", change.id, change.code));
            match &change.declared {
                Some(why) => {
                    self.add(format!("  | its commit says: {}", without_escapes(why)));
                }
                None => self.text.push_str("  | no commit says why\n"),
            }
            if let Some(answer) = &change.answered {
                self.add(format!("  | the review says: {}", without_escapes(answer)));
            }
        }
        if self.role == Role::Reviewer {
            self.text.push_str("  A yes answers for each of them by a line of `Findings`: `WAIVE ID: why`. A no needs none.\n");
        }
    }

    /// Adds the required gates that are known to be red at HEAD and not shown yet; for a regrounder the stop verifier
    /// as well.
    fn add_red_at_head(&mut self, shown: &[Receipt]) -> Result<()> {
        let Some(tree) = self.head.tree.as_deref() else {
            return Ok(());
        };
        let receipts = Receipts::of(&self.workspace.repo)?;
        let mut gates = self.workspace.config()?.gate_specs();
        gates.retain(|gate| gate.required);
        let commands = gates.iter().map(|gate| gate.run.as_str());
        for command in commands {
            let found = receipts.find(command, tree)?;
            let is_shown = |found: &Receipt| {
                let mut runs = shown.iter();
                runs.any(|run| run.command == found.command && run.tree_oid == found.tree_oid)
            };
            if let Some(red) = found.filter(|found| !found.has_passed() && !is_shown(found)) {
                self.add_run(&red);
            }
        }
        let verifier = match self.role {
            Role::Regrounder => receipts.find_stop_verifier(tree)?,
            _ => None,
        };
        if let Some(red) = verifier.filter(|found| !found.has_passed()) {
            self.add_run(&red);
        }
        Ok(())
    }

    // The implementer's proof of each criterion and its present state, for the roles that judge its commit. Nothing is
    // run.

    /// Lists the criteria of the slice in work; nothing if its implementer gave no evidence.
    pub(super) fn list_offers(&mut self) -> Result<()> {
        let id = self.snapshot.find_slice_in_work().unwrap_or_default();
        let ledger = self.snapshot.ledger.slices.get(id);
        let offered = ledger.map_or(&[][..], |ledger| ledger.offered.as_slice());
        let slice = self.snapshot.plan.slice(id);
        let (Some(slice), false) = (slice, offered.is_empty()) else {
            return Ok(());
        };
        let question = |offer: &Offer| {
            let claim = EvidenceClaim::of_offer(id, offer);
            AnchorQuestion::ask_claimed(self.snapshot, id, &claim.anchor, claim.basis)
        };
        let wanted = offered.iter().filter_map(question).collect();
        let answers = self.workspace.measure_kept(self.snapshot, wanted)?;
        let worth = |offer: &Offer| {
            let answer = question(offer).and_then(|asked| answers.get(&asked.key()));
            let Some(answer) = answer else {
                return "not examined".to_owned();
            };
            let mut worth = answer.verdict.id().to_owned();
            if !answer.is_new {
                worth.push_str(", held at the basis too");
            }
            worth
        };
        self.add("the implementer's proof of each criterion, and its present state:");
        for criterion in &slice.acceptance_criteria {
            let given = offered.iter().filter(|offer| offer.criterion == *criterion);
            let given: Vec<String> = given
                .map(|offer| format!("{} ({})", offer.anchor, worth(offer)))
                .collect();
            let shown = match given.is_empty() {
                true => "without proof".to_owned(),
                false => given.join(", "),
            };
            self.add(format!("  {criterion}: {shown}"));
        }
        Ok(())
    }

    /// Separates the commits of a slice's range into its own and others. The result is empty if all are its own.
    ///
    /// # Errors
    /// A repository that cannot be read.
    pub(super) fn find_foreign(&self, (basis, upto): (&str, &str)) -> Result<Foreign> {
        let mut found = Foreign::default();
        let Some(id) = self.snapshot.active.slice_id.as_deref() else {
            return Ok(found);
        };
        let ledger = self.snapshot.ledger.slices.get(id);
        let claimed = ledger.map_or(&[][..], |ledger| ledger.claimed.as_slice());
        let is_own = |commit: &CommitSeen| {
            commit.slice.as_deref() == Some(id) || claimed.contains(&commit.id)
        };
        let to_head = self
            .facts
            .ranges
            .get(basis)
            .map(|range| range.commits.as_slice());
        if to_head.is_some_and(|commits| commits.iter().all(is_own)) {
            return Ok(found);
        }
        let end = Head {
            commit: Some(upto.to_owned()),
            tree: None,
            branch: None,
        };
        let range = self.workspace.repo.range(&end, basis, false)?;
        let (own, others): (Vec<&CommitSeen>, Vec<_>) =
            range.commits.iter().partition(|it| is_own(it));
        for commit in own {
            found
                .own
                .extend(self.workspace.repo.list_written_paths(&commit.id)?);
        }
        for commit in others.iter().rev().take(LOOKED_AT) {
            found
                .theirs
                .extend(self.workspace.repo.list_written_paths(&commit.id)?);
        }
        found.commits = others.into_iter().map(|commit| commit.id.clone()).collect();
        Ok(found)
    }

    /// Lists the commits of the range that are not the slice's.
    ///
    /// # Errors
    /// A repository that cannot be read.
    pub(super) fn list_foreign(&mut self, found: &Foreign) -> Result<()> {
        let title = "commits in that range that are not the slice's (what they wrote is not its work; `git show ID` shows one):";
        self.list_commits(title, &found.commits)
    }

    /// Lists commits, with their authors, that do not belong to a slice and that no re-ground has seen. Leaves out
    /// those of the slice's range, which are listed with it.
    ///
    /// # Errors
    /// A repository that cannot be read.
    pub(super) fn list_others(&mut self, in_range: &Foreign) -> Result<()> {
        let others = list_others_since(self.logged, self.facts).into_iter();
        let others = others.map(|commit| commit.id.clone());
        let others: Vec<String> = others.filter(|id| !in_range.commits.contains(id)).collect();
        let title = "commits outside any slice since the last re-ground (`git show ID` shows one):";
        self.list_commits(title, &others)
    }

    /// Lists commits, newest first; the subjects are their authors' words.
    fn list_commits(&mut self, title: &str, commits: &[String]) -> Result<()> {
        let lines = commits.iter().rev().take(NAMED);
        let lines = lines.map(|id| self.name_commit(id));
        let lines: Vec<String> = lines.collect::<Result<_, _>>()?;
        self.add_lines(title, &lines, commits.len(), BY_GIT);
        Ok(())
    }

    pub(super) fn name_commit(&self, id: &str) -> Result<String> {
        let (author, subject) = self.workspace.repo.heading(id)?;
        let subject = match subject.char_indices().nth(SUBJECT) {
            Some((end, _)) => format!("{} …", &subject[..end]),
            None => subject,
        };
        let words = clean(&format!("by {author}: {subject}"), Lines::Fold);
        Ok(format!("{} {words}", short(id)))
    }

    /// Adds the newest lines, and the number of those that are left out.
    pub(super) fn add_lines(&mut self, title: &str, newest: &[String], all: usize, how: &str) {
        if newest.is_empty() {
            return;
        }
        self.add(title);
        for line in newest {
            self.add(format!("  {line}"));
        }
        if all > newest.len() {
            let more = all - newest.len();
            self.add(format!("  and {more} before them ({how})"));
        }
    }
}

/// Adds the diff, file by file. Parts that do not fit are named with the command that shows them. Files that no commit
/// of the slice wrote come last, below their own title.
fn add_diff(
    text: &mut String,
    (edits, rows): (&[Edit], &[String]),
    (basis, upto): (&str, &str),
    foreign: &Foreign,
) -> Result<()> {
    if edits.is_empty() {
        return Ok(());
    }
    let is_theirs = |(edit, _): &(&Edit, &String)| foreign.is_theirs(&edit.change.path);
    let (theirs, own): (Vec<_>, Vec<_>) = edits.iter().zip(rows).partition(is_theirs);
    let first_theirs = theirs.first().map(|(edit, _)| edit.change.path.as_str());
    let mut left = Vec::new();
    let mut diff = String::new();
    for (edit, row) in own.into_iter().chain(theirs) {
        if first_theirs == Some(&*edit.change.path) {
            diff.push_str("the diff of files that no commit of the slice wrote:\n");
        }
        let path = clean(&edit.change.path, Lines::Fold);
        let Some((before, after)) = &edit.texts else {
            left.push(format!("{row} (not text, or too long)"));
            continue;
        };
        let whole = make_unified_diff(
            &edit.change.path,
            before.as_deref().unwrap_or(""),
            after.as_deref().unwrap_or(""),
        )?;
        // The row replaces the header lines before the first hunk.
        let hunks = whole.find("\n@@").map_or(whole.len(), |at| at + 1);
        let one = format!("+++ b/{row}\n{}", &whole[hunks..]);
        if diff.len() + one.len().min(FILE_DIFF) > WHOLE_DIFF {
            left.push(format!("{row} ({})", trim_lines(&one)));
            continue;
        }
        let shown = cut_at_line(&one, FILE_DIFF);
        diff.push_str(shown);
        if shown.len() < one.len() {
            let _ = writeln!(diff, "[{path}: {} more]", trim_lines(&one[shown.len()..]));
            left.push(format!("the rest of {path}"));
        }
    }
    let _ = writeln!(text, "the diff:");
    text.push_str(&diff);
    if !left.is_empty() {
        let _ = writeln!(
            text,
            "not shown here: `git diff {basis} {upto} -- PATH` shows"
        );
        for one in left.iter().take(LISTED) {
            let _ = writeln!(text, "  {one}");
        }
        if left.len() > LISTED {
            let _ = writeln!(text, "  and {} more", left.len() - LISTED);
        }
    }
    Ok(())
}

/// A row for each file: its path, change, class, and whether other commits wrote it.
fn name_files(edits: &[Edit], gates: &[String], foreign: &Foreign) -> Vec<String> {
    let rows = edits.iter().map(|edit| {
        let kind = match edit.change.kind {
            ChangeKind::Added => "added",
            ChangeKind::Modified => "modified",
            ChangeKind::Deleted => "deleted",
        };
        let class = classify(&edit.change.path, gates);
        let mark = foreign.mark(&edit.change.path);
        let path = clean(&edit.change.path, Lines::Fold);
        format!("{path} ({kind}, {class}){mark}")
    });
    rows.collect()
}

fn trim_lines(text: &str) -> String {
    count_noun(text.lines().count(), "line")
}

/// The whole lines at the start that fit into `bytes`.
fn cut_at_line(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let end = text.as_bytes()[..bytes]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    &text[..end]
}

// Gate runs in a prompt: where each ran, and what a red one printed.

/// Maximum number of last lines of a red gate's output.
const OUTPUT: usize = 40;

/// How a reviewer waives defects that no gate notices.
fn how_to_waive(note: &StrengthNote) -> String {
    let whole = match note.proves_nothing || note.problem.is_some() {
        true => format!("; `{WHOLE}` means the change as a whole"),
        false => String::new(),
    };
    if note.defects.is_empty() && whole.is_empty() {
        return String::new();
    }
    let each = match note.defects.is_empty() {
        true => "",
        false => " Each may point to a missing test.",
    };
    let counts = match note.required.is_some() {
        true => " A yes counts only if enough defects are noticed or answered.",
        false => "",
    };
    format!(
        " {each} Answer a defect that does not change the behaviour, or does not need a test, with a line of `Findings`: `WAIVE ID: why`{whole}.{counts}\n"
    )
}

// User-only commands that a script ran with `--as-user`.

/// Maximum number of transitions that are searched for such commands.
const LOOK_BACK: usize = 1_000;

/// Sequence numbers and events of user-only commands that were run with `--as-user`, newest first, as far back as the
/// log can be read. The log is read only if there are any.
///
/// # Errors
/// A log that cannot be read.
pub fn list_scripted_commands(
    workspace: &Workspace,
    snapshot: &Snapshot,
) -> Result<Vec<(u64, String)>> {
    let opened = snapshot.ledger.scripted_commands.0;
    let mut found = Vec::new();
    if opened == 0 {
        return Ok(found);
    }
    for meta in workspace.store()?.entries()?.take(LOOK_BACK) {
        // The count from the ledger includes unreadable ones; `cook verify` names them.
        let Ok(meta) = meta else { break };
        if meta.actor == "script" && USER_COMMANDS.contains(&meta.event.as_str()) {
            found.push((meta.seq, meta.event));
        }
        if found.len() as u64 == opened {
            break;
        }
    }
    Ok(found)
}

/// Describes these commands, so that the reader can decide how much they count.
pub fn describe_scripted(opened: u64, commands: &[(u64, String)]) -> String {
    const SHOWN: usize = 10;
    let mut named: Vec<String> = commands
        .iter()
        .take(SHOWN)
        .map(|(seq, event)| format!("#{seq} {event}"))
        .collect();
    if opened > named.len() as u64 {
        named.push("…".to_owned());
    }
    format!(
        "{} run with --as-user: {}",
        count_noun(opened, "user-only command"),
        named.join(", ")
    )
}

// Commits that belong to another slice or to none, identified by id, author and subject, and the files in the slice's
// range that only they wrote.

/// Maximum number of items of each kind that are named, and of characters of a commit's subject.
pub(super) const NAMED: usize = 20;
const SUBJECT: usize = 100;
/// Maximum number of commits whose paths are read.
const LOOKED_AT: usize = 200;

/// Which commits and paths of a slice's range belong to the slice.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    /// Commits of the range that are not the slice's, oldest first.
    pub commits: Vec<String>,
    /// Paths that the slice's own commits write.
    own: BTreeSet<String>,
    /// Paths that the other commits write.
    theirs: BTreeSet<String>,
}

impl Foreign {
    /// Whether no commit of the slice wrote the path.
    pub fn is_theirs(&self, path: &str) -> bool {
        !self.commits.is_empty() && !self.own.contains(path)
    }

    /// The remark beside a path of the range.
    pub fn mark(&self, path: &str) -> &'static str {
        match (self.is_theirs(path), self.theirs.contains(path)) {
            (true, _) => " (of no commit of the slice)",
            (false, true) => " (partly of other commits)",
            (false, false) => "",
        }
    }
}

/// The hint at the command that shows all commits.
pub(super) const BY_GIT: &str = "`git log` shows all";

#[cfg(test)]
mod tests {
    use super::*;
    use cook_repo::git::Change;

    fn edit(path: &str, lines: usize) -> Edit {
        Edit {
            change: Change {
                path: path.to_owned(),
                kind: ChangeKind::Added,
            },
            texts: Some((None, Some("a line of text\n".repeat(lines)))),
        }
    }

    #[test]
    fn a_large_diff_is_cut_by_file_and_says_what_is_left() {
        let edits: Vec<Edit> = (0..40)
            .map(|n| edit(&format!("src/{n}.rs"), if n == 0 { 10_000 } else { 200 }))
            .collect();
        let mut text = String::new();
        let rows = name_files(&edits, &[], &Foreign::default());
        let whole = (&edits[..], &rows[..]);
        add_diff(&mut text, whole, ("aaaa", "bbbb"), &Foreign::default()).unwrap();
        assert!(text.len() < WHOLE_DIFF + FILE_DIFF);
        assert!(text.contains("+++ b/src/1.rs"));
        assert!(text.contains("[src/0.rs: "));
        assert!(text.contains("`git diff aaaa bbbb -- PATH` shows\n  the rest of src/0.rs\n"));
        assert!(text.contains("  src/39.rs (added, source) (20"));
    }
}
