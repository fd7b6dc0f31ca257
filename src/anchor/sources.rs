//! What anchors are held against, each read once.

use super::text::{says_generated, split};
use super::told::{Told, list_told};
use cook_core::diagnostic::{Failure, without_escapes};
use cook_core::machine::{AnchorQuestion, Head, WorkOf};
use cook_core::model::{Own, Receipt};
use cook_git::{Change, Entry, Repo, is_set};
use cook_store::receipt::Receipts;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::rc::Rc;

/// How much of one kind is kept while anchors are judged.
const MAX_KEPT: usize = 512;

/// What anchors are held against.
pub struct Sources<'a> {
    pub(super) repo: &'a Repo,
    pub(super) receipts: &'a Receipts,
    pub(super) head: &'a Head,
    read: Kept<String, Said>,
    messages: Kept<(), BTreeMap<String, String>>,
    recall: &'a dyn Fn() -> Result<BTreeMap<String, String>, Failure>,
    texts: Kept<(String, String), Text>,
    changes: Kept<(String, String), Vec<Change>>,
    pub(super) works: Kept<(WorkOf, Option<String>), Own>,
    accepted: Kept<(), BTreeMap<u64, Own>>,
    read_accepted: &'a dyn Fn() -> Result<BTreeMap<u64, Own>, Failure>,
    trees: &'a BTreeMap<String, String>,
    found: Kept<String, Option<String>>,
}

/// What was read once: by commit and path, or by two commits.
pub(super) type Kept<K, T> = RefCell<HashMap<K, Rc<T>>>;

/// What a receipt's output says.
pub(super) struct Said {
    pub lines: Vec<String>,
    pub tests: Vec<Told>,
    pub partial: bool,
}

/// A file's lines, or why it has none that could be anchored.
pub(super) enum Text {
    Lines(Vec<String>),
    Gone,
    No(&'static str),
}

impl<'a> Sources<'a> {
    /// The repository at this HEAD, its receipts, and what is only asked for when an anchor needs
    /// it: the user's messages by id, and the work that transitions accepted by their sequence. `trees` are
    /// those of commits that the log rests on.
    pub fn new(
        repo: &'a Repo,
        receipts: &'a Receipts,
        head: &'a Head,
        messages: &'a dyn Fn() -> Result<BTreeMap<String, String>, Failure>,
        accepted: &'a dyn Fn() -> Result<BTreeMap<u64, Own>, Failure>,
        trees: &'a BTreeMap<String, String>,
    ) -> Self {
        Self {
            repo,
            receipts,
            head,
            read: RefCell::default(),
            messages: RefCell::default(),
            recall: messages,
            texts: RefCell::default(),
            changes: RefCell::default(),
            works: RefCell::default(),
            accepted: RefCell::default(),
            read_accepted: accepted,
            trees,
            found: RefCell::default(),
        }
    }

    /// The user's messages that count.
    pub fn messages(&self) -> Result<Rc<BTreeMap<String, String>>, Failure> {
        recall(&self.messages, (), self.recall)
    }

    /// The work that a transition accepted; none where nobody wrote it down.
    pub(super) fn find_accepted(&self, seq: u64) -> Result<Option<Own>, Failure> {
        let works = recall(&self.accepted, (), self.read_accepted)?;
        let Some(mut own) = works.get(&seq).cloned() else {
            return Ok(None);
        };
        if let Some(basis) = self.find_commit(&own.basis)? {
            own.basis = basis;
        }
        let found = match (self.find_commit(&own.head)?, &self.head.commit) {
            (None, Some(head)) => self.repo.find_with_files(&own.files, head)?,
            (found, _) => found,
        };
        if let Some(found) = found {
            own.head = found;
        }
        Ok(Some(own))
    }

    /// The commit that a proof was stamped at: its own, or the one that stands for the slice's head.
    pub(super) fn find_stamp(&self, question: &AnchorQuestion) -> Result<Option<String>, Failure> {
        let Some(stamp) = &question.stamped_at else {
            return Ok(None);
        };
        let found = self.find_commit(stamp)?;
        let (None, Some(work @ WorkOf::Accepted(seq))) = (&found, &question.work) else {
            return Ok(found);
        };
        let works = recall(&self.accepted, (), self.read_accepted)?;
        match (works.get(seq), self.work(work, "")?) {
            (Some(was), Some(own)) if was.head == *stamp => self.repo.resolve(&own.head),
            _ => Ok(None),
        }
    }

