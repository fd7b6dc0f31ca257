//! Tests that were accepted: kept as they were, and laid down on later code.

use super::trial_change::Mix;
use super::trial_change::{Change, End, names_path};
use super::trial_change::{Depth, Recipe};
use cook_mutants::{Language, has_tests};
use cook_protocol::diagnostic::{Code, OrFail, Result};
use cook_protocol::digest::sha256;
use cook_protocol::model::{Caches, Config, GateSpec, TreeEntry};
use cook_protocol::trials::{
    Known, Side, is_set_up, is_test_file, is_whole_setting, shadows_runner, side_of, split_of,
    splits,
};
use cook_repo::git::{Entry, Put, Repo};
use cook_repo::receipt::{Gates, TrialRoom, TrialRun};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a file whose text is kept; a larger one is named by its id alone.
const MAX_KEPT: usize = 1 << 20;

/// Files of all accepted tests: path, mode and object id.
pub(crate) type Accepted = BTreeSet<(String, String, String)>;

/// The test side of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bundle {
    /// By path.
    files: BTreeMap<String, KeptFile>,
    /// Of a goal: the files that its checks name. What belongs to none of these is not held; none = all is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    named: Option<BTreeSet<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptFile {
    /// Octal, as git writes it.
    mode: String,
    /// Object id.
    id: String,
    /// What it holds; none of a file that is no text or too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl Bundle {
    /// Reads the tests of a commit (full id): files of tests, what stands beside them, settings of runners,
    /// files with code and tests, and what the gates call. `printed` are files that runs name, `more` are others.
    pub(crate) fn read(
        repo: &Repo,
        commit: &str,
        config: &Config,
        gates: &[GateSpec],
        printed: &BTreeSet<String>,
        more: &[String],
    ) -> Result<Self> {
        let known = Known {
            paths: config.tests.paths.clone(),
            ..Known::default()
        };
        let text_of = |path: &str| -> Result<Option<String>> {
            Ok(match repo.entry(commit, path)? {
                Entry::File { bytes, .. } if bytes.len() <= MAX_KEPT => {
                    String::from_utf8(bytes).ok()
                }
                _ => None,
            })
        };
        let mut called: Vec<String> = gates.iter().map(|gate| gate.run.clone()).collect();
        let recipes: Vec<Recipe> = gates.iter().map(Recipe::of).collect();
        for recipe in &recipes {
            if let Some(file) = recipe.file() {
                called.extend(text_of(file)?.and_then(|text| recipe.take(&text)));
            }
        }
        let mut files = BTreeMap::new();
        for (path, entry) in repo.files(commit)? {
            let is_test = shadows_runner(&path)
                || side_of(&path, &known, printed.contains(&path)) == Side::Test;
            let is_called = called.iter().any(|text| names_path(text, &path));
            let is_part =
                recipes.iter().any(|recipe| recipe.needs(&path)) || split_of(&path).is_some();
            let is_more = more.contains(&path);
            if !(is_test || is_called || is_part || is_more || splits(&path)) {
                continue;
            }
            let text = text_of(&path)?;
            let is_kept = is_test
                || is_part
                || is_more
                || text.as_deref().is_some_and(|text| {
                    has_tests(&path, text)
                        || is_called && Language::of(&path, text) == Language::Shell
                });
            if is_kept {
                let (mode, id) = (entry.mode, entry.id);
                files.insert(path, KeptFile { mode, id, text });
            }
        }
        Ok(Self { files, named: None })
    }

    /// Freezes what commands name at a commit (full id): tests and scripts by the names of their files or of a
    /// directory above, the set-up and the settings that belong to these, what a recipe calls, and `more` files.
    pub(crate) fn freeze(
        repo: &Repo,
        commit: &str,
        config: &Config,
        gates: &[GateSpec],
        more: &[String],
    ) -> Result<Self> {
        let mut bundle = Self::read(repo, commit, config, gates, &BTreeSet::new(), more)?;
        let words: Vec<String> = gates
            .iter()
            .flat_map(|gate| list_paths(&gate.run))
            .collect();
        let is_named = |path: &&String| {
            words.contains(path)
                || more.contains(path)
                || is_test_file(path) && words.iter().any(|word| is_at_or_below(path, word))
        };
        let named: BTreeSet<String> = bundle.files.keys().filter(is_named).cloned().collect();
        let recipes: Vec<Recipe> = gates.iter().map(Recipe::of).collect();
        let is_recipe = |path: &str| recipes.iter().any(|recipe| recipe.needs(path));
        let is_held = |path: &String| is_recipe(path) || belongs_to(&named, path);
        bundle.files.retain(|path, _| is_held(path));
        bundle.named = Some(named);
        Ok(bundle)
    }

    /// The files that its commands name, of a goal.
    pub(crate) fn list_named(&self) -> Vec<String> {
        self.named.iter().flatten().cloned().collect()
    }

    /// It holds something that a gate's command names or calls.
    pub(crate) fn holds_of(&self, gate: &GateSpec) -> bool {
        let (words, recipe) = (list_paths(&gate.run), Recipe::of(gate));
        let is_named = |path: &str| words.iter().any(|word| is_at_or_below(path, word));
        let mut files = self.files.keys();
        files.any(|path| is_named(path) || recipe.needs(path))
    }

    /// It holds this path, or what stands there.
    pub(crate) fn holds(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// A file that is held as it was, on whichever side of a trial it stands.
    fn is_whole(&self, path: &str, kept: &KeptFile) -> bool {
        let holds_tests = || kept.text.as_ref().is_some_and(|text| has_tests(path, text));
        let is_split =
            split_of(path).is_some() || splits(path) && !is_test_file(path) && holds_tests();
        !is_split
            && self
                .named
                .as_ref()
                .is_some_and(|named| named.contains(path))
    }

    /// Its bytes, as the log keeps them.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self).or_fail(Code::LogUnreadable, "tests that are kept")
    }

    /// The digest of its bytes.
    pub(crate) fn id(&self) -> Result<String> {
        Ok(sha256(self.to_bytes()?))
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes).or_fail(Code::LogUnreadable, "tests that are kept")
    }

    pub(crate) fn list_files(&self) -> impl Iterator<Item = (String, String, String)> {
        let files = self.files.iter();
        files.map(|(path, file)| (path.clone(), file.mode.clone(), file.id.clone()))
    }

    /// Whether a commit has a test's file as it was, and every helper, set-up, setting and data file; and no new one of
    /// these in its directory and above, but for those that `others` hold. All tests where its file is not known.
    pub(crate) fn is_as_at(&self, now: &TestSide, file: Option<&str>, others: &Accepted) -> bool {
        let is_own = |path: &str| file.is_none_or(|file| path == file) || !is_test_file(path);
        let mut kept = self.files.iter().filter(|(path, _)| is_own(path));
        let same = kept.all(|(path, kept)| {
            let entry = now.files.get(path);
            entry.is_some_and(|entry| entry.id == kept.id && entry.mode == kept.mode)
        });
        let is_new = |(path, sets_up): (&String, &bool)| {
            !self.files.contains_key(path)
                && (*sets_up || !is_among(others, path, &now.files[path]))
                && is_own(path)
                && file.is_none_or(|file| path == file || is_beside_or_above(path, file))
        };
        same && !now.tests.iter().any(is_new)
    }
}

