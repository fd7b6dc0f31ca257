//! Bringing `.agent/` up to the tip without losing a byte that somebody else wrote.

use super::aside::Aside;
use super::compare::{Comparison, compare};
use super::displaced;
use super::error::{During, StoreError};
use super::objects;
use super::place;
use super::stamp::{Shown, Stamp, Stat};
use super::tree::{self, Document, History};
use super::view::{Glance, View, list_documents, scratch};
use cook_core::diagnostic::Code;
use cook_core::model::{GOAL_VIEW, Ledger};
use cook_os::disk::{self, Durable, Mode, NewFile};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

impl View<'_> {
    /// A goal is shown in the git dir, a mission in the worktree.
    fn choose_dir(&self) -> Result<(), StoreError> {
        let name = Document::Ledger.file();
        let ledger: Ledger = tree::parse(name, &self.stand.file(name)?)?;
        let of_goal = self.place.git_dir.join(GOAL_VIEW);
        if ledger.goal.is_some() {
            place::make_directory(&of_goal, Code::LogUnsafe)?;
        } else if place::is_directory(&of_goal, Code::LogUnsafe)? {
            disk::remove_tree(&of_goal).writing(of_goal.display().to_string())?;
        }
        Ok(())
    }

    /// Brings `.agent/` to the tip, leaving the files named in `leave` as they
    /// are. What would be overwritten and the log does not hold is set aside
    /// first, in one kept copy whose id is returned.
    pub(super) fn show(&self, leave: &BTreeSet<String>) -> Result<Option<String>, StoreError> {
        self.choose_dir()?;
        let dir = self.place.agent_dir();
        place::make_directory(&dir, Code::AgentDirUnsafe)?;
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
            if plan.writes(name) {
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
    fn plan(&self, dir: &Path, leave: &BTreeSet<String>) -> Result<Plan, StoreError> {
        let mut plan = Plan::default();
        for name in list_documents() {
            let step = if leave.contains(name) {
                Step::Keep
            } else if !self.is_shown(name) {
                self.hide_file(dir, name, &mut plan.aside)?
            } else if let Some(history) = History::ALL.into_iter().find(|one| one.file() == name) {
                self.history_step(dir, history, &mut plan.aside)?
            } else {
                self.document_step(dir, name, &mut plan.aside)?
            };
            plan.files.insert(name, step);
        }
        Ok(plan)
    }

    fn document_step(
        &self,
        dir: &Path,
        name: &str,
        aside: &mut Vec<Aside>,
    ) -> Result<Step, StoreError> {
        let tip = self.stand.blob(name).map(|id| id.to_string());
        match self.glance(dir, name)? {
            Glance::Missing => return Ok(Step::Write),
            Glance::Known if self.find_stamp(name) == tip.as_deref() => return Ok(Step::Keep),
            Glance::Known => return Ok(Step::Write),
            Glance::NotAFile | Glance::Unknown(_) => {}
        }
        let found = Aside::read(dir, name)?;
        if let Some(bytes) = found.regular() {
            if Some(objects::blob_id(self.log, bytes)?.to_string()) == tip {
                return Ok(Step::Keep);
            }
            if self.is_own(name, bytes)? {
                return Ok(Step::Write);
            }
        }
        aside.push(found);
        Ok(Step::Write)
    }

    fn history_step(
        &self,
        dir: &Path,
        history: History,
        aside: &mut Vec<Aside>,
    ) -> Result<Step, StoreError> {
        let name = history.file();
        let tip = self.histories.of(history);
        match self.glance(dir, name)? {
            Glance::Missing => return Ok(Step::Write),
            Glance::Known if self.find_stamp(name) == Some(tip.sha256.as_str()) => {
                return Ok(Step::Keep);
            }
            Glance::Known => {
                // The file is what the stamp's commit says: append the rest.
                return Ok(match &self.before {
                    Some(before) if before.leads_here => {
                        Step::Append(before.histories.of(history).bytes)
                    }
                    _ => Step::Write,
                });
            }
            Glance::NotAFile => {
                aside.push(Aside::read(dir, name)?);
                return Ok(Step::Write);
            }
            Glance::Unknown(_) => {}
        }
        Ok(match compare(self.log, self.tip, dir, history)? {
            Comparison::Equal => Step::Keep,
            Comparison::Prefix(length) => Step::Append(length),
            Comparison::Differs(_) => {
                aside.push(Aside::read(dir, name)?);
                Step::Write
            }
        })
    }

    /// A file that the tip does not show: what stands there goes, and is kept.
    fn hide_file(
        &self,
        dir: &Path,
        name: &str,
        aside: &mut Vec<Aside>,
    ) -> Result<Step, StoreError> {
        if matches!(self.glance(dir, name)?, Glance::Missing) {
            return Ok(Step::Keep);
        }
        aside.push(Aside::read(dir, name)?);
        Ok(Step::Remove)
    }

    fn find_stamp(&self, name: &str) -> Option<&str> {
        self.stamp
            .as_ref()
            .and_then(|found| found.stamp.files.get(name))
            .map(|shown| shown.oid.as_str())
    }

    fn show_history(
        &self,
        dir: &Path,
        scratch: &Path,
        history: History,
        plan: &Plan,
    ) -> Result<(), StoreError> {
        let target = dir.join(history.file());
        let failed =
            |error: io::Error| StoreError::write(format!(".agent/{}", history.file()), error);
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
    ) -> Result<(), StoreError> {
        let (blobs, skip) = objects::segments(self.log, self.tip, history, from)?;
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
    ) -> Result<(), StoreError> {
        let failed = |error: io::Error| StoreError::write("the checkout's stamp", error);
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
            .write(&tree::pretty(&stamp)?)
            .map_err(failed)
    }
}

/// What [`View::show`] does to each file.
#[derive(Default)]
struct Plan {
    files: BTreeMap<&'static str, Step>,
    aside: Vec<Aside>,
}

impl Plan {
    fn writes(&self, name: &str) -> bool {
        matches!(self.files.get(name), Some(Step::Write))
    }
}

enum Step {
    Keep,
    Write,
    Remove,
    /// The file is right up to this length.
    Append(u64),
}
