//! What differs between two commits, and on which side of a trial each path stands.

use crate::prelude::*;
use cook_mutants::{Language, has_examples, has_tests, list_touched_tests, without_change};
use cook_protocol::trials::{
    Known, Side, Split, close_scripts, close_targets, first_target, is_among_tests, is_test_file,
    is_whole_setting, list_variables, shadows_runner, side_of, split_of, splits,
};
use cook_repo::git::{Entry, Put, TreeChange};

/// Bytes of a text that is taken apart.
const MAX_SPLIT: usize = 4 << 20;
/// Words by which a line of code names another file.
const IMPORTS: &str = "import from include require require_relative use mod source load";

/// Which of the two commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    Base,
    Head,
}

/// The change from one commit to another.
pub(crate) struct Change<'a> {
    pub(super) repo: &'a Repo,
    /// Full ids.
    pub(super) base: String,
    pub(super) head: String,
    pub(super) changes: Vec<TreeChange>,
    known: Known,
    /// Directories of code that were renamed.
    moved: BTreeMap<String, String>,
    texts: RefCell<BTreeMap<(End, String), Option<String>>>,
    /// Whether a text holds tests, by its path at an end.
    tested: RefCell<BTreeMap<(End, String), bool>>,
    /// Whether another file imports one that a run named.
    imported: RefCell<BTreeMap<String, bool>>,
}