/// What of a commit is tests, by the names of its paths.
pub(crate) struct TestSide {
    files: BTreeMap<String, TreeEntry>,
    /// The tests and what they need; true for set-up and settings.
    tests: BTreeMap<String, bool>,
}

impl TestSide {
    /// Of a commit (full id).
    pub(crate) fn read(repo: &Repo, commit: &str) -> Result<Self> {
        let files = repo.files(commit)?;
        let known = Known::default();
        let is_test =
            |path: &str| shadows_runner(path) || side_of(path, &known, false) == Side::Test;
        let tests = files.keys().filter(|path| is_test(path));
        let tests = tests.map(|path| (path.clone(), sets_up(path))).collect();
        Ok(Self { files, tests })
    }
}

/// A path stands in the directory of a file, or in one above it; settings count wherever they stand.
fn is_beside_or_above(path: &str, file: &str) -> bool {
    let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
    is_whole_setting(path)
        || dir.is_empty()
        || file
            .strip_prefix(dir)
            .is_some_and(|rest| rest.starts_with('/'))
}

fn is_at_or_below(path: &str, place: &str) -> bool {
    if place == "." {
        return true;
    }
    let rest = path.strip_prefix(place);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Another accepted test brought it, so that all are laid down together. No set-up and no settings: these may turn what
/// a test says.
fn is_joined(others: &Accepted, path: &str, entry: &TreeEntry) -> bool {
    is_among(others, path, entry) && !sets_up(path)
}

fn is_among(others: &Accepted, path: &str, entry: &TreeEntry) -> bool {
    let TreeEntry { mode, id } = entry.clone();
    others.contains(&(path.to_owned(), mode, id))
}

fn sets_up(path: &str) -> bool {
    is_set_up(path) || is_whole_setting(path) || shadows_runner(path)
}

/// It is one of these files, set-up that stands beside or above one, or steers the runner.
fn belongs_to(named: &BTreeSet<String>, path: &str) -> bool {
    named.contains(path)
        || is_whole_setting(path)
        || shadows_runner(path)
        || !is_test_file(path) && named.iter().any(|file| is_beside_or_above(path, file))
}

/// The paths that a command may name, as the repository writes them; of `a.b.C`, and of each name beside `-m`, those of
/// the modules that it may be.
pub(crate) fn list_paths(command: &str) -> Vec<String> {
    let words = cook_repo::receipt::words(command).unwrap_or_default();
    // A word may be a path with blanks, or a command of its own.
    let parts = words.iter().flat_map(|word| {
        let plain = word.split_whitespace().map(str::to_owned);
        let inner = shell_words::split(word).unwrap_or_else(|_| plain.collect());
        std::iter::once(word.clone()).chain(inner)
    });
    let paths = parts.map(|word| {
        let word = word.split("::").next().unwrap_or(&word);
        let word = word.trim_matches(|c| matches!(c, '"' | '\''));
        let word = word.strip_suffix("/...").unwrap_or(word);
        word.trim_start_matches("./")
            .trim_end_matches('/')
            .to_owned()
    });
    let paths: Vec<String> = paths.filter(|path| !path.is_empty()).collect();
    let runs_modules = paths.iter().any(|path| path == "-m");
    let is_module = |path: &&String| (runs_modules || path.contains('.')) && !path.contains('/');
    let modules = paths.iter().filter(is_module).flat_map(|path| {
        let ends = path.match_indices('.').map(|(end, _)| end);
        let ends = ends.chain([path.len()]);
        ends.map(|end| format!("{}.py", path[..end].replace('.', "/")))
    });
    let modules: Vec<String> = modules.collect();
    paths.into_iter().chain(modules).collect()
}

/// The made commit that holds a commit's code with the tests of a bundle, and what other accepted tests brought since,
/// as far as the commit has it unchanged.
pub(crate) fn lay_down(
    repo: &Repo,
    config: &Config,
    gate: &GateSpec,
    (bundle, head): (&Bundle, &str),
    others: &Accepted,
    printed: &BTreeSet<String>,
) -> Result<String> {
    let mut puts = BTreeMap::new();
    for (path, kept) in &bundle.files {
        let entry = TreeEntry {
            mode: kept.mode.clone(),
            id: kept.id.clone(),
        };
        let put = match &kept.text {
            Some(text) if repo.blob(&kept.id)?.is_none() => Put::Text {
                mode: kept.mode.clone(),
                text: text.clone(),
            },
            _ => Put::Entry(entry),
        };
        puts.insert(path.clone(), put);
    }
    let known = Known {
        paths: config.tests.paths.clone(),
        ..Known::default()
    };
    let (recipe, asked) = (Recipe::of(gate), list_paths(&gate.run));
    for path in repo.files(head)?.into_keys() {
        let is_test = shadows_runner(&path)
            || recipe.steers(&path)
            || side_of(&path, &known, printed.contains(&path)) == Side::Test;
        // With their helpers new tests go as well, but for those that the command names.
        let counts = |named: &BTreeSet<String>| {
            let is_beside = named.iter().any(|file| is_beside_or_above(&path, file));
            recipe.steers(&path) || belongs_to(named, &path) || is_beside && !asked.contains(&path)
        };
        if is_test && !bundle.files.contains_key(&path) && bundle.named.as_ref().is_none_or(counts)
        {
            puts.insert(path, Put::Nothing);
        }
    }
    let then = repo.make_mixed(head, &puts)?;
    if then == head {
        return Ok(then);
    }
    let paths = &config.tests.paths;
    let change = Change::read(repo, &then, head, paths, std::slice::from_ref(gate))?;
    let mixed = mix(&change, gate, End::Head, printed)?;
    // A file that one of the bundle's was renamed to is no new one.
    let came = change.list_added();
    // A test that HEAD's code uses by now stays what it was; of a file with code in it the tests alone.
    puts.retain(|path, _| {
        bundle.files.get(path).is_some_and(|kept| {
            let is_mixed =
                split_of(path).is_some() || splits(path) || recipe.file() == Some(path.as_str());
            // It may be code that tests of other files need.
            let is_code = || {
                bundle.named.is_none()
                    && !asked.contains(path)
                    && !change.is_named(path)
                    && side_of(path, &known, false) == Side::Code
                    && change
                        .find_either(path)
                        .is_some_and(|it| change.side(it, printed) != Side::Test)
            };
            !(is_mixed || is_code()) || bundle.is_whole(path, kept)
        })
    });
    let joined = came.filter(|(path, entry)| is_joined(others, path, entry));
    puts.extend(joined.map(|(path, entry)| (path.clone(), Put::Entry(entry.clone()))));
    repo.make_mixed(&mixed, &puts)
}

/// What the tests of `head` say of the code of `base`.
pub(crate) fn try_new_tests(
    gates: &Gates,
    config: &Config,
    gate: &GateSpec,
    (base, head): (&str, &str),
    printed: &BTreeSet<String>,
) -> Result<TrialRun> {
    let paths = &config.tests.paths;
    let change = Change::read(gates.repo, base, head, paths, std::slice::from_ref(gate))?;
    let commit = mix(&change, gate, End::Base, printed)?;
    run_at(gates, &commit, gate)
}

fn mix(change: &Change, gate: &GateSpec, code: End, printed: &BTreeSet<String>) -> Result<String> {
    let recipe = Recipe::of(gate);
    let mix = Mix::new(code, &recipe, Depth::All);
    change.mix(&mix, printed)
}

/// A gate at a commit, answered from a receipt where there is one.
pub(crate) fn run_at(gates: &Gates, commit: &str, gate: &GateSpec) -> Result<TrialRun> {
    TrialRoom::new(gates, Caches::Kept).run(commit, gate, None)
}
