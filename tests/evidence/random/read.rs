//! What stands in commits and in the worktree.

use super::world::{Spot, World, parse};
use git2::{ObjectType, Oid, Repository, Sort};
use std::collections::BTreeMap;
use std::rc::Rc;

impl World {
    fn store(&self) -> &Repository {
        self.store
            .get_or_init(|| Repository::open(&self.repo.root).unwrap())
    }

    pub fn head(&self) -> String {
        self.resolve("HEAD").unwrap()
    }

    /// The full id of a commit that is here.
    pub fn resolve(&self, commit: &str) -> Option<String> {
        let object = self.store().revparse_single(commit).ok()?;
        Some(object.peel_to_commit().ok()?.id().to_string())
    }

    /// Blobs by path. Nothing but `.agent/` has files in directories.
    pub fn list_files_at(&self, commit: &str) -> BTreeMap<String, String> {
        let tree = self.tree(commit);
        let blobs = tree
            .iter()
            .filter(|entry| entry.kind() == Some(ObjectType::Blob));
        blobs
            .map(|entry| (entry.name().unwrap().to_owned(), entry.id().to_string()))
            .collect()
    }

    fn tree(&self, commit: &str) -> git2::Tree<'_> {
        let object = self.store().revparse_single(commit).unwrap();
        object.peel_to_tree().unwrap()
    }

    pub fn read_text_at(&self, commit: &str, path: &str) -> Option<String> {
        let entry = self.tree(commit).get_name(path)?.id();
        let blob = self.store().find_blob(entry).unwrap();
        Some(String::from_utf8_lossy(blob.content()).into_owned())
    }

    /// The lines that stand whole at a commit, white space aside.
    pub fn read_lines_at(&self, commit: &str) -> Rc<Vec<Spot>> {
        let tree = self.tree(commit).id();
        if let Some(known) = self.seen.borrow().get(&tree) {
            return Rc::clone(known);
        }
        let mut found = Vec::new();
        for path in self.list_files_at(commit).keys() {
            if path.ends_with(".txt")
                && let Some(text) = self.read_text_at(commit, path)
            {
                found.extend(self.whole(path, &text));
            }
        }
        let found = Rc::new(found);
        self.seen.borrow_mut().insert(tree, Rc::clone(&found));
        found
    }

    /// The same of the worktree.
    pub fn lines_now(&self) -> Vec<Spot> {
        let of = |path: String| self.whole(&path, &self.read(&path));
        self.paths().into_iter().flat_map(of).collect()
    }

    /// A text of the worktree; nothing where there is none, or no text any more.
    pub fn read(&self, path: &str) -> String {
        let text = std::fs::read_to_string(self.repo.root.join(path)).unwrap_or_default();
        match text.contains('\0') {
            true => String::new(),
            false => text,
        }
    }

    fn whole(&self, path: &str, text: &str) -> Vec<Spot> {
        if text.contains('\0') {
            return Vec::new();
        }
        let mut spots = parse(path, text);
        spots.retain(|spot| self.is_whole(spot, text));
        spots
    }

    fn is_whole(&self, spot: &Spot, text: &str) -> bool {
        let squeeze = |text: &str| text.split_whitespace().collect::<String>();
        let here = text
            .lines()
            .skip(spot.first - 1)
            .take(spot.last + 1 - spot.first);
        let here: Vec<&str> = here.collect();
        squeeze(&here.join("\n")) == squeeze(&self.lines[spot.line].text)
    }

    /// Texts of the worktree.
    pub fn paths(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.repo.root).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        let mut paths: Vec<String> = names.filter(|name| name.ends_with(".txt")).collect();
        paths.sort();
        paths
    }

    /// Where a place of the library or of an own file is now.
    pub fn at_slot(&self, slot: &str) -> Vec<Spot> {
        let all = self.lines_now().into_iter();
        all.filter(|spot| self.lines[spot.line].slot == slot)
            .collect()
    }

    /// Commits of the branch that are not older than the base, the newest first.
    pub fn ancestors(&self) -> Vec<String> {
        let mut all = vec![self.head()];
        while all.last() != Some(&self.base) {
            let id = Oid::from_str(all.last().unwrap()).unwrap();
            let commit = self.store().find_commit(id).unwrap();
            all.push(commit.parent_id(0).unwrap().to_string());
        }
        all
    }

    /// Commits of HEAD that a commit does not have, the newest first.
    pub fn since(&self, commit: &str) -> Vec<git2::Commit<'_>> {
        let mut walk = self.store().revwalk().unwrap();
        walk.set_sorting(Sort::TOPOLOGICAL).unwrap();
        walk.push_head().unwrap();
        walk.hide(Oid::from_str(commit).unwrap()).unwrap();
        walk.map(|id| self.store().find_commit(id.unwrap()).unwrap())
            .collect()
    }

    /// Commits since the base with a subject that is wanted; no merges.
    pub fn subjects(&self, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        self.since(&self.base)
            .iter()
            .filter(|commit| commit.parent_count() < 2)
            .filter(|commit| wanted(commit.summary().ok().flatten().unwrap_or_default()))
            .map(|commit| commit.id().to_string())
            .collect()
    }

    /// The id of the blob that a file of the worktree is.
    pub fn hash_blob(&self, path: &str) -> String {
        let bytes = std::fs::read(self.repo.root.join(path)).unwrap();
        let id = Oid::hash_object(ObjectType::Blob, &bytes).unwrap();
        id.to_string()
    }
}
