//! The trials of one gate, and what they say of each test.

use super::trial_change::{Change, Depth, End, Mix, Recipe, stem};
use super::trial_lines::{Teller, last_line};
use crate::prelude::*;
use cook_mutants::Language;
use cook_protocol::trials::{
    Became, Chosen, Crossed, NamedTest, Outcomes, Side, Source, Tree, Word, cross, fits_path,
    limit_to_files,
};
use cook_repo::git::{Entry, TreeChange};
use cook_repo::receipt::{Look, TrialRoom, TrialRun};

/// How often old tests are tried again without files that do not load.
const TRIES: usize = 4;
/// What a trial may take beside three times the run at the head, in milliseconds.
const BESIDE: u64 = 60_000;

/// What a person at a terminal sees while it takes time.
pub(crate) type Tell<'a> = &'a dyn Fn(&str);

/// The trials of a gate.
pub(super) struct GateTrials<'a> {
    pub change: &'a Change<'a>,
    pub gates: &'a Gates<'a>,
    pub gate: &'a GateSpec,
    pub known_red: &'a [String],
    pub tell: Tell<'a>,
    pub recipe: Recipe,
    room: TrialRoom<'a>,
    printed: BTreeSet<String>,
    /// Trials that ran or were answered, and the milliseconds that those took which ran.
    pub ran: Vec<(&'static str, u64)>,
    /// The files whose tests ran at the head; `None` if the runner does not name the file of every test.
    pub files: Option<BTreeSet<String>>,
    /// The names of these tests.
    pub names: BTreeSet<String>,
}

/// A trial of old or new tests, and what it ran.
struct Trial {
    run: TrialRun,
    commit: String,
    /// The words of its command.
    command: String,
    /// The files of tests that it ran; none = all.
    files: Option<BTreeSet<String>>,
    /// Files that do not load there.
    unloaded: BTreeMap<String, String>,
    /// It speaks of the tests of these files alone: they may be code that tests of others need.
    own: Option<BTreeSet<String>>,
    /// The trial of files that were put back for their own tests alone, whose outcomes are among these.
    apart: Option<Box<Trial>>,
}

impl Trial {
    fn outcomes(&self) -> &Outcomes {
        &self.run.outcomes
    }

    fn has_passed(&self) -> bool {
        let mut own = self.outcomes().tests.values();
        let is_green = self.own.is_some()
            && !self.outcomes().tests.is_empty()
            && own.all(|test| test.result != TestResult::Failed);
        let apart = self.apart.as_ref();
        (self.run.run.has_passed() || is_green) && apart.is_none_or(|apart| apart.has_passed())
    }

    /// Keeps what it says of tests of these files.
    fn limit_to(mut self, files: &BTreeSet<String>) -> Self {
        let is_own = |file: &Option<String>| file.as_ref().is_some_and(|it| files.contains(it));
        self.run.outcomes.tests.retain(|_, test| is_own(&test.file));
        self.run
            .outcomes
            .unloaded
            .retain(|it, _| files.contains(it));
        self.unloaded.retain(|path, _| files.contains(path));
        self.files = Some(files.clone());
        self.own = Some(files.clone());
        self
    }

    /// Takes what the other trial says of its own files in the place of what this one says of them.
    fn join(mut self, apart: Self) -> Self {
        let own = apart.own.clone().unwrap_or_default();
        let is_own = |file: &Option<String>| file.as_ref().is_some_and(|it| own.contains(it));
        self.run
            .outcomes
            .tests
            .retain(|_, test| !is_own(&test.file));
        self.run
            .outcomes
            .tests
            .extend(apart.outcomes().tests.clone());
        self.unloaded.extend(apart.unloaded.clone());
        if let Some(files) = &mut self.files {
            files.extend(own);
        }
        self.apart = Some(Box::new(apart));
        self
    }

    /// Its time ran out, or it did not run.
    fn is_cut(&self) -> bool {
        let receipt = self.run.run.receipt.as_ref();
        receipt.is_none_or(|receipt| receipt.timed_out)
    }

    /// What tells best why it is red.
    fn last_line(&self) -> String {
        let unloaded = self.outcomes().unloaded.values().next().cloned();
        let problem = self.run.run.problem.clone();
        let receipt = self.run.run.receipt.as_ref();
        let tail = receipt.map(|receipt| last_line(&receipt.tail));
        unloaded.or(problem).or(tail).unwrap_or_default()
    }
}

