//! Comparing a repository with its baseline.

use super::super::program::Call;
use super::super::{Repo, RepoError};
use super::difference::Difference;
use super::stand::{Baseline, Stand, WORK_INDEX};
use super::take::{aside, dirs, stand, there};
use cook_core::diagnostic::Failure;
use std::collections::BTreeSet;

/// The index of the tree as it stands at a comparison.
const NOW_INDEX: &str = "now-index";

impl Baseline {
    /// What is not as it was. A steering file that differs is copied and put back at once,
    /// because git would go by it.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn differences(&self, repo: &Repo) -> Result<Vec<Difference>, Failure> {
        Ok(self.compare(repo)?)
    }

    fn compare(&self, repo: &Repo) -> Result<Vec<Difference>, RepoError> {
        let mut found = self.put_steering_back(repo)?;
        // The baseline's own index: stat data in the user's may have been written to deceive.
        let from = self.dir.join(WORK_INDEX);
        let now = stand(repo, &self.dir, &from, NOW_INDEX, None)?;
        let was = &self.stand;
        if was.head != now.head {
            found.push(Difference::Head {
                from: was.head.clone(),
                to: now.head.clone(),
            });
        }
        found.extend(ref_differences(was, &now));
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
        let modules: BTreeSet<&String> =
            was.submodules.keys().chain(now.submodules.keys()).collect();
        found.extend(
            modules
                .into_iter()
                .filter(|path| was.submodules.get(*path) != now.submodules.get(*path))
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

    fn put_steering_back(&self, repo: &Repo) -> Result<Vec<Difference>, RepoError> {
        let dirs = dirs(repo);
        let copies = self.dir.join("found");
        std::fs::create_dir_all(&copies).map_err(|error| RepoError::io("make", &copies, error))?;
        let now = dirs.read(Some(&copies))?;
        let was = &self.stand.steering;
        let mut found = Vec::new();
        for name in was.differences(&now) {
            let kept = self.dir.join("steering");
            let later = self.is_later(&dirs.path(&name));
            if !later {
                // One that cannot be put back stays, and is named at each look.
                dirs.put_back(&name, was.0.get(&name), &kept)?;
            }
            found.push(Difference::Steering {
                found: now.copy_of(&name, &copies),
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
            &[
                "diff-tree",
                "-r",
                "-z",
                "--no-renames",
                "--name-status",
                "--ignore-submodules=none",
            ],
        );
        let answer = repo
            .program
            .answer(call.arg(&self.stand.tree).arg(&now.tree))?;
        let mut fields = answer.split(|byte| *byte == 0);
        let mut found = Vec::new();
        while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
            found.push(Difference::File {
                path: path.to_owned(),
                added: status.first() == Some(&b'A'),
                deleted: status.first() == Some(&b'D'),
            });
        }
        Ok(found)
    }
}

fn ref_differences(was: &Stand, now: &Stand) -> Vec<Difference> {
    let names: BTreeSet<&String> = was.refs.keys().chain(now.refs.keys()).collect();
    names
        .into_iter()
        .filter(|name| was.refs.get(*name) != now.refs.get(*name))
        .map(|name| Difference::Ref {
            name: name.clone(),
            from: was.refs.get(name).cloned(),
            to: now.refs.get(name).cloned(),
        })
        .collect()
}
