//! Files of a commit's tree below some paths, and where two branches went apart.

use super::Repo;
use super::contents::path_text;
use super::program::{Call, refusal};
use cook_protocol::diagnostic::Failure;
use cook_protocol::model::TreeEntry;
use std::collections::BTreeMap;

impl Repo {
    /// The files of a commit (full id) at or below these paths, links and submodules among them.
    ///
    /// # Errors
    /// When there is no such commit.
    pub fn list_files_under(
        &self,
        commit: &str,
        paths: &[&str],
    ) -> Result<BTreeMap<String, TreeEntry>, Failure> {
        // Without a path git lists all.
        match paths.is_empty() {
            true => Ok(BTreeMap::new()),
            false => self.list_tree(commit, paths),
        }
    }

    /// The files of a commit (full id), links and submodules among them.
    ///
    /// # Errors
    /// When there is no such commit.
    pub fn files(&self, commit: &str) -> Result<BTreeMap<String, TreeEntry>, Failure> {
        self.known
            .trees
            .recall(commit, || self.list_tree(commit, &[]))
    }

    fn list_tree(
        &self,
        commit: &str,
        paths: &[&str],
    ) -> Result<BTreeMap<String, TreeEntry>, Failure> {
        let mut call = Call::new("ls-tree -r -z --full-tree")
            .env("GIT_LITERAL_PATHSPECS", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .arg(commit)
            .arg("--");
        for path in paths {
            call = call.arg(*path);
        }
        let mut files = BTreeMap::new();
        for line in self.program.entries(call)? {
            let line = path_text(&line);
            let Some((facts, path)) = line.split_once('\t') else {
                continue;
            };
            if let [mode, _, id] = facts.split(' ').collect::<Vec<_>>()[..] {
                let entry = TreeEntry {
                    mode: mode.to_owned(),
                    id: id.to_owned(),
                };
                files.insert(path.to_owned(), entry);
            }
        }
        Ok(files)
    }

    /// The one commit at which two branches went apart (full ids); none where there is none here, or
    /// several.
    ///
    /// # Errors
    /// When git does not answer.
    pub fn only_merge_base(&self, one: &str, two: &str) -> Result<Option<String>, Failure> {
        let mut bases = self.list_merge_bases(one, two)?;
        Ok(bases.pop().filter(|_| bases.is_empty()))
    }

    /// The commits at which two branches went apart (full ids).
    pub(crate) fn list_merge_bases(&self, one: &str, two: &str) -> Result<Vec<String>, Failure> {
        let call = Call::new("merge-base --all").env("GIT_NO_REPLACE_OBJECTS", "1");
        let told = self.program.ask(call.arg(one).arg(two))?;
        match told.code {
            Some(0 | 1) => Ok(String::from_utf8_lossy(&told.stdout)
                .lines()
                .map(str::to_owned)
                .collect()),
            _ => Err(refusal("merge-base".to_owned(), &told).into()),
        }
    }
}
