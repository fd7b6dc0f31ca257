//! Which agents are here: a name on PATH proves nothing, so each program is asked who it
//! is. The answer is kept by path, size and time of change of the program's file.

use super::Preset;
use super::preset::file_failure;
use cook_protocol::diagnostic::{Failure, Lines, clean};
use cook_repo::disk::{self, Durable, Links, NewFile};
use cook_repo::process::{Short, capture, is_program, on_path};
use cook_repo::thread;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// Bytes of the cache, at most.
const MAX_CACHE: u64 = 4 << 20;

/// How long a program may take over saying who it is: some need seconds of a busy machine.
const DEADLINE: Duration = Duration::from_secs(30);
/// Bytes of its answer that are read.
const LIMIT: usize = 256 * 1024;
/// Characters of a failed answer that are shown.
const WORDS: usize = 300;

/// What is known of one agent's program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// The program's file; none when there is none.
    pub path: Option<PathBuf>,
    /// The program is the one that the preset means, as far as it says.
    pub is_it: bool,
    /// Its help leaves out an option of a fork: this version of it knows none.
    pub lacks_fork: bool,
    /// What it says its version is.
    pub version: Option<String>,
    /// What went wrong with asking.
    pub problem: Option<String>,
}

impl Found {
    /// Holds an agent to what this program of it can do.
    pub fn restrict(&self, preset: &mut Preset) {
        if self.lacks_fork {
            preset.table.fork = None;
            preset.table.open = None;
        }
    }
}

/// Asks all programs at once. What is known from an earlier time is read from and kept in
/// `cache`; one that cannot be read is begun anew.
///
/// # Errors
/// When the cache cannot be written.
pub fn find(presets: &[&Preset], dir: &Path, cache: &Path) -> Result<Vec<Found>, Failure> {
    // By agent, path, size and time of change.
    let kept: BTreeMap<String, Found> = disk::read(cache, MAX_CACHE, Links::Refuse)
        .ok()
        .flatten()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let places: Vec<(Option<PathBuf>, String)> =
        presets.iter().map(|preset| place(preset, dir)).collect();
    // One agent plays several roles: its program is asked once.
    let mut wanted: BTreeMap<&str, (&Preset, &Path)> = BTreeMap::new();
    for (preset, (path, key)) in presets.iter().zip(&places) {
        if let (Some(path), None) = (path, kept.get(key)) {
            wanted.insert(key, (preset, path));
        }
    }
    let wanted: Vec<_> = wanted.into_iter().collect();
    let asked = thread::on_each(&wanted, |(_, (preset, path))| ask(preset, path, dir));
    let went_wrong = |preset: &Preset| Found {
        problem: Some(format!("asking `{}` went wrong", preset.bin())),
        ..Found::default()
    };
    let asked = wanted.iter().zip(asked).map(|((key, (preset, _)), found)| {
        let found = found.unwrap_or_else(|_| went_wrong(preset));
        ((*key).to_owned(), found)
    });
    let mut known = kept.clone();
    // Of a program that is another one by now nothing is known.
    known.retain(|key, _| {
        let is_here = places.iter().any(|(_, place)| place == key);
        let name = key.split(' ').next();
        is_here || !presets.iter().any(|preset| name == Some(preset.name()))
    });
    known.extend(asked);
    let found = places.iter().map(|(_, key)| known.get(key).cloned());
    let found = found.map(Option::unwrap_or_default).collect();
    // A program that did not answer is asked again next time.
    known.retain(|_, found| found.problem.is_none());
    if known != kept {
        let fail = |cause| file_failure("write", cache, &cause);
        std::fs::create_dir_all(cache.parent().unwrap_or(Path::new("."))).map_err(fail)?;
        let bytes = serde_json::to_vec(&known).map_err(|error| fail(error.into()))?;
        let file = NewFile::at(cache, Durable::Nothing);
        file.write(&bytes).map_err(fail)?;
    }
    Ok(found)
}

/// The program's file and the key it is known by: the agent's name, then what tells programs and
/// tables apart.
fn place(preset: &Preset, dir: &Path) -> (Option<PathBuf>, String) {
    let path = program_file(preset.bin(), dir);
    let stamp = path.as_ref().and_then(|path| {
        let found = path.metadata().ok()?;
        let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(format!(
            "{} {} {}",
            path.display(),
            found.len(),
            changed.as_nanos()
        ))
    });
    let table = preset.table();
    let options: Vec<&str> = preset.fork_options().collect();
    let table = format!("{:?} {:?} {options:?}", table.identify, table.version);
    let key = format!("{} {} {table}", preset.name(), stamp.unwrap_or_default());
    (path, key)
}

