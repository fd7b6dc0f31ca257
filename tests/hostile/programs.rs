//! Programs that a repository names: none is started.

use crate::hostile::{call, commands};
use crate::support::{Repo, run_alone};
use std::fs;
use std::path::Path;

/// A program that leaves a trace when it is started, and passes on what it reads.
fn trap(repo: &Repo) -> (String, std::path::PathBuf) {
    let (program, trace) = (repo.beside("trap"), repo.beside("trace"));
    let script = format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", trace.display());
    fs::write(&program, script).unwrap();
    run_alone(repo.command("chmod").arg("755").arg(&program)).ok();
    (program.display().to_string(), trace)
}

/// Settings that name a program.
const SETTINGS: [&str; 28] = [
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.sshCommand",
    "core.gitProxy",
    "core.askPass",
    "core.alternateRefsCommand",
    "sequence.editor",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.two.process",
    "merge.evil.driver",
    "gpg.program",
    "gpg.ssh.program",
    "credential.helper",
    "interactive.diffFilter",
    "pager.status",
    "pager.log",
    "pager.config",
    "alias.status",
    "alias.log",
    "uploadpack.packObjectsHook",
    "remote.origin.uploadpack",
    "trailer.x.command",
    "notify.command",
];

fn plant(repo: &Repo, dir: &Path, program: &str) {
    let git_dir = repo.git(&[
        "-C",
        dir.to_str().unwrap(),
        "rev-parse",
        "--absolute-git-dir",
    ]);
    let git_dir = Path::new(&git_dir);
    for hook in [
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "pre-commit",
        "pre-auto-gc",
        "fsmonitor-watchman",
    ] {
        fs::create_dir_all(git_dir.join("hooks")).unwrap();
        fs::copy(program, git_dir.join("hooks").join(hook)).unwrap();
    }
    for setting in SETTINGS {
        repo.git(&["-C", dir.to_str().unwrap(), "config", setting, program]);
    }
    // The same by a file that is included, and by one that counts for this worktree alone.
    let included = git_dir.join("included");
    let text = format!("[filter \"three\"]\n\tclean = {program}\n");
    fs::write(&included, text).unwrap();
    repo.git(&[
        "-C",
        dir.to_str().unwrap(),
        "config",
        "include.path",
        "included",
    ]);
}

#[test]
fn nothing_that_a_repository_names_is_started() {
    let repo = Repo::with_commit();
    let (program, trace) = trap(&repo);
    repo.write("a.two", "a\n");
    repo.write("a.three", "a\n");
    repo.write(
        ".gitattributes",
        "* filter=evil diff=evil merge=evil\n*.two filter=two\n*.three filter=three\n",
    );
    let inner = repo.root.join("inner");
    repo.git(&["init", "-q", "inner"]);
    repo.write("inner/a.txt", "a\n");
    repo.write("inner/.gitattributes", "* filter=evil\n");
    let inside = inner.to_str().unwrap();
    repo.git(&["-C", inside, "add", "-A"]);
    repo.git(&["-C", inside, "commit", "-q", "-m", "begin"]);
    // What a `cook.toml` and the scripts beside it name; a setting of one of them is a setting of the contract.
    for name in [
        "verify_completion_stop.sh",
        "verify_completion_control_plane.sh",
    ] {
        repo.write(&format!(".agent/{name}"), format!("exec {program}\n"));
    }
    let settings = repo.read(".agent/cook.toml");
    let agents = format!(
        "{settings}\n[gates.evil]\nrun = {program:?}\n[clean_room]\nsetup = {program:?}\n[notify]\ncommand = [{program:?}]\n\
         [roles.default]\nagent = \"evil\"\n[agents.evil]\nbin = {program:?}\nstart = []\nevents = \"text\"\n"
    );
    repo.write(".agent/cook.toml", agents);
    hostile_submodules(&repo, &program);
    repo.commit("Take all in", None);
    plant(&repo, &inner, &program);
    plant(&repo, &repo.root, &program);
    for file in ["README.md", "test.sh", "a.two", "a.three", "inner/a.txt"] {
        // git must look inside: size and content stay, the times do not.
        let text = repo.read(file);
        repo.write(file, &text);
    }
    for words in commands::all() {
        let run = call(&repo, words);
        assert!(run.is_some(), "{words:?} takes too long");
        let traced = fs::read_to_string(&trace).unwrap_or_default();
        assert!(traced.is_empty(), "{words:?}: {traced}");
    }
    // The trap works: git itself walks into it.
    run_alone(repo.command("git").arg("status"));
    assert!(trace.exists());
}

/// Submodules whose names, paths and addresses are what git was once led astray by.
fn hostile_submodules(repo: &Repo, program: &str) {
    let mut text = String::new();
    for (number, (name, path, url)) in [
        ("../../outside", "up", "x"),
        ("ext", "ext", &*format!("ext::{program}")),
        (
            "--upload-pack",
            "-dash",
            &*format!("--upload-pack={program}"),
        ),
        ("a/../../b", "../../outside", "x"),
        ("update", "update", "x"),
    ]
    .into_iter()
    .enumerate()
    {
        text += &format!(
            "[submodule \"{name}\"]\n\tpath = {path}\n\turl = {url}\n\tupdate = !{program}\n\tignore = none\n"
        );
        let entry = format!("160000,{},sub-{number}", repo.head());
        repo.git(&["update-index", "--add", "--cacheinfo", &entry]);
    }
    repo.write(".gitmodules", text);
}