impl<'a> Change<'a> {
    /// Reads what differs. `paths` are patterns of the base's settings.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub(crate) fn read(
        repo: &'a Repo,
        base: &str,
        head: &str,
        paths: &[String],
        gates: &[GateSpec],
    ) -> Result<Self> {
        for commit in [base, head] {
            repo.fetch_missing(commit, &[])?;
        }
        let mut change = Self {
            repo,
            base: base.to_owned(),
            head: head.to_owned(),
            changes: repo.list_tree_changes(base, head)?,
            known: Known {
                paths: paths.to_vec(),
                ..Known::default()
            },
            moved: BTreeMap::new(),
            texts: RefCell::default(),
            tested: RefCell::default(),
            imported: RefCell::default(),
        };
        change.known.named = change.find_named(gates)?;
        change.known.imported = change.find_imported()?;
        change.moved = change.find_moved();
        Ok(change)
    }

    /// The text of a file at one end; none where there is none, or it is too large or no text.
    pub(super) fn text(&self, end: End, path: &str) -> Result<Option<String>> {
        let key = (end, path.to_owned());
        if let Some(known) = self.texts.borrow().get(&key) {
            return Ok(known.clone());
        }
        let text = match self.repo.entry(self.commit(end), path)? {
            Entry::File { bytes, .. } if bytes.len() <= MAX_SPLIT => String::from_utf8(bytes).ok(),
            _ => None,
        };
        self.texts.borrow_mut().insert(key, text.clone());
        Ok(text)
    }

    pub(super) fn commit(&self, end: End) -> &str {
        match end {
            End::Base => &self.base,
            End::Head => &self.head,
        }
    }

    /// The side of a changed path: the one that it had at the base.
    pub(super) fn side(&self, change: &TreeChange, printed: &BTreeSet<String>) -> Side {
        let before = change.before.as_ref().map(|(path, _)| path.as_str());
        let after = change.after.as_ref().map(|(path, _)| path.as_str());
        let path = before.or(after).unwrap_or_default();
        if shadows_runner(path) || after.is_some_and(shadows_runner) {
            return Side::Test;
        }
        match side_of(path, &self.known, printed.contains(path)) {
            Side::Code if splits(path) && self.holds_tests(change) => Side::Both,
            // A file that tests are printed of is taken apart where it can be.
            Side::Both if !self.holds_tests(change) => Side::Code,
            Side::Test if self.is_by_print(path) => match self.holds(change, has_examples) {
                true => Side::Both,
                false if !self.is_imported(path) => Side::Test,
                false if self.holds_tests(change) => Side::Both,
                false => Side::Code,
            },
            side => side,
        }
    }

    /// Nothing makes it a file of tests but that a run named it, so it may be code that other tests need.
    fn is_by_print(&self, path: &str) -> bool {
        side_of(path, &self.known, false) == Side::Code
    }

    /// What changed and is on the tests' side only because a run named it, by its paths at both ends: it is put back
    /// for its own tests alone.
    pub(super) fn list_apart(&self, printed: &BTreeSet<String>) -> BTreeSet<String> {
        let is_apart = |change: &&TreeChange| {
            self.side(change, printed) == Side::Test
                && self.side(change, &BTreeSet::new()) != Side::Test
        };
        let apart = self.changes.iter().filter(is_apart);
        let ends = apart.flat_map(|change| change.before.iter().chain(&change.after));
        ends.map(|(path, _)| path.clone()).collect()
    }

    /// A line of another file, at either end, imports it by its name.
    fn is_imported(&self, path: &str) -> bool {
        if let Some(known) = self.imported.borrow().get(path) {
            return *known;
        }
        let words = BTreeSet::from([stem(path).to_owned()]);
        let found = [End::Base, End::Head].into_iter().any(|end| {
            let lines = self.repo.find_words(self.commit(end), &words);
            let mut lines = lines.unwrap_or_default().into_iter();
            lines.any(|(by, line)| by != path && names_import(&line, path))
        });
        self.imported.borrow_mut().insert(path.to_owned(), found);
        found
    }

    fn holds_tests(&self, change: &TreeChange) -> bool {
        let sides = [(End::Base, &change.before), (End::Head, &change.after)];
        sides.into_iter().any(|(end, side)| {
            let path = side.as_ref().map(|(path, _)| path);
            path.is_some_and(|path| self.has_tests_at(end, path))
        })
    }

    fn holds(&self, change: &TreeChange, has: fn(&str, &str) -> bool) -> bool {
        let sides = [(End::Base, &change.before), (End::Head, &change.after)];
        sides.into_iter().any(|(end, side)| {
            side.as_ref().is_some_and(|(path, _)| {
                let text = self.text(end, path).ok().flatten();
                text.is_some_and(|text| has(path, &text))
            })
        })
    }

    pub(super) fn has_tests_at(&self, end: End, path: &str) -> bool {
        let key = (end, path.to_owned());
        if let Some(known) = self.tested.borrow().get(&key) {
            return *known;
        }
        let text = self.text(end, path).ok().flatten();
        let holds = text.is_some_and(|text| has_tests(path, &text));
        self.tested.borrow_mut().insert(key, holds);
        holds
    }

    /// What became of a file, by its path at the head, or where it is gone at the base.
    pub(super) fn find(&self, path: &str) -> Option<&TreeChange> {
        self.changes.iter().find(|change| change.path() == path)
    }

    /// What became of a file, by its path at either end.
    pub(super) fn find_either(&self, path: &str) -> Option<&TreeChange> {
        let is_it = |change: &&TreeChange| {
            let mut ends = change.before.iter().chain(&change.after);
            ends.any(|(at, _)| at == path)
        };
        self.changes.iter().find(is_it)
    }

    /// The changed files of tests at the head that hold tests, with the names of these.
    pub(super) fn list_test_files(&self) -> Vec<(String, Vec<String>)> {
        let of_tests = |change: &&TreeChange| self.side(change, &BTreeSet::new()) == Side::Test;
        let after = self.changes.iter().filter(of_tests);
        let files = after.filter_map(|change| {
            let (path, _) = change.after.as_ref()?;
            let text = self.text(End::Head, path).ok().flatten()?;
            let tests = list_touched_tests(path, None, Some(&text)).into_iter();
            let names: Vec<String> = tests.map(|(_, name)| name).collect();
            (!names.is_empty()).then(|| (path.clone(), names))
        });
        files.collect()
    }

    /// A file that came with the head.
    pub(super) fn is_new(&self, path: &str) -> bool {
        self.find(path)
            .is_some_and(|change| change.before.is_none())
    }

    /// The files that came with the head.
    pub(super) fn list_added(&self) -> impl Iterator<Item = &(String, TreeEntry)> {
        let added = self.changes.iter().filter(|change| change.before.is_none());
        added.filter_map(|change| change.after.as_ref())
    }

    /// A script that a gate calls, or a file that settings of a runner name.
    pub(super) fn is_named(&self, path: &str) -> bool {
        self.known.named.contains(path)
    }

    /// Where a path of the base would stand at the head, had it moved with the code beside it.
    pub(super) fn move_with_code(&self, path: &str) -> String {
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        match self.moved.get(dir).map(String::as_str) {
            Some("") => name.to_owned(),
            Some(to) => format!("{to}/{name}"),
            None => path.to_owned(),
        }
    }

    /// Where a file of the base lies among the code of the head: at its place, or where the code beside it
    /// went. A new name of its own may be one that no runner looks at.
    pub(super) fn find_old_place(&self, change: &TreeChange) -> String {
        match (&change.before, &change.after) {
            (Some((from, _)), Some((to, _))) if self.code_moved(from) => to.clone(),
            (Some((from, _)), None) => self.move_with_code(from),
            (Some((from, _)), _) => from.clone(),
            (None, _) => change.path().to_owned(),
        }
    }

    /// The code beside a path of the base moved.
    pub(super) fn code_moved(&self, path: &str) -> bool {
        self.move_with_code(path) != path
    }

    fn find_moved(&self) -> BTreeMap<String, String> {
        let mut moved = BTreeMap::new();
        for change in &self.changes {
            let (Some((from, _)), Some((to, _))) = (&change.before, &change.after) else {
                continue;
            };
            let dir = |path: &str| path.rsplit_once('/').map_or("", |(dir, _)| dir).to_owned();
            if dir(from) != dir(to) && side_of(from, &self.known, false) == Side::Code {
                moved.insert(dir(from), dir(to));
            }
        }
        moved
    }

    /// Scripts that gates call, and files that settings of runners name, among what changed.
    fn find_named(&self, gates: &[GateSpec]) -> Result<BTreeSet<String>> {
        let changed: BTreeSet<&str> = self.paths().collect();
        let mut texts: Vec<(&GateSpec, End, String)> = Vec::new();
        for gate in gates {
            let recipe = Recipe::of(gate);
            texts.push((gate, End::Base, gate.run.clone()));
            for end in [End::Base, End::Head] {
                let text = self.read_recipe(&recipe, end)?;
                texts.extend(text.map(|text| (gate, end, text)));
            }
        }
        let mut named = BTreeSet::new();
        let by_rake = |gate: &&GateSpec| gate.run.split_whitespace().any(|word| word == "rake");
        let rakefiles = gates.iter().filter(by_rake);
        let rakefiles = rakefiles.map(|gate| gate.from_root("Rakefile"));
        named.extend(rakefiles.filter(|path| changed.contains(&**path)));
        // A gate's folder is where its words lead from. The head's recipe makes no test of what was code.
        let is_named = |path: &str| {
            texts.iter().any(|(gate, end, text)| {
                let inside = gate.inside(path);
                (*end == End::Base || self.is_new(path))
                    && inside.is_some_and(|inside| names_path(text, inside))
            })
        };
        for path in changed.iter().filter(|path| is_named(path)) {
            let languages = [End::Base, End::Head].into_iter().filter_map(|end| {
                let text = self.text(end, path).ok().flatten()?;
                Some(Language::of(path, &text))
            });
            let is_script = languages.into_iter().any(|language| match language {
                Language::Shell => true,
                Language::Other => false,
                // A program that nothing but the gate names is a check, too.
                _ => !self.is_imported(path),
            });
            if is_script {
                named.insert((*path).to_owned());
            }
        }
        // What such a script names in turn is what it tests, even where the gate names that too.
        let scripts = named.clone();
        for script in &scripts {
            let text = self.text(End::Base, script)?.unwrap_or_default();
            named.retain(|path| path == script || !names_path(&text, path));
        }
        named.extend(self.find_named_by_settings(&changed)?);
        Ok(named)
    }

    /// What a gate calls in its file of rules at one end.
    pub(super) fn read_recipe(&self, recipe: &Recipe, end: End) -> Result<Option<String>> {
        let Some(file) = recipe.file() else {
            return Ok(None);
        };
        Ok(self.text(end, file)?.and_then(|text| recipe.take(&text)))
    }

    fn find_named_by_settings(&self, changed: &BTreeSet<&str>) -> Result<BTreeSet<String>> {
        let mut named = BTreeSet::new();
        let is_candidate = |path: &&&str| {
            !is_among_tests(path)
                && !is_test_file(path)
                && Language::of(path, "") != Language::Other
        };
        let candidates: Vec<&&str> = changed.iter().filter(is_candidate).collect();
        if candidates.is_empty() {
            return Ok(named);
        }
        for end in [End::Base, End::Head] {
            let files = self.repo.files(self.commit(end))?;
            let settings = files
                .keys()
                .filter(|path| is_whole_setting(path) || split_of(path).is_some());
            for setting in settings.take(50) {
                let Some(text) = self.text(end, setting)? else {
                    continue;
                };
                let (own, is_whole) = match (is_whole_setting(setting), split_of(setting)) {
                    (false, Some(split)) => (split.take(&text).unwrap_or_default(), false),
                    _ => (text, true),
                };
                for path in &candidates {
                    // What was there is product code unless nothing but a runner's settings name it.
                    let is_alone = || is_whole || self.is_new(path) || !self.is_imported(path);
                    if names_file(&own, path) && is_alone() {
                        named.insert((**path).to_owned());
                    }
                }
            }
        }
        named.retain(|path| !is_whole_setting(path));
        Ok(named)
    }

    /// Of what changed among tests, those files that code imports.
    fn find_imported(&self) -> Result<BTreeSet<String>> {
        let among = self
            .paths()
            .filter(|path| is_among_tests(path) && !is_test_file(path))
            .filter(|path| Language::of(path, "") != Language::Other);
        let candidates: BTreeSet<&str> = among.collect();
        let mut imported = BTreeSet::new();
        if candidates.is_empty() {
            return Ok(imported);
        }
        let words: BTreeSet<String> = candidates
            .iter()
            .map(|path| stem(path).to_owned())
            .collect();
        let is_at_base = |path: &str| {
            let mut before = self.changes.iter().filter_map(|it| it.before.as_ref());
            before.any(|(before, _)| before == path)
        };
        for end in [End::Base, End::Head] {
            let lines = self.repo.find_words(self.commit(end), &words)?;
            let here = |path: &&&str| is_at_base(path) == (end == End::Base);
            for path in candidates.iter().filter(here) {
                let is_import = lines.iter().any(|(by, line)| {
                    Language::of(by, "") == Language::of(path, "")
                        && side_of(by, &self.known, false) == Side::Code
                        && imports(by, line, path)
                });
                if is_import {
                    imported.insert((*path).to_owned());
                }
            }
        }
        Ok(imported)
    }

    fn paths(&self) -> impl Iterator<Item = &str> {
        let both = self
            .changes
            .iter()
            .flat_map(|change| [&change.before, &change.after]);
        both.flatten().map(|(path, _)| path.as_str())
    }
}