/// The file that a command name stands for.
fn program_file(bin: &str, dir: &Path) -> Option<PathBuf> {
    if bin.contains('/') {
        let path = dir.join(bin);
        return is_program(&path).then_some(path);
    }
    on_path(bin, &std::env::var_os("PATH")?)
}

fn ask(preset: &Preset, path: &Path, dir: &Path) -> Found {
    let table = preset.table();
    let mut found = Found {
        path: Some(path.to_owned()),
        is_it: table.identify.is_none(),
        ..Found::default()
    };
    if let Some(identify) = &table.identify {
        let is_it = |said: &Said| {
            let text = said.text.to_lowercase();
            text.contains(&identify.text.to_lowercase())
        };
        match ask_twice(path, &identify.args, dir, is_it) {
            Ok(said) => {
                found.is_it = is_it(&said);
                let is_help = identify.args.iter().any(|arg| arg == "--help");
                found.lacks_fork = is_help && !names_all(&said.text, preset.fork_options());
            }
            Err(why) => found.problem = Some(why),
        }
    }
    if found.problem.is_none()
        && found.is_it
        && let Some(args) = &table.version
    {
        match ask_twice(path, args, dir, |said| find_version(&said.text).is_some()) {
            Ok(said) => found.version = find_version(&said.text),
            Err(why) => found.problem = Some(why),
        }
    }
    found
}

/// Whether a help text has each of the options as a word.
fn names_all<'a>(help: &str, mut options: impl Iterator<Item = &'a str>) -> bool {
    let words: BTreeSet<&str> = help
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
        .collect();
    options.all(|option| words.contains(option))
}

/// A program that fails says nothing about who it is: it is asked once more, and then its words
/// are what is known. An answer that is `enough` counts, however the program ends after it.
fn ask_twice(
    path: &Path,
    args: &[String],
    dir: &Path,
    enough: impl Fn(&Said) -> bool,
) -> Result<Said, String> {
    let once = || {
        let heard = ask_program(path, args, dir)?;
        match heard.code == Some(0) || enough(&heard) {
            true => Ok(heard),
            false => Err(heard.complain(path, args)),
        }
    };
    once().or_else(|_: String| once())
}

/// What the program says its version is now.
pub fn probe_version(preset: &Preset, dir: &Path) -> Option<String> {
    let path = program_file(preset.bin(), dir)?;
    let args = preset.table().version.as_ref()?;
    find_version(&ask_program(&path, args, dir).ok()?.text)
}

/// What a program answered.
struct Said {
    text: String,
    /// Exit code; none when a signal ended it.
    code: Option<i32>,
}

impl Said {
    /// `gemini --help ended with 52: …`
    fn complain(&self, path: &Path, args: &[String]) -> String {
        let name = path.file_name().unwrap_or(path.as_os_str());
        let how = match self.code {
            Some(code) => format!("ended with {code}"),
            None => "was ended by a signal".to_owned(),
        };
        let words: String = clean(&self.text, Lines::Fold).chars().take(WORDS).collect();
        let words = if words.is_empty() {
            "it said nothing"
        } else {
            &words
        };
        format!(
            "`{} {}` {how}: {words}",
            name.to_string_lossy(),
            args.join(" ")
        )
    }
}

fn ask_program(path: &Path, args: &[String], dir: &Path) -> Result<Said, String> {
    let mut argv = vec![path.as_os_str().to_owned()];
    argv.extend(args.iter().map(OsString::from));
    let captured = capture(&Short {
        argv,
        dir,
        env: vec![
            ("NO_COLOR", OsString::from("1")),
            ("TERM", OsString::from("dumb")),
        ],
        stdin: Vec::new(),
        deadline: DEADLINE,
        limit: LIMIT,
        group: true,
    });
    match captured {
        Ok(said) => Ok(Said {
            text: String::from_utf8_lossy(&said.stdout).into_owned() + &said.stderr,
            code: said.code,
        }),
        Err(error) => Err(error.to_string()),
    }
}