/// The four trials, as far as there are any.
#[derive(Clone, Copy)]
struct Four<'t> {
    before: &'t Trial,
    old: Option<&'t Trial>,
    new: Option<&'t Trial>,
    after: &'t TrialRun,
    /// The base does not have the folder of the gate.
    is_new: bool,
}

impl Four<'_> {
    /// Something names tests.
    fn has_names(&self) -> bool {
        let old = self.old.map(Trial::outcomes);
        let mut all = vec![self.before.outcomes(), &self.after.outcomes];
        all.extend(old);
        // Where the old tests ran and none has a name, as with some runners, the exit code is what they say.
        let is_nameless = old.is_some_and(|old| old.omits_passed);
        all.iter()
            .any(|outcomes| !outcomes.tests.is_empty() || outcomes.omits_passed && !is_nameless)
    }
}

/// Tests that went otherwise the second time.
type Flaky = BTreeSet<(Word, String)>;

impl<'a> GateTrials<'a> {
    pub fn new(
        change: &'a Change<'a>,
        gates: &'a Gates<'a>,
        gate: &'a GateSpec,
        known_red: &'a [String],
        tell: Tell<'a>,
    ) -> Self {
        Self {
            change,
            gates,
            gate,
            known_red,
            tell,
            recipe: Recipe::of(gate),
            room: TrialRoom::new(gates, Caches::Kept),
            printed: BTreeSet::new(),
            ran: Vec::new(),
            files: None,
            names: BTreeSet::new(),
        }
    }

    /// What the four trials say; `after` is the gate's run at the head.
    pub fn look(&mut self, after: &GateRun) -> Result<Vec<TrialLine>> {
        let Some(receipt) = &after.receipt else {
            return Ok(Vec::new());
        };
        if after.problem.is_some() {
            return Ok(Vec::new());
        }
        self.room.green_since = after.has_passed().then(|| receipt.started_at.display());
        let after = without_echoes(TrialRun {
            run: after.clone(),
            outcomes: self.gates.receipts.outcomes(receipt)?,
        });
        self.note_printed(&after.outcomes);
        self.files = list_files(&after.outcomes);
        self.names = after.outcomes.tests.keys().cloned().collect();
        let touched = self.list_touched()?;
        let limit = self.limit(&after);
        let before = self.run_before(&after, &touched, limit)?;
        self.note_printed(before.outcomes());
        let touched = self.list_touched()?;
        let apart = self.change.list_apart(&self.printed);
        let (own, others): (Vec<String>, Vec<String>) = touched
            .iter()
            .cloned()
            .partition(|path| apart.contains(path));
        let everything = self.printed.clone();
        let named: BTreeSet<String> = everything.difference(&apart).cloned().collect();
        let mut depth = Depth::All;
        let mut old = None;
        if !others.is_empty() {
            let (trial, found) = self.run_old((&others, &named), limit, before.outcomes())?;
            (old, depth) = (Some(trial), found);
        }
        let mut new = match others.is_empty() || !self.code_changed() {
            true => None,
            false => self.run_new((&others, &named), limit, depth)?,
        };
        if !own.is_empty() {
            let (trial, found) = self.run_old((&own, &everything), limit, before.outcomes())?;
            let trial = trial.limit_to(&apart);
            (old, depth) = match old {
                Some(others) => (Some(others.join(trial)), depth),
                None => (Some(trial), found),
            };
            if let Some(trial) = self.run_new((&own, &everything), limit, depth)? {
                let trial = trial.limit_to(&apart);
                new = Some(match new {
                    Some(others) => others.join(trial),
                    None => trial,
                });
            }
        }
        let four = Four {
            before: &before,
            old: old.as_ref(),
            new: new.as_ref(),
            after: &after,
            is_new: self.is_new()?,
        };
        let mut named = self.cross(four);
        let flaky = self.look_again(&mut named, four)?;
        if !four.has_names() {
            // The gate's own run says it better.
            named.retain(|it| !matches!(it.word, Word::GateRed | Word::RedBefore));
        }
        let teller = Teller {
            change: self.change,
            gate: self.gate,
            known_red: self.known_red,
            settings: self.gates.settings,
            old: four
                .old
                .map(|old| (old.commit.as_str(), old.command.as_str())),
            apart: four
                .old
                .and_then(|old| old.apart.as_deref())
                .and_then(|it| {
                    let own = it.own.as_ref()?;
                    Some((own, (it.commit.as_str(), it.command.as_str())))
                }),
        };
        let mut lines = teller.tell(&named);
        let flaky_lines = flaky.iter();
        lines.extend(flaky_lines.map(|(word, name)| teller.tell_flaky(*word, name)));
        lines.extend(self.look_at_settings(four, depth, limit, &teller)?);
        if self.change.recipe_differs(&self.recipe)? && depth == Depth::Nothing {
            lines.push(teller.tell_recipe(&self.recipe));
        }
        if flaky.is_empty() {
            lines.extend(weigh_silence(four, &teller, &named));
        }
        lines.extend(self.weigh_notice(four, &touched, &named, &teller));
        Ok(lines)
    }

