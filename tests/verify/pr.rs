//! `cook report --format pr`: what it tells, and how the request is made.

use crate::support::{Repo, Run, run};
use crate::verify::formats::{HOSTILE, is_only_shown};
use crate::verify::job::{make_finished, make_sent_back};
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_finished_job_is_told_with_its_proof_and_its_votes() {
    let repo = make_finished();
    let told = repo.cook(&["report", "--format", "pr"]).ok();
    is_only_shown(&told.out);
    for part in [
        "## Mission\n\n> Extend the library",
        "| ✅ | <code>a</code> | it adds | holds | <code>test:adds</code> |",
        "| <code>b</code> | make b work | done | 1 | <code>",
        "; 0 of 3 votes came out of a session that cook ran\n",
        "## Votes, wave ",
        "| judge-2 | ✅ yes |",
    ] {
        assert!(told.out.contains(part), "{part}\n{}", told.out);
    }
    assert!(!told.out.contains("## What was caught"), "{}", told.out);
    let answer = repo
        .cook(&["report", "--format", "pr", "--json"])
        .ok()
        .json();
    assert_eq!(answer["body"], told.out.as_str());
    assert_eq!(answer["title"], "Extend the library");
    assert_eq!(answer["proven"], true);
}

#[test]
fn what_was_caught_is_told_and_no_word_does_anything() {
    let repo = make_sent_back(HOSTILE, &format!("Do it {HOSTILE}\n\n/close\n@someone"));
    let told = repo.cook(&["report", "--format", "pr"]).ok();
    is_only_shown(&told.out);
    let caught = told.out.split("## What was caught\n").nth(1).unwrap();
    assert!(told.out.starts_with("## What was caught\n"), "{}", told.out);
    assert!(caught.contains("| a review said no | the sum"), "{caught}");
    assert!(caught.contains("the sum is wrong"), "{caught}");
    assert!(
        told.out.contains("❌ is this commit proven done?"),
        "{}",
        told.out
    );
    assert!(told.out.contains("`not_done`"), "{}", told.out);
    for line in told.out.lines() {
        assert!(!line.trim_start().starts_with(['/', '@']), "{line}");
    }
}

/// An audit names what is open, and that is planned work as long as slices wait.
#[test]
fn a_no_that_changes_nothing_is_no_catch() {
    let told = Repo::wave().cook(&["report", "--format", "pr"]).ok().out;
    assert!(!told.contains("## What was caught"), "{told}");
    assert!(told.contains("1 rejection changed nothing: "), "{told}");
}

/// A program that notes its words, copies the body, and answers.
fn forge(repo: &Repo, name: &str, answer: &str, code: i32) {
    let bin = repo.outside();
    let script = format!(
        "#!/bin/sh\nfor word; do printf '%s\\n' \"$word\" >>'{0}/words'; done\n\
         for word; do file=${{word#description=@}}; test -f \"$file\" && cp \"$file\" '{0}/body'; done\n\
         echo '{answer}'; echo 'not logged in' >&2; exit {code}\n",
        bin.display()
    );
    let file = bin.join(name);
    std::fs::write(&file, script).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn create(repo: &Repo, more: &[&str]) -> Run {
    let mut command =
        repo.cook_command(&[&["report", "--format", "pr", "--create", "--yes"], more].concat());
    let bin = repo.outside();
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    run(&mut command, "")
}

#[test]
fn the_request_is_made_by_gh_with_a_file_and_no_shell() {
    let repo = make_finished();
    let read = |name: &str| std::fs::read_to_string(repo.outside().join(name)).unwrap();
    create(&repo, &["--with", "gh"]).fails(3, "forge_absent");
    forge(&repo, "gh", "https://forge.example/pull/1", 0);
    let title = "It's $(touch pwned) `touch pwned`; --draft";
    let made = create(&repo, &["--into", "main", "--title", title]).ok();
    assert_eq!(made.out, "https://forge.example/pull/1\n");
    let words = read("words");
    let words: Vec<&str> = words.lines().collect();
    let title = format!("--title={title}");
    assert_eq!(
        words[..6],
        [
            "pr",
            "create",
            "--head=work",
            &title,
            "--base=main",
            "--body-file"
        ]
    );
    assert_eq!(
        read("body"),
        repo.cook(&["report", "--format", "pr"]).ok().out
    );
    assert!(
        !std::path::Path::new(words[6]).exists(),
        "the body was left there"
    );
    assert_eq!(repo.git(&["status", "--porcelain"]), "");

    forge(&repo, "gh", "", 1);
    create(&repo, &[])
        .fails(3, "forge_refused")
        .says("not logged in");
    // An agent makes no request.
    let mut command = repo.cook_command(&["report", "--format", "pr", "--create", "--yes"]);
    run(command.env("CLAUDECODE", "1"), "").expect_refused("user_only");
}

#[test]
fn the_request_is_made_by_glab_with_a_file_too() {
    let repo = make_finished();
    let read = |name: &str| std::fs::read_to_string(repo.outside().join(name)).unwrap();
    let answer = "{\"web_url\": \"https://forge.example/merge_requests/1\"}";
    forge(&repo, "glab", answer, 0);
    create(&repo, &[]).exits(2).says("--into main");
    let made = create(&repo, &["--into", "main"]).ok();
    assert_eq!(made.out, "https://forge.example/merge_requests/1\n");
    let words = read("words");
    for word in [
        "projects/:fullpath/merge_requests\n",
        "--raw-field\nsource_branch=work\n",
        "--raw-field\ntarget_branch=main\n",
        "--raw-field\ntitle=Extend the library\n",
        "--field\ndescription=@/",
    ] {
        assert!(words.contains(word), "{word}: {words}");
    }
    assert_eq!(
        read("body"),
        repo.cook(&["report", "--format", "pr"]).ok().out
    );
}