/// The first word that begins with a number and a dot.
fn find_version(text: &str) -> Option<String> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | '/'))
        .map(|word| word.trim_start_matches('v'))
        .find(|word| {
            let digits = word.bytes().take_while(u8::is_ascii_digit).count();
            digits > 0 && word.as_bytes().get(digits) == Some(&b'.')
        })
        .map(|word| {
            word.trim_end_matches('.')
                .chars()
                .take(40)
                .filter(|c| c.is_ascii_graphic())
                .collect()
        })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use cook_protocol::model::Continuation;

    /// A program that notes each question, and fails so many times before it answers.
    #[cfg(unix)]
    fn program(dir: &Path, fails: u32) -> Preset {
        use std::os::unix::fs::PermissionsExt;
        let path = dir.join("agent");
        let text = format!(
            "#!/bin/sh\ncd {}\necho >>asked\n[ $(wc -l <asked) -gt {fails} ] || {{ echo out of quota >&2; exit 52; }}\necho the agent, 1.2.3\n",
            dir.display()
        );
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let table = format!(
            "[agents.one]\nbin = {path:?}\nstart = []\nevents = \"text\"\nidentify = {{ args = [\"--help\"], match = \"The agent\" }}\n"
        );
        let config =
            cook_protocol::model::Config::parse(&table).unwrap_or_else(|why| panic!("{why}"));
        Preset::of("one", &config).unwrap_or_else(|why| panic!("{why}"))
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_asked_once_for_all_its_roles_and_again_when_it_fails() {
        for (fails, questions, is_it) in [(0, 1, true), (1, 2, true), (9, 2, false)] {
            let dir = tempfile::tempdir().unwrap();
            let preset = program(dir.path(), fails);
            let cache = dir.path().join("cache");
            let found = find(&[&preset; 5], dir.path(), &cache).unwrap();
            let asked = std::fs::read_to_string(dir.path().join("asked")).unwrap();
            assert_eq!(asked.lines().count(), questions, "{fails}");
            assert_eq!(found.len(), 5);
            for found in &found {
                assert_eq!(found.is_it, is_it, "{fails}");
                let said = "`agent --help` ended with 52: out of quota";
                assert_eq!(found.problem.as_deref() == Some(said), !is_it, "{found:?}");
            }
            // What is known is not asked again; a failure is.
            find(&[&preset], dir.path(), &cache).unwrap();
            let asked = std::fs::read_to_string(dir.path().join("asked")).unwrap();
            let again = asked.lines().count() - questions;
            assert_eq!(again, if is_it { 0 } else { 2 });
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_program_whose_help_names_no_fork_is_not_asked_for_one() {
        use std::os::unix::fs::PermissionsExt;
        for (identify, help, forks) in [
            ("--help", "--resume ID, --branch, -o FORMAT", true),
            ("--help", "--resume ID, --branches, -o FORMAT", false),
            // It says who it is and no more.
            ("--version", "", true),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("agent");
            std::fs::write(&path, format!("#!/bin/sh\necho 'the agent {help}'\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            let table = format!(
                "[agents.one]\nbin = {path:?}\nstart = []\nevents = \"text\"\nfork = [\"-o\", \"json\", \"--branch\", \"{{session}}\", \"-\"]\ntranscript = {{ variable = \"X\", home = \"x\", under = \"x\" }}\nidentify = {{ args = [{identify:?}], match = \"The agent\" }}\n"
            );
            let config = cook_protocol::model::Config::parse(&table).unwrap();
            let mut preset = Preset::of("one", &config).unwrap();
            let found = find(&[&preset], dir.path(), &dir.path().join("cache")).unwrap();
            assert!(found[0].is_it);
            found[0].restrict(&mut preset);
            let goes_on = preset.continuation();
            assert_eq!(goes_on == Continuation::Native, forks, "{identify} {help}");
        }
    }

    #[test]
    fn versions_as_programs_say_them() {
        for (text, version) in [
            ("2.1.330 (Claude Code)", Some("2.1.330")),
            ("codex-cli 0.169.0", Some("0.169.0")),
            ("GitHub Copilot CLI v1.0.102.\n", Some("1.0.102")),
            ("usage: tool [options]", None),
        ] {
            assert_eq!(find_version(text).as_deref(), version);
        }
    }
}