    fn note_printed(&mut self, outcomes: &Outcomes) {
        let files = outcomes.tests.values().filter_map(|test| test.file.clone());
        self.printed.extend(files);
    }

    /// What of the change is on the side of the tests, by paths at the head, or where they are gone at the
    /// base.
    fn list_touched(&self) -> Result<Vec<String>> {
        let mut touched: BTreeSet<String> = self.change.list_edited_settings(&self.recipe)?;
        touched.retain(|path| self.concerns(path));
        for change in &self.change.changes {
            let is_tests = match self.change.side(change, &self.printed) {
                Side::Test => true,
                // Only where its tests differ, or could.
                Side::Both => change.before.is_some() && change.after.is_some(),
                Side::Code => false,
            };
            if is_tests && self.concerns(change.path()) {
                touched.insert(change.path().to_owned());
            }
        }
        Ok(touched.into_iter().collect())
    }

    /// Whether the gate could say something about a path: below its folder, or right in one above it.
    fn concerns(&self, path: &str) -> bool {
        let paths = &self.gate.paths;
        let is_above = || {
            let dir = path.rsplit_once('/').map(|(dir, _)| format!("{dir}/"));
            dir.is_none_or(|dir| self.gate.dir.starts_with(&dir))
        };
        (paths.is_empty() || paths.iter().any(|pattern| fits_path(pattern, path)))
            && (self.gate.inside(path).is_some() || is_above())
    }

    /// Whether it is a file of tests of which the runner ran none at the head: one of a dependency, or of another gate.
    fn is_foreign(&self, path: &str) -> bool {
        leaves_out(&self.files, path) && self.change.has_tests_at(End::Head, path)
    }

    /// Whether the base does not have the folder of the gate.
    fn is_new(&self) -> Result<bool> {
        let files = self.change.repo.files(&self.change.base)?;
        Ok(!files.keys().any(|path| self.gate.inside(path).is_some()))
    }

    fn code_changed(&self) -> bool {
        let mut sides = self.change.changes.iter();
        sides.any(|change| self.change.side(change, &self.printed) != Side::Test)
    }

    fn limit(&self, after: &TrialRun) -> u64 {
        let usual = after.ms().saturating_mul(3).saturating_add(BESIDE);
        usual.min(self.gate.timeout_ms)
    }

    /// The gate on a commit, limited to files where it takes some.
    fn run(
        &mut self,
        what: &'static str,
        commit: &str,
        (touched, limit): (&[String], u64),
        anew: bool,
    ) -> Result<Trial> {
        let chosen = match touched.is_empty() || self.touches_links(touched) {
            true => None,
            false => self.choose(commit, touched)?,
        };
        let mut gate = self.gate.clone();
        gate.timeout_ms = limit;
        let mut files = None;
        if let Some(chosen) = chosen {
            gate.run = shell_words::join(&chosen.words);
            files = Some(chosen.files);
        }
        (self.tell)(&format!("{}: {what}, `{}`", self.gate.name, gate.run));
        let run = match anew {
            false => self.room.run(commit, &gate, None)?,
            true => {
                let mut room = TrialRoom::new(self.gates, Caches::Empty);
                room.run(commit, &gate, Some(Look::Again))?
            }
        };
        let run = without_echoes(run);
        self.ran.push((what, run.ms()));
        let unloaded = self.place_unloaded(&run, touched);
        Ok(Trial {
            command: gate.run,
            commit: commit.to_owned(),
            files,
            unloaded,
            run,
            own: None,
            apart: None,
        })
    }

