//! What somebody puts in the place of a file that cook reads: a FIFO, a device, a link, too much.

use crate::hostile::{SECRET, call, commands, each, is_whole};
use crate::support::{Repo, run_alone};
use nix::sys::stat::{Mode, SFlag, makedev, mknod};
use nix::unistd::mkfifo;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// Deeper than a stack would bear that grows with each level.
const LEVELS: usize = 100_000;
/// Larger than anybody's memory for this; the file holds nothing.
const HUGE: u64 = 10 << 30;

/// What stands there instead.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Thing {
    Fifo,
    Device,
    Socket,
    Directory,
    /// A link to itself.
    Loop,
    /// A link to a file outside that nobody may show or change.
    Outside,
    /// A link to a FIFO outside.
    OutsideFifo,
    Huge,
    Deep,
}

const ALL: [Thing; 9] = [
    Thing::Fifo,
    Thing::Device,
    Thing::Socket,
    Thing::Directory,
    Thing::Loop,
    Thing::Outside,
    Thing::OutsideFifo,
    Thing::Huge,
    Thing::Deep,
];

/// Files of `.agent/`, and what git and cook read beside it, from the root.
fn places(repo: &Repo) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = [
        ".agent/cook.toml",
        ".gitignore",
        ".gitattributes",
        ".gitmodules",
        ".git/info/exclude",
        ".git/info/attributes",
        ".git/info/grafts",
        ".git/packed-refs",
        ".git/shallow",
        ".git/commondir",
        ".git/config.worktree",
        ".git/objects/info/alternates",
        ".git/refs/heads/main",
        ".git/refs/heads/other",
        ".git/refs/tags/other",
        ".git/logs/HEAD",
        ".git/cook/log.git/HEAD",
        ".git/cook/log.git/config",
        ".git/cook/log.git/packed-refs",
        ".git/cook/log.git/refs/heads/other",
        ".git/cook/log.git/refs/displaced/other",
        ".git/cook/log.git/objects/info/alternates",
        // Found when git has not answered for a while.
        "new/.gitignore",
    ]
    .map(PathBuf::from)
    .to_vec();
    for dir in [
        ".agent",
        ".git/cook",
        ".git/cook/receipts",
        ".git/cook/receipts/index",
        ".git/cook/outputs",
        ".git/cook/log.git/refs/heads",
        ".git",
    ] {
        let Ok(entries) = fs::read_dir(repo.root.join(dir)) else {
            continue;
        };
        places.extend(entries.map(|entry| Path::new(dir).join(entry.unwrap().file_name())));
    }
    places.retain(|place| !repo.root.join(place).is_dir());
    places.sort();
    places.dedup();
    places
}

/// Puts it there; false where this user cannot.
fn put(repo: &Repo, place: &Path, thing: Thing) -> bool {
    let _ = fs::remove_file(place);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    let outside = repo.outside();
    match thing {
        Thing::Fifo => mkfifo(place, Mode::S_IRWXU).unwrap(),
        Thing::Device => {
            let zero = makedev(1, 5);
            let made = mknod(place, SFlag::S_IFCHR, Mode::S_IRWXU, zero);
            if made.is_err() {
                symlink("/dev/zero", place).unwrap();
            }
        }
        // Its name may be too long for a socket.
        Thing::Socket => return UnixListener::bind(place).is_ok(),
        Thing::Directory => fs::create_dir(place).unwrap(),
        Thing::Loop => symlink(place, place).unwrap(),
        Thing::Outside => symlink(outside.join("secret"), place).unwrap(),
        Thing::OutsideFifo => symlink(outside.join("fifo"), place).unwrap(),
        Thing::Huge => File::create(place).unwrap().set_len(HUGE).unwrap(),
        Thing::Deep => fs::write(place, deep(place)).unwrap(),
    }
    true
}

/// Values in values.
fn deep(place: &Path) -> String {
    match place.extension().is_some_and(|end| end == "toml") {
        true => format!("a = {}{}\n", "[".repeat(LEVELS), "]".repeat(LEVELS)),
        false => format!("{}{}\n", "[".repeat(LEVELS), "]".repeat(LEVELS)),
    }
}

/// What is wrong with how the commands take it.
fn try_calls(place: &Path, thing: Thing, calls: &[&[&str]]) -> Vec<String> {
    let mut wrong = Vec::new();
    let repo = Repo::with_commit();
    let outside = repo.outside();
    let secret = format!("{SECRET}\n");
    fs::write(outside.join("secret"), &secret).unwrap();
    mkfifo(&outside.join("fifo"), Mode::S_IRWXU).unwrap();
    let place_there = repo.root.join(place);
    if !put(&repo, &place_there, thing) {
        return wrong;
    }
    for words in calls {
        let how = format!("{thing:?} at {}: {words:?}", place.display());
        match call(&repo, words) {
            None => wrong.push(format!("{how} takes too long")),
            Some(run) => {
                if run.out.contains(SECRET) || run.err.contains(SECRET) {
                    wrong.push(format!("{how} shows what lies outside"));
                }
                if run.code < 0 || run.code > 100 {
                    wrong.push(format!("{how} ends with {}: {}", run.code, run.err));
                }
            }
        }
    }
    if fs::read_to_string(outside.join("secret")).ok().as_deref() != Some(&secret) {
        wrong.push(format!(
            "{thing:?} at {}: what lies outside is changed",
            place.display()
        ));
    }
    let left = fs::read_dir(&outside).unwrap().count();
    if left != 2 {
        wrong.push(format!(
            "{thing:?} at {}: something is new outside",
            place.display()
        ));
    }
    wrong
}