/// The name of a file without its endings, or of its folder where the file stands for it.
pub(super) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    match stem {
        // It is imported by its directory's name.
        "__init__" | "index" | "mod" | "main" => {
            let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
            dir.rsplit('/').next().unwrap_or(stem)
        }
        stem => stem,
    }
}

/// A line of a file imports another one: by its name and its directory, or from the same directory.
fn imports(by: &str, line: &str, path: &str) -> bool {
    if !names_import(line, path) {
        return false;
    }
    let words = split_words(line);
    let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
    let own = by.rsplit_once('/').map_or("", |(dir, _)| dir);
    let last = dir.rsplit('/').next().unwrap_or_default();
    own == dir || stem(path) == last || words.contains(&last)
}

/// A line imports something of a file's name.
fn names_import(line: &str, path: &str) -> bool {
    let words = split_words(line);
    IMPORTS.split(' ').any(|word| words.contains(&word)) && words.contains(&stem(path))
}

fn split_words(line: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    line.split(|c| !is_word(c)).collect()
}

/// A text names a path as a word.
pub(super) fn names_path(text: &str, path: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    text.match_indices(path).any(|(at, _)| {
        let before = text[..at].trim_end_matches(['.', '/']);
        let after = &text[at + path.len()..];
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// The same, or as a module.
fn names_file(text: &str, path: &str) -> bool {
    let without_end = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let module = without_end.replace('/', ".");
    [path, without_end, &module]
        .iter()
        .any(|name| name.len() > 2 && names_path(text, name))
}

// The tree of a trial: the code of one commit with the tests of the other.

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
    pub(super) fn mix(&self, mix: &Mix, printed: &BTreeSet<String>) -> Result<String> {
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
                let path = if self.code_moved(from) { from } else { to };
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
    ) -> Result<()> {
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
    ) -> Result<()> {
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
    ) -> Result<()> {
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
    pub(super) fn list_edited_settings(&self, recipe: &Recipe) -> Result<BTreeSet<String>> {
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
    pub(super) fn recipe_differs(&self, recipe: &Recipe) -> Result<bool> {
        match recipe.file() {
            Some(file) => Ok(self.read_recipe(recipe, End::Base)?
                != self.read_recipe(recipe, End::Head)?
                && self.changes.iter().any(|change| change.path() == file)),
            None => Ok(false),
        }
    }

    /// What of a file that is on the code side belongs to the tests.
    fn split(&self, path: &str, recipe: &Recipe, depth: Depth) -> Result<Option<Split>> {
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

    fn differs_in_part(&self, from: &str, to: &str, recipe: &Recipe) -> Result<bool> {
        let Some(split) = self.split(to, recipe, Depth::All)? else {
            return Ok(false);
        };
        let (before, after) = (self.text(End::Base, from)?, self.text(End::Head, to)?);
        let part = |text: Option<String>| text.and_then(|text| split.take(&text));
        Ok(part(before) != part(after))
    }
}

// What a gate's command calls in the tree: a rule of a Makefile or justfile, a script of a
// `package.json`.

/// How much of what a gate calls is taken for the tests'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// The rule that it names, and what that comes to.
    All,
    /// That rule alone.
    Own,
    /// Nothing.
    Nothing,
}

/// A file of rules and what of it a command calls.
pub(super) enum Recipe {
    /// None of them.
    Nothing,
    /// Rules by their targets; none = the first one.
    Rules { file: String, targets: Vec<String> },
    /// A script by its name.
    Script { file: String, name: String },
}

impl Recipe {
    /// What a gate's command calls.
    pub fn of(gate: &GateSpec) -> Self {
        let words = words(&gate.run).unwrap_or_default();
        let Some((program, rest)) = words.split_first() else {
            return Self::Nothing;
        };
        let program = program.rsplit('/').next().unwrap_or(program);
        let named = || {
            let named = rest
                .iter()
                .filter(|word| !word.starts_with('-') && !word.contains('='));
            named.cloned().collect::<Vec<String>>()
        };
        match program {
            "make" | "gmake" => Self::Rules {
                file: gate.from_root("Makefile"),
                targets: named(),
            },
            "just" => Self::Rules {
                file: gate.from_root("justfile"),
                targets: named(),
            },
            "npm" | "yarn" | "pnpm" => {
                let named = named();
                let words: Vec<&str> = named.iter().map(String::as_str).collect();
                let name = match words[..] {
                    ["run", script, ..] => script,
                    ["t" | "tst", ..] => "test",
                    [script, ..] => script,
                    [] => return Self::Nothing,
                };
                Self::Script {
                    file: gate.from_root("package.json"),
                    name: name.to_owned(),
                }
            }
            _ => Self::Nothing,
        }
    }

    /// Where it stands.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Nothing => None,
            Self::Rules { file, .. } | Self::Script { file, .. } => Some(file),
        }
    }

    /// What its program reads of itself: its file, and others that lie in its place or beside it.
    pub fn reads(&self, path: &str) -> bool {
        let beside = |file: &str, name: &str| {
            let dir = file.rsplit_once('/').map_or("", |(dir, _)| dir);
            match dir {
                "" => path == name,
                dir => path.strip_prefix(dir) == Some(&format!("/{name}")),
            }
        };
        match self {
            Self::Nothing => false,
            Self::Script { file, .. } => beside(file, ".npmrc"),
            Self::Rules { file, .. } => {
                path.eq_ignore_ascii_case(file)
                    || beside(file, "GNUmakefile")
                    || path.ends_with(".mk")
            }
        }
    }

    /// What decides how its program reads or runs it, and holds none of what is built.
    pub fn steers(&self, path: &str) -> bool {
        self.reads(path) && self.file() != Some(path) && !path.ends_with(".mk")
    }

    /// Its file, and what steers its program.
    pub fn needs(&self, path: &str) -> bool {
        self.file() == Some(path) || self.steers(path)
    }

    /// What of a version of its file it calls.
    pub fn take(&self, text: &str) -> Option<String> {
        let names = self.close(text);
        let split = match self {
            Self::Script { .. } => Split::Json {
                keys: &[],
                scripts: names,
            },
            _ => Split::Rules(names),
        };
        split.take(text)
    }

    /// What of its file belongs to the tests, beside what does anyway.
    pub fn split(&self, texts: &[String], own: Option<Split>, depth: Depth) -> Split {
        let mut names = BTreeSet::new();
        for text in texts {
            match depth {
                Depth::All => names.extend(self.close(text)),
                _ => names.extend(self.own(text)),
            }
        }
        match (self, own) {
            (Self::Script { .. }, Some(Split::Json { keys, .. })) => Split::Json {
                keys,
                scripts: names,
            },
            (Self::Script { .. }, _) => Split::Json {
                keys: &[],
                scripts: names,
            },
            _ => Split::Rules(names),
        }
    }

    fn own(&self, text: &str) -> Vec<String> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Script { name, .. } => vec![name.clone()],
            Self::Rules { targets, .. } => {
                let mut own = match targets.is_empty() {
                    true => first_target(text).into_iter().collect(),
                    false => targets.clone(),
                };
                own.extend(list_variables(text, &own));
                own
            }
        }
    }

    fn close(&self, text: &str) -> BTreeSet<String> {
        let own = self.own(text);
        let close = |name: &String| match self {
            Self::Script { .. } => close_scripts(text, name),
            _ => close_targets(text, name),
        };
        own.iter().flat_map(close).collect()
    }
}