    /// Behind a link or a submodule stand tests that no path of the tree names.
    fn touches_links(&self, touched: &[String]) -> bool {
        let sides = self.change.changes.iter();
        let mut sides = sides.flat_map(|change| change.before.iter().chain(&change.after));
        sides.any(|(path, entry)| touched.contains(path) && !entry.mode.starts_with("100"))
    }

    /// The words that run these files alone at a commit, and what they run.
    fn choose(&self, commit: &str, touched: &[String]) -> Result<Option<Chosen>> {
        let Ok(words) = words(&self.gate.run) else {
            return Ok(None);
        };
        // A runner that is told a file runs it, also where it would not look for tests.
        if touched.iter().any(|path| self.is_foreign(path)) {
            return Ok(None);
        }
        // The runner sees its folder, and what lies above it may be read by all of its tests.
        let inside = |path: &String| self.gate.inside(path).map(str::to_owned);
        let touched: Option<Vec<String>> = touched.iter().map(inside).collect();
        let Some(touched) = touched else {
            return Ok(None);
        };
        let files = self.change.repo.files(commit)?;
        let files: BTreeSet<String> = files.keys().filter_map(inside).collect();
        let printed: BTreeSet<String> = self.printed.iter().filter_map(inside).collect();
        let read = |path: &str| {
            let path = self.gate.from_root(path);
            match self.change.repo.entry(commit, &path).ok()? {
                Entry::File { bytes, .. } => String::from_utf8(bytes).ok(),
                _ => None,
            }
        };
        let tree = Tree {
            files: &files,
            read: &read,
            printed: &printed,
        };
        let Some(mut chosen) = limit_to_files(&words, &touched, &tree) else {
            return Ok(None);
        };
        let files = chosen.files.iter();
        chosen.files = files.map(|path| self.gate.from_root(path)).collect();
        Ok(Some(chosen))
    }

    /// Files that did not load, by their paths in the tree, where that can be told.
    fn place_unloaded(&self, run: &TrialRun, touched: &[String]) -> BTreeMap<String, String> {
        let unloaded = run.outcomes.unloaded.iter();
        let placed = unloaded.filter_map(|(what, message)| {
            let mut paths = touched.iter();
            let path = paths.find(|path| *path == what || stands_for(what, path))?;
            Some((path.clone(), message.clone()))
        });
        placed.collect()
    }

    /// Tests of the base on its own code: whole where a receipt answers, else as little as the others.
    fn run_before(&mut self, after: &TrialRun, touched: &[String], limit: u64) -> Result<Trial> {
        let base = self.change.base.clone();
        let red = after.outcomes.tests.iter();
        let mut red = red.filter(|(_, test)| test.result == TestResult::Failed);
        let is_known = self.gates.find_asked(&base, self.gate)?.is_some();
        let whole = is_known || !after.run.has_passed() || touched.is_empty();
        let at_base = touched.iter().filter(|_| !whole);
        let at_base: Vec<String> = at_base.map(|path| self.path_at_base(path)).collect();
        let before = self.run("at the base", &base, (&at_base, limit), false)?;
        // A test that is red now was red before, or was not: that must be known.
        let is_unknown = |name: &String| !before.outcomes().tests.contains_key(name);
        if before.files.is_some() && red.any(|(name, _)| is_unknown(name)) {
            return self.run("at the base", &base, (&[], limit), false);
        }
        Ok(before)
    }

    /// Where old tests of a path lie among the code of the head, and the other way round.
    fn place_at_head(&self, path: &str) -> String {
        let place = |change: &TreeChange| self.change.find_old_place(change);
        self.change
            .find(path)
            .map_or_else(|| path.to_owned(), place)
    }

    fn name_at_head(&self, place: &str) -> String {
        let mut changes = self.change.changes.iter();
        let found = changes.find(|change| self.change.find_old_place(change) == place);
        found.map_or(place, TreeChange::path).to_owned()
    }

    fn path_at_base(&self, path: &str) -> String {
        let before = self.change.find(path).and_then(|it| it.before.as_ref());
        before.map_or(path, |(before, _)| before).to_owned()
    }

