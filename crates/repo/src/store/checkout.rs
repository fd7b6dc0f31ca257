//! Bringing `.agent/` up to the tip without losing a byte that somebody else wrote.

use super::displaced::{self, Aside};
use super::error::{During, unwritable};
use super::log_format::{self, Document, History};
use super::log_place;
use super::view::{Shown, Stamp, Stat, Step, View, list_documents, scratch};
use crate::disk::{self, Durable, Mode, NewFile};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::{GOAL_VIEW, Ledger};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

impl View<'_> {
    /// A goal is shown in the git dir, a mission in the worktree.
    fn choose_dir(&self) -> Result<(), Failure> {
        let name = Document::Ledger.file();
        let ledger: Ledger = log_format::parse(name, &self.stand.file(name)?)?;
        let of_goal = self.place.git_dir.join(GOAL_VIEW);
        if ledger.goal.is_some() {
            log_place::make_directory(&of_goal, Code::LogUnsafe)?;
        } else if log_place::is_directory(&of_goal, Code::LogUnsafe)? {
            disk::remove_tree(&of_goal).writing(of_goal.display().to_string())?;
        }
        Ok(())
    }

    /// Brings `.agent/` to the tip, leaving the files named in `leave` as they
    /// are. What would be overwritten and the log does not hold is set aside
    /// first, in one kept copy whose id is returned.
    pub(super) fn show(&self, leave: &BTreeSet<String>) -> Result<Option<String>, Failure> {
        self.choose_dir()?;
        let dir = self.place.agent_dir();
        log_place::make_directory(&dir, Code::AgentDirUnsafe)?;
        let scratch = scratch(&dir)?;
        let plan = self.plan(&dir, leave)?;
        let aside = if plan.aside.is_empty() {
            None
        } else {
            Some(displaced::keep(
                self.log,
                &plan.aside,
                "edited outside cook",
            )?)
        };
        let mut shown = BTreeMap::new();
        for history in History::ALL {
            self.show_history(&dir, &scratch, history, &plan)?;
            if self.is_shown(history.file()) {
                shown.insert(history.file(), self.histories.of(history).sha256.clone());
            }
        }
        for document in Document::SHOWN {
            let name = document.file();
            if matches!(plan.files.get(name), Some(Step::Write)) {
                let target = dir.join(name);
                let new = NewFile::at(&target, Durable::Content).mode(Mode::Masked(0o644));
                new.scratch(&scratch)
                    .write(&self.stand.file(name)?)
                    .writing(format!(".agent/{name}"))?;
            }
            if matches!(plan.files.get(name), Some(Step::Remove)) {
                std::fs::remove_file(dir.join(name)).writing(format!(".agent/{name}"))?;
            }
            if let Some(blob) = self.stand.blob(name) {
                shown.insert(name, blob.to_string());
            }
        }
        if plan.files.values().any(|step| !matches!(step, Step::Keep)) {
            disk::sync_dir(&dir).writing(".agent")?;
        }
        self.write_stamp(&dir, &shown, leave)?;
        Ok(aside)
    }

    /// Decides for each file what to do, and reads what must be set aside.
    fn plan(&self, dir: &Path, leave: &BTreeSet<String>) -> Result<Plan, Failure> {
        let mut plan = Plan::default();
        for name in list_documents().filter(|name| !leave.contains(*name)) {
            let judged = self.judge(dir, name)?;
            if judged.is_foreign {
                plan.aside.push(Aside::read(dir, name)?);
            }
            plan.files.insert(name, judged.step);
        }
        Ok(plan)
    }

    fn show_history(
        &self,
        dir: &Path,
        scratch: &Path,
        history: History,
        plan: &Plan,
    ) -> Result<(), Failure> {
        let target = dir.join(history.file());
        let failed = |error: io::Error| unwritable(format!(".agent/{}", history.file()), error);
        match plan.files.get(history.file()) {
            Some(Step::Append(length)) => {
                disk::unshare(&target).map_err(failed)?;
                let mut file = disk::open_no_follow(OpenOptions::new().write(true), &target)
                    .map_err(failed)?;
                file.seek(SeekFrom::Start(*length)).map_err(failed)?;
                self.copy_history(history, *length, &mut file)?;
                file.sync_data().map_err(failed)
            }
            Some(Step::Write) => {
                let new = NewFile::at(&target, Durable::Content).mode(Mode::Masked(0o644));
                let mut draft = new.scratch(scratch).begin().map_err(failed)?;
                self.copy_history(history, 0, draft.file())?;
                draft.finish().map(drop).map_err(failed)
            }
            Some(Step::Remove) => std::fs::remove_file(&target).map_err(failed),
            Some(Step::Keep) | None => Ok(()),
        }
    }

    fn copy_history(
        &self,
        history: History,
        from: u64,
        target: &mut impl Write,
    ) -> Result<(), Failure> {
        let (blobs, skip) = log_format::segments(self.log, self.tip, history, from)?;
        let mut skip = usize::try_from(skip).unwrap_or(usize::MAX);
        for blob in blobs {
            let bytes = self.log.blob(blob)?;
            target
                .write_all(bytes.get(skip..).unwrap_or_default())
                .writing(format!(".agent/{}", history.file()))?;
            skip = 0;
        }
        Ok(())
    }

    /// Written last, and only when it says something new.
    fn write_stamp(
        &self,
        dir: &Path,
        shown: &BTreeMap<&str, String>,
        leave: &BTreeSet<String>,
    ) -> Result<(), Failure> {
        let failed = |error: io::Error| unwritable("the checkout's stamp", error);
        let mut listed = BTreeMap::new();
        for (name, oid) in shown {
            let stat = if leave.contains(*name) {
                None
            } else {
                disk::look(&dir.join(name))
                    .map_err(failed)?
                    .as_ref()
                    .map(Stat::of)
            };
            listed.insert(
                (*name).to_owned(),
                Shown {
                    oid: oid.clone(),
                    stat,
                },
            );
        }
        let stamp = Stamp {
            schema_version: 1,
            commit: self.tip.to_string(),
            files: listed,
        };
        if self
            .stamp
            .as_ref()
            .is_some_and(|found| found.stamp == stamp)
        {
            return Ok(());
        }
        NewFile::at(&self.place.stamp_file(), Durable::Content)
            .mode(Mode::Masked(0o644))
            .write(&log_format::pretty(&stamp)?)
            .map_err(failed)
    }
}

/// What [`View::show`] does to each file.
#[derive(Default)]
struct Plan {
    files: BTreeMap<&'static str, Step>,
    aside: Vec<Aside>,
}