#[test]
fn no_command_waits_for_or_shows_what_is_not_its_file() {
    let whole = is_whole();
    let places = places(&Repo::with_commit());
    let mut tries = Vec::new();
    // libgit2 waits for a FIFO there (`objects.rs`).
    let waits = |place: &Path| {
        ["refs/", "logs/"]
            .iter()
            .any(|dir| place.to_string_lossy().contains(dir))
            || place.starts_with(".git/cook/log.git")
    };
    for (number, place) in places.iter().enumerate() {
        // Every command where much is read, the first ones at each place.
        let is_read = [
            ".agent/cook.toml",
            ".agent/state.json",
            ".git/cook/trust.json",
        ];
        let is_read = is_read.iter().any(|read| place == Path::new(read));
        for (which, thing) in ALL.into_iter().enumerate() {
            let calls = match (whole || is_read && thing == Thing::Fifo, is_read) {
                (true, _) => commands::all(),
                (_, true) => &commands::all()[..commands::FEW],
                _ => commands::FIRST,
            };
            if waits(place) && matches!(thing, Thing::Fifo | Thing::OutsideFifo | Thing::Device) {
                continue;
            }
            if whole || is_read || thing == Thing::Fifo || (number + which) % 24 == 0 {
                tries.push((place.clone(), thing, calls));
            }
        }
    }
    let wrong = each(&tries, |(place, thing, calls)| {
        try_calls(place, *thing, calls)
    });
    println!("{} places, {} tries", places.len(), tries.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn directories_in_directories_are_borne() {
    // git's own look at a worktree takes seconds at 5,000.
    let depth = if is_whole() { 5_000 } else { 300 };
    let repo = Repo::with_commit();
    for top in [
        "deep",
        ".agent/deep",
        ".git/refs/heads/deep",
        ".git/cook/deep",
    ] {
        // No shell: it would spell the whole path at each step.
        let script = format!(
            "mkdir '{top}' or die; chdir '{top}'; for (1 .. {depth}) {{ mkdir 'd' or die; chdir 'd' or die }}"
        );
        run_alone(repo.command("perl").args(["-e", &script])).ok();
    }
    let mut wrong = Vec::new();
    for words in commands::all() {
        match call(&repo, words) {
            Some(run) if (0..=100).contains(&run.code) => {}
            Some(run) => wrong.push(format!("{words:?} ends with {}: {}", run.code, run.err)),
            None => wrong.push(format!("{words:?} takes too long")),
        }
    }
    // What holds the test's directory cannot remove so deep a one.
    run_alone(repo.command("rm").args(["-rf", "deep", ".agent", ".git"])).ok();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is trusted runs, and what it says is kept; in a directory that leads out it would land there.
#[test]
fn nothing_is_written_through_a_directory_that_leads_out() {
    let begin = || {
        let repo = Repo::with_commit();
        repo.write(".agent/cook.toml", "[gates.test]\nrun = \"echo well\"\n");
        repo.commit("Name a gate", None);
        repo.trust("echo well");
        repo.cook(&["gate"]).ok();
        repo
    };
    let mut dirs = vec![".git/info".to_owned()];
    for entry in fs::read_dir(begin().root.join(".git/cook")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            dirs.push(format!(".git/cook/{}", entry.file_name().display()));
        }
    }
    assert!(dirs.len() > 3, "{dirs:?}");
    let wrong = each(&dirs, |dir| {
        let repo = begin();
        let out = repo.beside("out");
        fs::create_dir(&out).unwrap();
        let place = repo.root.join(dir);
        fs::remove_dir_all(&place).unwrap();
        symlink(&out, &place).unwrap();
        let mut wrong = Vec::new();
        for words in [
            &["gate"][..],
            &["gate", "--clean", "--fresh"],
            &["brief", "checkpoint", "DONE: x; NEXT: y"],
            &["hooks", "install", "claude"],
            &["brief", "say", "x", "--as-user"],
            &["pause", "--as-user"],
        ] {
            if call(&repo, words).is_none() {
                wrong.push(format!("{dir}: {words:?} takes too long"));
            }
            if fs::read_dir(&out).unwrap().next().is_some() {
                wrong.push(format!("{dir}: {words:?} writes where it leads"));
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// git says lines that it does not understand.
#[test]
fn no_line_of_a_file_outside_is_shown() {
    let whole = is_whole();
    for (number, place) in [
        ".git/shallow",
        ".git/packed-refs",
        ".agent/plan.json",
        ".git/cook/trust.json",
    ]
    .into_iter()
    .enumerate()
    {
        // Every command at one of them, each fourth at the others.
        let step = if whole || number == 0 { 1 } else { 4 };
        let tried = commands::all().iter().skip(number).step_by(step);
        let repo = Repo::with_commit();
        let secret = repo.outside().join("secret");
        fs::write(&secret, format!("{{\"{SECRET}\": 1}}\n")).unwrap();
        let path = repo.root.join(place);
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(&secret, &path).unwrap();
        for words in tried {
            let Some(run) = call(&repo, words) else {
                continue;
            };
            let said = run.out + &run.err;
            assert!(!said.contains(SECRET), "{place}: {words:?}: {said}");
        }
    }
}