    /// Tests of the base on the code of the head: without the files that do not load, and with as much of
    /// what the gate calls as can be had.
    fn run_old(
        &mut self,
        (touched, printed): (&[String], &BTreeSet<String>),
        limit: u64,
        before: &Outcomes,
    ) -> Result<(Trial, Depth)> {
        let mut kept = BTreeSet::new();
        let mut unloaded = BTreeMap::new();
        let mut depths = vec![Depth::All];
        if self.change.recipe_differs(&self.recipe)? {
            depths.extend([Depth::Own, Depth::Nothing]);
        }
        let mut depths = depths.into_iter().peekable();
        let mut depth = Depth::All;
        let mut tries = 0;
        loop {
            if tries == 0
                && let Some(next) = depths.next()
            {
                depth = next;
            }
            let mix = Mix {
                kept: Some(&kept),
                ..Mix::new(End::Head, &self.recipe, depth)
            };
            let commit = self.change.mix(&mix, printed)?;
            let rest: Vec<String> = touched
                .iter()
                .filter(|path| !kept.contains(*path))
                .map(|path| self.place_at_head(path))
                .collect();
            let mut trial =
                self.run("old tests on the new code", &commit, (&rest, limit), false)?;
            let here = std::mem::take(&mut trial.unloaded).into_iter();
            trial.unloaded = here
                .map(|(path, message)| (self.name_at_head(&path), message))
                .collect();
            let says_nothing = trial.outcomes().tests.is_empty()
                && !before.tests.is_empty()
                && !trial.run.run.has_passed();
            if says_nothing && trial.unloaded.is_empty() && depths.peek().is_some() {
                (tries, kept) = (0, BTreeSet::new());
                continue;
            }
            let is_new = trial.unloaded.keys().any(|path| !kept.contains(path));
            unloaded.extend(trial.unloaded.clone());
            tries += 1;
            if is_new && tries < TRIES && rest.len() > trial.unloaded.len() {
                kept.extend(trial.unloaded.keys().cloned());
                continue;
            }
            if says_nothing {
                // Nothing names a cause, so none of them can be compared.
                let message = trial.last_line();
                for path in touched.iter().filter(|path| !kept.contains(*path)) {
                    unloaded
                        .entry(path.clone())
                        .or_insert_with(|| message.clone());
                }
            }
            // Of a file that came with the change there is no old version.
            unloaded.retain(|path, _| !self.change.is_new(path));
            let trial = Trial { unloaded, ..trial };
            return Ok((trial, depth));
        }
    }

    /// Tests of the head on the code of the base. Nothing is told where the whole gate would run a third
    /// time for it: that new tests fail without the change refuses nothing.
    fn run_new(
        &mut self,
        (touched, printed): (&[String], &BTreeSet<String>),
        limit: u64,
        depth: Depth,
    ) -> Result<Option<Trial>> {
        let mut changes = self.change.changes.iter();
        if !changes.any(|it| it.after.is_some() && touched.iter().any(|path| path == it.path())) {
            return Ok(None);
        }
        let mix = Mix::new(End::Base, &self.recipe, depth);
        let commit = self.change.mix(&mix, printed)?;
        if self.choose(&commit, touched)?.is_none() {
            return Ok(None);
        }
        let what = "new tests on the old code";
        self.run(what, &commit, (touched, limit), false).map(Some)
    }

    fn run_old_again(&mut self, old: &Trial, limit: u64) -> Result<Trial> {
        let files: Vec<String> = old.files.iter().flatten().cloned().collect();
        let what = "old tests once more";
        let mut again = self.run(what, &old.commit, (&files, limit), true)?;
        again.unloaded = old.unloaded.clone();
        again.files = old.files.clone();
        if let Some(own) = &old.own {
            again = again.limit_to(own);
        }
        Ok(match &old.apart {
            Some(apart) => again.join(self.run_old_again(apart, limit)?),
            None => again,
        })
    }

