//! Comparing a repository with its baseline.

use super::super::error::AtPath;
use super::super::program::Call;
use super::super::{ChangeKind, Repo, RepoError};
use super::deviation::Difference;
use super::stand::{Baseline, NOW_INDEX, Stand, WORK_INDEX};
use super::steering::{Dirs, Ignored, Steering, differing, is_lead, is_nested};
use super::taking::{aside, dirs, list_nested, stand, there};
use cook_protocol::diagnostic::Failure;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

impl Baseline {
    /// What is not as it was. A steering file that differs is copied and put back at once,
    /// because git would go by it.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn differences(&self, repo: &Repo) -> Result<Vec<Difference>, Failure> {
        let mut found = self.put_steering_back(repo)?;
        // The baseline's own index: stat data in the user's may have been written to deceive.
        let from = self.dir.join(WORK_INDEX);
        let was = &self.stand;
        let ignored = was.ignored.clone();
        let now = stand(repo, &self.dir, &from, NOW_INDEX, (ignored, None))?;
        found.extend(self.operation_differences(repo, &self.copies()?)?);
        if was.head != now.head {
            found.push(Difference::Head {
                from: was.head.clone(),
                to: now.head.clone(),
            });
        }
        found.extend(differing(&was.refs, &now.refs).map(|name| Difference::Ref {
            name: name.clone(),
            from: was.refs.get(name).cloned(),
            to: now.refs.get(name).cloned(),
        }));
        if was.stash != now.stash {
            found.push(Difference::Stash);
        }
        if was.index != now.index {
            found.push(Difference::Index);
        }
        for path in now.hidden.difference(&was.hidden) {
            // Of a sparse checkout the files are absent: there is nothing to hide.
            if there(&repo.root.join(path))? {
                found.push(Difference::Hidden { path: path.clone() });
            }
        }
        if was.tree != now.tree {
            found.extend(self.file_differences(repo, &now)?);
        }
        found.extend(now.unborn.difference(&was.unborn).map(|path| {
            let path = path.clone().into_bytes();
            let (added, deleted) = (true, false);
            Difference::File {
                path,
                added,
                deleted,
            }
        }));
        found.extend(
            differing(&was.submodules, &now.submodules)
                .map(|path| Difference::Submodule { path: path.clone() }),
        );
        found.extend(
            was.worktrees
                .symmetric_difference(&now.worktrees)
                .map(|path| Difference::Worktree {
                    path: path.clone(),
                    added: now.worktrees.contains(path),
                }),
        );
        found.sort();
        Ok(found)
    }

    /// Puts back what leads to the repository and to its refs, before anybody asks where it is: in
    /// a git dir of a session's own everything else would stand as it should.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn put_leads_back(&self) -> Result<Vec<Difference>, Failure> {
        let dirs = Dirs {
            root: &self.stand.root,
            common: &self.stand.git_dir,
            own: &self.stand.git_dir,
            nested: BTreeSet::new(),
            ignored: &Ignored::default(),
        };
        let copies = self.copies()?;
        let now = dirs.read_leads(&copies)?;
        let leads = self.stand.steering.only(is_lead);
        let mut found = self.put_files_back_to(&dirs, &leads, &now, &copies)?;
        found.extend(self.mend_packed_refs(&copies)?);
        Ok(found)
    }

    /// The repositories in the worktree are looked at when the settings of this one are back.
    fn put_steering_back(&self, repo: &Repo) -> Result<Vec<Difference>, RepoError> {
        let copies = self.copies()?;
        let was = &self.stand.steering;
        let ignored = &self.stand.ignored;
        let dirs = self::dirs(repo, BTreeSet::new(), ignored);
        // Through what stands in the place of a directory nothing is read or written.
        let now = dirs.read_stand_ins(&copies)?;
        let those = was.only(|name| now.0.contains_key(name));
        let mut found = self.put_files_back_to(&dirs, &those, &now, &copies)?;
        let own = was.only(|name| !is_nested(name));
        let now = dirs.read(Some(&copies))?;
        found.extend(self.put_files_back_to(&dirs, &own, &now, &copies)?);
        let listed = repo.program.answer(Call::new("ls-files --stage -z"))?;
        let mut nested = list_nested(repo, &self.dir, WORK_INDEX, &listed)?;
        // One that is gone steers nothing.
        nested.retain(|path| repo.root.join(path).join(".git").symlink_metadata().is_ok());
        if nested.is_empty() {
            return Ok(found);
        }
        let is_there = |name: &str| {
            let below = name.trim_start_matches("root:");
            nested.iter().any(|path| Path::new(below).starts_with(path))
        };
        let was = was.only(|name| is_nested(name) && is_there(name));
        let dirs = self::dirs(repo, nested.clone(), ignored);
        let now = dirs.read(Some(&copies))?.only(is_nested);
        found.extend(self.put_files_back_to(&dirs, &was, &now, &copies)?);
        Ok(found)
    }

    fn copies(&self) -> Result<PathBuf, RepoError> {
        let copies = self.dir.join("found");
        std::fs::create_dir_all(&copies).at("make", &copies)?;
        Ok(copies)
    }

    fn put_files_back_to(
        &self,
        dirs: &Dirs,
        was: &Steering,
        now: &Steering,
        copies: &Path,
    ) -> Result<Vec<Difference>, RepoError> {
        let kept = self.dir.join("steering");
        let mut found = Vec::new();
        for name in differing(&was.0, &now.0).cloned() {
            let later = self.is_later(&dirs.path(&name));
            if !later {
                // One that cannot be put back stays, and is named at each look.
                dirs.put_back(&name, was.0.get(&name), &kept)?;
            }
            found.push(Difference::Steering {
                found: now.find_copy(&name, copies),
                name,
                later,
            });
        }
        Ok(found)
    }

    fn file_differences(&self, repo: &Repo, now: &Stand) -> Result<Vec<Difference>, RepoError> {
        let call: Call = aside(
            repo,
            &self.dir,
            NOW_INDEX,
            "diff-tree -r -z --no-renames --name-status --ignore-submodules=none",
        );
        let changes = repo
            .program
            .name_status(call.arg(&self.stand.tree).arg(&now.tree))?;
        let differences = changes.into_iter().map(|(kind, path)| Difference::File {
            path,
            added: kind == ChangeKind::Added,
            deleted: kind == ChangeKind::Deleted,
        });
        Ok(differences.collect())
    }
}