/// A partial clone asks its remote for what it left there: never unasked, and never by a program that the
/// address names. `push` and `pull` are asked to reach that remote, by git and with its settings.
#[test]
fn a_partial_clone_asks_no_program() {
    let repo = Repo::with_commit();
    let (program, trace) = trap(&repo);
    for (name, value) in [
        ("extensions.partialClone", "evil"),
        ("remote.evil.promisor", "true"),
        ("remote.evil.url", &*format!("ext::{program}")),
        ("remote.evil.uploadpack", &*program),
        ("remote.evil.vcs", "evil"),
        ("protocol.allow", "always"),
        ("core.sshCommand", &*program),
    ] {
        repo.git(&["config", name, value]);
    }
    let id = repo.git(&["rev-parse", "HEAD:a.txt"]);
    let object = format!(".git/objects/{}/{}", &id[..2], &id[2..]);
    fs::remove_file(repo.root.join(object)).unwrap();
    let reaches_the_remote = |words: &&&[&str]| matches!(words[0], "push" | "pull");
    for words in commands::all()
        .iter()
        .filter(|words| !reaches_the_remote(words))
    {
        assert!(call(&repo, words).is_some(), "{words:?} takes too long");
        let traced = fs::read_to_string(&trace).unwrap_or_default();
        assert!(traced.is_empty(), "{words:?}: {traced}");
    }
}

#[test]
fn settings_lead_to_no_other_worktree() {
    let repo = Repo::with_commit();
    let outside = repo.outside();
    fs::write(outside.join("secret"), "x").unwrap();
    repo.git(&["config", "core.worktree", outside.to_str().unwrap()]);
    for command in &commands::all()[..commands::FEW] {
        repo.cook(command).exits(3).says("core.worktree");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

/// A commit can hold a git directory of any name but `.git`, and a clone brings it with its settings.
#[test]
fn a_git_directory_among_the_files_leads_nowhere() {
    let repo = Repo::with_commit();
    let (program, trace) = trap(&repo);
    let outside = repo.outside();
    repo.git(&["init", "-q", "--bare", "x"]);
    repo.write("x/sub/a.txt", "a\n");
    for (worktree, dir) in [("sub", "x"), (outside.to_str().unwrap(), "x/sub")] {
        for (name, value) in [
            ("core.bare", "false"),
            ("core.worktree", worktree),
            ("remote.origin.url", "/nowhere"),
            ("remote.origin.uploadpack", &program),
            ("remote.origin.receivepack", &program),
        ] {
            repo.git(&["config", "--file", "x/config", name, value]);
        }
        for words in [
            &["init", "--mission", "m"][..],
            &["verify", "--from", "origin"],
            &["run", "--once", "--from", "origin"],
            &["pull"],
            &["push"],
        ] {
            let words = [&["-C", dir], words].concat();
            repo.cook(&words).fails(3, "bare_repository");
        }
        for words in commands::all() {
            let words = [&["-C", dir], *words].concat();
            assert!(call(&repo, &words).is_some(), "{words:?} takes too long");
            let traced = fs::read_to_string(&trace).unwrap_or_default();
            assert!(traced.is_empty(), "{words:?}: {traced}");
        }
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }
}

/// An archive brings its git directory with it, and with it what its maker trusted.
#[test]
fn what_another_user_trusted_is_nobody_s_word() {
    let repo = Repo::with_commit();
    let (program, trace) = trap(&repo);
    repo.write(
        ".agent/cook.toml",
        format!("[gates.evil]\nrun = {program:?}\n"),
    );
    repo.commit("Name a gate", None);
    repo.trust(&program);
    repo.cook(&["trust", "--tools", "--as-user"]).ok();
    // The victim: the same bytes, another home.
    let home = repo.beside("another");
    fs::create_dir(&home).unwrap();
    let theirs = |words: &[&str]| {
        let mut command = repo.cook_command(words);
        command.env("HOME", &home);
        crate::support::run(command, b"")
    };
    for words in [
        &["gate"][..],
        &["gate", "--clean", "--fresh"],
        &["verify", "--rerun"],
    ] {
        let run = theirs(words);
        assert_ne!(run.code, 0, "{words:?}: {}", run.out);
        assert!(!trace.exists(), "{words:?}");
    }
    assert!(theirs(&["doctor"]).out.contains("[trust_foreign]"));
    // A list that was changed without the user's key counts as little.
    let list = repo.read(".git/cook/trust.json");
    repo.write(
        ".git/cook/trust.json",
        list.replacen("\"commands\": [", "\"commands\": [\"true\",", 1),
    );
    assert_ne!(repo.cook(&["gate"]).code, 0);
    assert!(!trace.exists());
    theirs(&["trust", &program, "--as-user"]).ok();
    theirs(&["gate"]);
    assert!(trace.exists());
}