    fn cross(&self, four: Four) -> Vec<NamedTest> {
        let Four {
            before,
            old,
            new,
            after,
            ..
        } = four;
        if !four.has_names() {
            return self.cross_codes(four);
        }
        let none = BTreeMap::new();
        let renamed = |path: &str| {
            let is_it = |side: &Option<(String, _)>| side.as_ref().is_some_and(|it| it.0 == path);
            let mut changes = self.change.changes.iter();
            match changes.find(|change| is_it(&change.before)) {
                Some(change) => match &change.after {
                    Some((to, _)) => Some(to.clone()),
                    None => Some(self.change.move_with_code(path)),
                },
                None => Some(path.to_owned()),
            }
        };
        let mut named = cross(&Crossed {
            before: before.outcomes(),
            old_tests: old.map_or(&after.outcomes, Trial::outcomes),
            new_tests: new.map(Trial::outcomes),
            after: &after.outcomes,
            old_ran: old.and_then(|old| old.files.as_ref()),
            new_ran: new.and_then(|new| new.files.as_ref()),
            unloaded: old.map_or(&none, |old| &old.unloaded),
            renamed: &renamed,
            code_changed: self.code_changed(),
        });
        // Where nobody edited the file of a test that could not be loaded, it may be red for want of what came with the
        // change beside it.
        for it in named.iter_mut().filter(|it| it.word == Word::Bent) {
            let edited = it
                .file
                .as_ref()
                .map(|file| self.change.find(file).is_some());
            if edited == Some(false) && !before.outcomes().tests.contains_key(&it.name) {
                it.word = Word::NotComparable;
            }
        }
        let red = old.filter(|old| !old.has_passed());
        // A run that ended at its first red test leaves out the others, which are green now.
        let is_left_out = |it: &NamedTest| {
            red.is_some() && it.word == Word::NotComparable && it.became == Became::Green
        };
        let left_out: Vec<NamedTest> = named.extract_if(.., |it| is_left_out(it)).collect();
        if let Some(first) = left_out.first() {
            let count = count_noun(left_out.len(), "test");
            named.push(NamedTest {
                name: self.gate.name.clone(),
                message: Some(format!("{count}, such as `{}`", first.name)),
                file: None,
                ..first.clone()
            });
        }
        // Old tests that are red where no test is named as the cause say that something is not so.
        let red = red.filter(|_| before.has_passed());
        let tells = |it: &NamedTest| {
            matches!(
                it.word,
                Word::PassToFail | Word::Bent | Word::NotComparable | Word::GateRed
            )
        };
        // A test that was expected to fail at the base, and holds now, is such a cause, and contradicts nothing.
        let is_mended = |old: &Trial| {
            let mut failed = old.outcomes().tests.iter();
            failed.any(|(name, test)| {
                let was = before.outcomes().tests.get(name).map(|test| test.result);
                test.result == TestResult::Failed && was == Some(TestResult::Skipped)
            })
        };
        let red = red.filter(|old| !named.iter().any(tells) && !is_mended(old));
        if let Some(old) = red {
            named.push(NamedTest {
                word: Word::NotComparable,
                name: self.gate.name.clone(),
                file: None,
                message: Some(old.last_line()),
                became: Became::Green,
            });
        }
        named
    }

    /// Where nothing names a test, the exit code of the gate speaks.
    fn cross_codes(&self, four: Four) -> Vec<NamedTest> {
        let (was, is) = (four.before.has_passed(), four.after.run.has_passed());
        let mut named = Vec::new();
        let mut add = |word, message: Option<String>| {
            named.push(NamedTest {
                word,
                name: self.gate.name.clone(),
                file: None,
                message,
                became: if is { Became::Green } else { Became::Red },
            });
        };
        match (was, is) {
            (false, false) if !four.is_new => add(Word::RedBefore, None),
            (_, false) => add(Word::GateRed, None),
            _ => {}
        }
        // A gate whose files came with the change was red for want of them.
        let tests = self.change.changes.iter();
        let mut tests =
            tests.filter(|change| self.change.side(change, &self.printed) == Side::Test);
        let edited = tests.all(|change| change.before.is_some());
        if let Some(old) = four.old.filter(|old| is && !old.has_passed()) {
            let word = match was {
                _ if old.is_cut() || !old.unloaded.is_empty() => Some(Word::NotComparable),
                true => Some(Word::PassToFail),
                false if !edited => None,
                false if self.code_changed() => Some(Word::Bent),
                false => Some(Word::TestRepaired),
            };
            if let Some(word) = word {
                add(word, Some(old.last_line()));
            }
        }
        named
    }