    /// The full id of a commit; of one that git threw away, the newest on HEAD that has its tree.
    pub(super) fn find_commit(&self, id: &str) -> Result<Option<String>, Failure> {
        if let Some(found) = self.repo.resolve(id)? {
            return Ok(Some(found));
        }
        let (Some(tree), Some(head)) = (self.trees.get(id), &self.head.commit) else {
            return Ok(None);
        };
        let found = recall(&self.found, id.to_owned(), || {
            self.repo.find_with_tree(tree, head)
        })?;
        Ok((*found).clone())
    }

    pub(super) fn read_output(&self, receipt: &Receipt) -> Result<Rc<Said>, Failure> {
        recall(&self.read, receipt.id.clone(), || {
            let output = self.receipts.output(receipt)?;
            let outcomes = self.receipts.outcomes(receipt)?;
            let plain = without_escapes(&output.text);
            Ok(Said {
                lines: plain.lines().map(|line| line.trim().to_owned()).collect(),
                tests: list_told(&outcomes, &output.text),
                partial: output.partial || outcomes.is_partial,
            })
        })
    }

    /// A file's lines, read once.
    pub(super) fn text(&self, commit: &str, path: &str) -> Result<Rc<Text>, Failure> {
        let key = (commit.to_owned(), path.to_owned());
        recall(&self.texts, key, || self.read_text(commit, path))
    }

    fn read_text(&self, commit: &str, path: &str) -> Result<Text, Failure> {
        Ok(match self.repo.entry(commit, path)? {
            Entry::Nothing => Text::Gone,
            Entry::Directory => Text::No("it is a directory"),
            Entry::Symlink => Text::No("it is a symbolic link"),
            Entry::Submodule => Text::No("it is a submodule"),
            Entry::Huge(_) => Text::No("it is too large to read"),
            Entry::File { bytes, .. } if bytes.contains(&0) => Text::No("it is a binary file"),
            Entry::File { bytes, .. } => Text::Lines(split(&bytes)),
        })
    }

    /// A program made the file at HEAD: its first lines say so, or a tracked file of attributes.
    pub(super) fn is_generated(&self, path: &str) -> Result<bool, Failure> {
        let Some(head) = &self.head.commit else {
            return Ok(false);
        };
        if let Text::Lines(lines) = &*self.text(head, path)?
            && says_generated(lines)
        {
            return Ok(true);
        }
        let dirs = path.match_indices('/').map(|(at, _)| &path[..at]);
        let mut said = Vec::new();
        for dir in [""].into_iter().chain(dirs) {
            let file = format!("{dir}/.gitattributes");
            said.push((dir, self.text(head, file.trim_start_matches('/'))?));
        }
        let lines = said.iter().filter_map(|(dir, text)| match &**text {
            Text::Lines(lines) => Some((*dir, lines.as_slice())),
            _ => None,
        });
        Ok(is_set("linguist-generated", path, lines))
    }

    /// What differs between two commits, listed once.
    pub(super) fn changes(&self, from: &str, to: &str) -> Result<Rc<Vec<Change>>, Failure> {
        let key = (from.to_owned(), to.to_owned());
        recall(&self.changes, key, || self.repo.changes(Some(from), to))
    }
}

/// What was made for a key already, else what is made now.
pub(super) fn recall<K: Eq + Hash, T>(
    kept: &Kept<K, T>,
    key: K,
    make: impl FnOnce() -> Result<T, Failure>,
) -> Result<Rc<T>, Failure> {
    if let Some(known) = kept.borrow().get(&key) {
        return Ok(Rc::clone(known));
    }
    let made = Rc::new(make()?);
    let mut kept = kept.borrow_mut();
    if kept.len() >= MAX_KEPT {
        kept.clear();
    }
    kept.insert(key, Rc::clone(&made));
    Ok(made)
}
