//! The tree of a trial: the code of one commit with the tests of the other.

use super::recipe::{Depth, Recipe};
use super::trial_change::{Change, End};
use cook_mutants::without_change;
use cook_protocol::diagnostic::Failure;
use cook_protocol::trials::{
    Side, Split, is_among_tests, is_test_file, is_whole_setting, shadows_runner, split_of,
};
use cook_repo::git::{Put, TreeChange};
use std::collections::{BTreeMap, BTreeSet};

/// Which tree is asked for.
pub(super) struct Mix<'a> {
    /// Whose code; the tests are the other's.
    pub code: End,
    /// What the gate calls.
    pub recipe: &'a Recipe,
    pub depth: Depth,
    /// Paths, at the head, that stay as the code's commit has them.
    pub kept: Option<&'a BTreeSet<String>>,
    /// Settings of runners alone, and no test.
    pub settings_alone: bool,
}

impl<'a> Mix<'a> {
    pub fn new(code: End, recipe: &'a Recipe, depth: Depth) -> Self {
        Self {
            code,
            recipe,
            depth,
            kept: None,
            settings_alone: false,
        }
    }
}

impl Change<'_> {
    /// The commit that holds it: a made one, or one of the two where nothing differs.
    pub(super) fn mix(&self, mix: &Mix, printed: &BTreeSet<String>) -> Result<String, Failure> {
        let mut puts = BTreeMap::new();
        for change in &self.changes {
            if mix.kept.is_some_and(|kept| kept.contains(change.path())) {
                continue;
            }
            let is_read = match mix.settings_alone {
                true => mix.recipe.reads(change.path()),
                false => mix.depth == Depth::All && self.steers(mix.recipe, change),
            };
            if is_read {
                self.put_test(mix.code, change, &mut puts);
                continue;
            }
            let is_setting = self.is_setting(change);
            match self.side(change, printed) {
                Side::Test if !mix.settings_alone || is_setting => {
                    self.put_test(mix.code, change, &mut puts);
                }
                Side::Both if !mix.settings_alone => self.put_both(mix.code, change, &mut puts)?,
                Side::Code => self.put_part(mix, change, &mut puts)?,
                _ => {}
            }
        }
        self.repo.make_mixed(self.commit(mix.code), &puts)
    }

    /// A file that holds settings of a runner and nothing else, or stands in a runner's place.
    pub(super) fn is_setting(&self, change: &TreeChange) -> bool {
        let both = [&change.before, &change.after].into_iter().flatten();
        let mut paths = both.map(|(path, _)| path.as_str());
        // A script that lies among tests is tests itself.
        let is_script =
            |path: &str| self.is_named(path) && !is_among_tests(path) && !is_test_file(path);
        paths.any(|path| is_whole_setting(path) || shadows_runner(path) || is_script(path))
    }

    /// A file that came, or settings that changed, by which the gate's program does something else.
    fn steers(&self, recipe: &Recipe, change: &TreeChange) -> bool {
        let before = change.before.as_ref().map(|(path, _)| path.as_str());
        let is_settings = change.path().ends_with(".npmrc");
        recipe.steers(change.path()) && (is_settings || before != Some(change.path()))
    }

    fn put_test(&self, code: End, change: &TreeChange, puts: &mut BTreeMap<String, Put>) {
        match (code, &change.before, &change.after) {
            (End::Head, Some((_, entry)), Some((to, _))) => {
                let path = self.find_old_place(change);
                if path != *to {
                    puts.entry(to.clone()).or_insert(Put::Nothing);
                }
                puts.insert(path, Put::Entry(entry.clone()));
            }
            (End::Head, Some((_, entry)), None) => {
                puts.insert(self.find_old_place(change), Put::Entry(entry.clone()));
            }
            (End::Head, None, Some((path, _))) => {
                puts.entry(path.clone()).or_insert(Put::Nothing);
            }
            (End::Base, Some((from, _)), Some((to, entry))) => {
                let path = match self.code_moved(from) {
                    true => from,
                    false => to,
                };
                if path != from {
                    puts.entry(from.clone()).or_insert(Put::Nothing);
                }
                puts.insert(path.clone(), Put::Entry(entry.clone()));
            }
            (End::Base, Some((path, _)), None) => {
                puts.entry(path.clone()).or_insert(Put::Nothing);
            }
            (End::Base, None, Some((path, entry))) => {
                puts.insert(path.clone(), Put::Entry(entry.clone()));
            }
            (_, None, None) => {}
        }
    }

    /// A file with code and tests. Of one that is at one commit alone nothing is taken: its tests go
    /// with it.
    fn put_both(
        &self,
        code: End,
        change: &TreeChange,
        puts: &mut BTreeMap<String, Put>,
    ) -> Result<(), Failure> {
        self.put_text(code, change, puts, |path, own, other| {
            let text = without_change(path, Some(own), Some(other)).flatten();
            text.filter(|text| text != own)
        })
    }

    /// A file of the code that holds settings of a runner, or what the gate calls.
    fn put_part(
        &self,
        mix: &Mix,
        change: &TreeChange,
        puts: &mut BTreeMap<String, Put>,
    ) -> Result<(), Failure> {
        let Some(split) = self.split(change.path(), mix.recipe, mix.depth)? else {
            return Ok(());
        };
        self.put_text(mix.code, change, puts, |_, own, other| {
            match split.take(own) == split.take(other) {
                true => None,
                false => split.put(own, other),
            }
        })
    }

    /// Puts a text that is made of both versions of a file in the place of the code's.
    fn put_text(
        &self,
        code: End,
        change: &TreeChange,
        puts: &mut BTreeMap<String, Put>,
        make: impl FnOnce(&str, &str, &str) -> Option<String>,
    ) -> Result<(), Failure> {
        let (Some((from, old)), Some((to, new))) = (&change.before, &change.after) else {
            return Ok(());
        };
        let (Some(before), Some(after)) = (self.text(End::Base, from)?, self.text(End::Head, to)?)
        else {
            return Ok(());
        };
        let (path, mode, own, other) = match code {
            End::Base => (from, &old.mode, &before, &after),
            End::Head => (to, &new.mode, &after, &before),
        };
        if let Some(text) = make(path, own, other) {
            let mode = mode.clone();
            puts.insert(path.clone(), Put::Text { mode, text });
        }
        Ok(())
    }

    /// Files with settings of runners that differ, by their paths at the head: all of a file, or the
    /// part of it that is no code.
    pub(super) fn list_edited_settings(
        &self,
        recipe: &Recipe,
    ) -> Result<BTreeSet<String>, Failure> {
        let mut edited = BTreeSet::new();
        for change in &self.changes {
            let is_part = || {
                let (Some((from, _)), Some((to, _))) = (&change.before, &change.after) else {
                    return Ok(false);
                };
                self.differs_in_part(from, to, recipe)
            };
            if self.is_setting(change) || self.steers(recipe, change) || is_part()? {
                edited.insert(change.path().to_owned());
            }
        }
        Ok(edited)
    }

    /// What the gate's program reads of itself, among what changed.
    pub(super) fn list_read(&self, recipe: &Recipe) -> BTreeSet<String> {
        let paths = self.changes.iter().map(TreeChange::path);
        let read = paths.filter(|path| recipe.reads(path));
        read.map(str::to_owned).collect()
    }

    /// Whether what the gate calls differs.
    pub(super) fn recipe_differs(&self, recipe: &Recipe) -> Result<bool, Failure> {
        match recipe.file() {
            Some(file) => Ok(self.read_recipe(recipe, End::Base)?
                != self.read_recipe(recipe, End::Head)?
                && self.changes.iter().any(|change| change.path() == file)),
            None => Ok(false),
        }
    }

    /// What of a file that is on the code side belongs to the tests.
    fn split(&self, path: &str, recipe: &Recipe, depth: Depth) -> Result<Option<Split>, Failure> {
        let own = split_of(path);
        if depth == Depth::Nothing || recipe.file() != Some(path) {
            return Ok(own);
        }
        let mut texts = Vec::new();
        for end in [End::Base, End::Head] {
            texts.push(self.text(end, path)?.unwrap_or_default());
        }
        Ok(Some(recipe.split(&texts, own, depth)))
    }

    fn differs_in_part(&self, from: &str, to: &str, recipe: &Recipe) -> Result<bool, Failure> {
        let Some(split) = self.split(to, recipe, Depth::All)? else {
            return Ok(false);
        };
        let (before, after) = (self.text(End::Base, from)?, self.text(End::Head, to)?);
        let part = |text: Option<String>| text.and_then(|text| split.take(&text));
        Ok(part(before) != part(after))
    }
}