    /// What would refuse is looked at once more, from nothing; what goes otherwise then is no fact of
    /// the change unless it did not do so before.
    fn look_again(&mut self, named: &mut Vec<NamedTest>, four: Four) -> Result<Flaky> {
        let refuses = |it: &NamedTest| it.word.weight() == cook_protocol::trials::Weight::Refuses;
        let mut flaky = Flaky::new();
        if !named.iter().any(refuses) {
            return Ok(flaky);
        }
        let is_red = |it: &NamedTest| it.word == Word::GateRed;
        let limit = self.gate.timeout_ms;
        let again = match four.old {
            Some(old) if named.iter().any(|it| refuses(it) && !is_red(it)) => {
                Some(self.run_old_again(old, limit)?)
            }
            _ => None,
        };
        let head = self.change.head.clone();
        let after_again = match named.iter().any(is_red) {
            true => Some(self.run("at the head once more", &head, (&[], limit), true)?),
            false => None,
        };
        let second = self.cross(Four {
            old: again.as_ref().or(four.old),
            after: after_again.as_ref().map_or(four.after, |again| &again.run),
            ..four
        });
        // What was cut off says nothing of the first look.
        let is_cut = |trial: &Trial| trial.is_cut() || trial.run.run.problem.is_some();
        if again.iter().chain(&after_again).any(is_cut) {
            return Ok(flaky);
        }
        let key = |it: &NamedTest| (it.word, it.name.clone());
        let seen: BTreeSet<(Word, String)> = second.iter().map(key).collect();
        let gone: Vec<NamedTest> = named
            .iter()
            .filter(|it| refuses(it) && !seen.contains(&key(it)))
            .cloned()
            .collect();
        named.retain(|it| !refuses(it) || seen.contains(&key(it)));
        if gone.is_empty() {
            return Ok(flaky);
        }
        // Whether it went so and so before is asked of the base, from nothing.
        let base = self.change.base.clone();
        let once_more = self.run("at the base once more", &base, (&[], limit), true)?;
        for it in gone {
            let result = |outcomes: &Outcomes| outcomes.tests.get(&it.name).map(|test| test.result);
            let was = (result(four.before.outcomes()), result(once_more.outcomes()));
            let word = match was {
                (Some(one), Some(two)) if one != two => Word::Flaky,
                _ => Word::MadeFlaky,
            };
            flaky.insert((word, it.name));
        }
        // What went so and so before the change is no proof against it, whichever trial it was red in.
        let was_so = |it: &NamedTest| flaky.contains(&(Word::Flaky, it.name.clone()));
        named.retain(|it| !refuses(it) || !was_so(it));
        Ok(flaky)
    }

    /// Settings that were edited where tests of the head are red under those of the base.
    fn look_at_settings(
        &mut self,
        four: Four,
        depth: Depth,
        limit: u64,
        teller: &Teller,
    ) -> Result<Vec<TrialLine>> {
        let after = &four.after.outcomes;
        let mut edited = self.change.list_edited_settings(&self.recipe)?;
        // By what else the gate's program reads, code is built too, which new tests may need.
        let asks_all = !edited.is_empty();
        edited.extend(self.change.list_read(&self.recipe));
        if edited.is_empty() || after.tests.is_empty() {
            return Ok(Vec::new());
        }
        let mix = Mix {
            settings_alone: true,
            ..Mix::new(End::Head, &self.recipe, depth)
        };
        let commit = self.change.mix(&mix, &self.printed)?;
        if commit == self.change.head {
            return Ok(Vec::new());
        }
        let what = "new tests under the old settings";
        let trial = self.run(what, &commit, (&[], limit), false)?;
        let goes = |outcomes: &Outcomes, name: &str, result| {
            let test = outcomes.tests.get(name);
            test.is_some_and(|test| test.result == result)
        };
        let is_unchanged = |file: &String| self.change.find(file).is_none();
        let asked = after.tests.iter().filter(|(name, test)| {
            asks_all
                || goes(four.before.outcomes(), name, TestResult::Passed)
                || test.file.as_ref().is_some_and(is_unchanged)
        });
        let names = asked.map(|(name, _)| name).filter(|name| {
            goes(after, name, TestResult::Passed)
                && goes(trial.outcomes(), name, TestResult::Failed)
        });
        let red: Vec<String> = names.cloned().collect();
        edited.retain(|_| !red.is_empty());
        let at = (trial.commit.as_str(), trial.command.as_str());
        let lines = edited
            .iter()
            .map(|path| teller.tell_setting(path, &red, at));
        Ok(lines.collect())
    }

