//! `cook report --format pr`: what it tells, and how the request is made.

use crate::support::{Repo, Run, run};
use crate::verify::job::make_finished;
use std::os::unix::fs::PermissionsExt;

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