    /// Whether tests notice the change of the code.
    fn weigh_notice(
        &self,
        four: Four,
        touched: &[String],
        named: &[NamedTest],
        teller: &Teller,
    ) -> Option<TrialLine> {
        let is_source = |change: &TreeChange| {
            self.concerns(change.path())
                && self.change.side(change, &self.printed) != Side::Test
                && Language::of(change.path(), "") != Language::Other
        };
        if !four.after.run.has_passed() || !self.change.changes.iter().any(is_source) {
            return None;
        }
        let notices = named.iter().any(|it| {
            matches!(
                it.word,
                Word::FailToPass | Word::PassToFail | Word::GateRed | Word::NotComparable
            )
        });
        let results = |outcomes: &Outcomes| {
            let tests = outcomes.tests.iter();
            let results = tests.map(|(name, test)| (name.clone(), test.result));
            results.collect::<BTreeMap<_, _>>()
        };
        match four.new {
            Some(_) if !notices => Some(teller.tell_unnoticed(true)),
            None if touched.is_empty()
                && four.before.has_passed()
                && results(four.before.outcomes()) == results(&four.after.outcomes) =>
            {
                Some(teller.tell_unnoticed(false))
            }
            _ => None,
        }
    }
}

/// The files of the tests that ran, if the runner names every test and its file.
fn list_files(outcomes: &Outcomes) -> Option<BTreeSet<String>> {
    if outcomes.tests.is_empty() || outcomes.is_partial || outcomes.omits_passed {
        return None;
    }
    let files = outcomes.tests.values().map(|test| test.file.clone());
    files
        .chain(outcomes.unloaded.keys().cloned().map(Some))
        .collect()
}

/// Whether these are all files of which tests ran, and this is not among them. A compiled test has another folder and
/// ending than its source.
pub(super) fn leaves_out(files: &Option<BTreeSet<String>>, path: &str) -> bool {
    let is_it = |file: &String| stem(file) == stem(path);
    files.as_ref().is_some_and(|files| !files.iter().any(is_it))
}

/// A gate that says less than it did: it ran no test, or names none.
fn weigh_silence(four: Four, teller: &Teller, named: &[NamedTest]) -> Option<TrialLine> {
    let (before, after) = (four.before.outcomes(), &four.after.outcomes);
    let passed = four.after.run.has_passed();
    let had = before.tests.values();
    let had = had.filter(|test| test.result == TestResult::Passed).count();
    // A runner that named tests that passed at the base leaves none out here.
    if passed && after.tests.is_empty() && !after.is_cut() && had > 0 {
        return Some(teller.tell_silent(had));
    }
    if passed && after.nothing_ran {
        return Some(teller.tell_nothing_ran());
    }
    let is_of_gate = |it: &NamedTest| matches!(it.word, Word::GateRed | Word::RedBefore);
    if passed || named.iter().any(is_of_gate) {
        return None;
    }
    // It is red, and of no test alone; where tests ran and none does any more, it is so of another reason.
    let runs_none = after.tests.is_empty() && !before.tests.is_empty();
    let was_so =
        !four.before.has_passed() && four.before.files.is_none() && !runs_none && !four.is_new;
    Some(teller.tell_red(&four.after.run, was_so))
}

/// A green run of a runner that a hook watched has no red test: a line that says so was printed by a test.
fn without_echoes(mut run: TrialRun) -> TrialRun {
    if run.run.has_passed() && run.outcomes.source == Source::Hook {
        let is_echo = |test: &cook_protocol::trials::Test| {
            test.result == TestResult::Failed && test.line.is_some()
        };
        run.outcomes.tests.retain(|_, test| !is_echo(test));
    }
    run
}

/// Whether what a runner says does not load stands for a path: its target, module or package.
fn stands_for(what: &str, path: &str) -> bool {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let name = stem.rsplit('/').next().unwrap_or(stem);
    let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
    let last = what.rsplit([' ', '(']).next().unwrap_or(what);
    let last = last.trim_matches(['"', ')', '`']);
    path.ends_with(what)
        || what.ends_with(path)
        || what == stem.replace('/', ".")
        || last == name && path.contains("tests/")
        || path.ends_with(".go")
            && !dir.is_empty()
            && (what == dir || what.ends_with(&format!("/{dir}")))
        || path.ends_with(".go") && dir.is_empty() && !what.contains('/')
}
