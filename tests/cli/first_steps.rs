//! What somebody meets who knows nothing yet: setting up twice, a plan that comes late, work that is done.

use crate::cli::taken_plans::slices;
use crate::support::Repo;

const LIST: &str = "\
# Tasks <!-- kept by hand -->

<!--
- [ ] no task, for it is commented out
-->
- [ ] write b.txt <!-- see the wiki -->
  <!-- - [ ] no criterion -->
  - [ ] it says b
- [ ] write c.txt
";

fn with_list() -> Repo {
    let repo = Repo::new();
    repo.write("TODO.md", LIST);
    repo.commit("Begin", None);
    repo
}

#[test]
fn a_plan_is_taken_in_after_a_set_up_in_which_nothing_began() {
    let repo = with_list();
    repo.cook(&["init", "--mission", "Ship it", "--skip-gates"])
        .ok()
        .says("`cook init --from 'TODO.md'` imports it");
    let before = repo.fingerprint();
    // A script says whose word it is; a plan that cannot be read changes nothing.
    repo.cook(&["init", "--from", "TODO.md", "--skip-gates"])
        .expect_refused("user_only");
    repo.cook(&["init", "--from", "gone.md", "--as-user"])
        .expect_refused("plan_unknown");
    assert_eq!(repo.fingerprint(), before);
    repo.cook(&["trust", "--gates", "--as-user"]).ok();
    repo.cook(&["init", "--from", "TODO.md", "--skip-gates", "--as-user"])
        .ok()
        .says("the log starts again with the plan")
        .says("took 2 tasks from TODO.md");
    let rows = slices(&repo);
    let goals: Vec<&str> = rows.iter().map(|row| row.1.as_str()).collect();
    assert_eq!(goals, ["write b.txt", "write c.txt"]);
    assert_eq!(rows[0].2, ["it says b"]);
    assert_eq!(repo.document("state.json")["mission_anchor"], "Ship it");
    repo.cook(&["doctor", "fsck"]).ok();
    repo.cook(&["verify", "control-plane"]).ok();
    let log = repo.cook(&["log", "--json"]).ok().json();
    assert_eq!(log["worktrees"][0]["transitions"][0]["seq"], 1);
}

#[test]
fn cook_alone_says_what_is_here_and_what_comes_next() {
    let repo = Repo::new();
    repo.write("Makefile", "test:\n\tsh t.sh\n");
    repo.write("t.sh", "test -e sound\n");
    repo.write("sound", "");
    repo.commit("Begin", None);
    let says = |words: &[&str]| {
        let run = repo.cook(&[]).exits(0);
        words.iter().fold(run, |run, word| run.says(word));
    };
    says(&["`make test`, found in the repository", "was not asked yet"]);
    says(&["next:   cook check --trust-repo"]);
    repo.cook(&["check", "--trust-repo"]).exits(0);
    says(&["every gate is green at", "next:   cook goal"]);
    repo.git(&["rm", "-q", "sound"]);
    repo.commit("Break it", None);
    repo.cook(&["check", "--trust-repo"]).exits(1);
    says(&[
        "false at",
        "as the last `cook check` said",
        "next:   cook gate --clean test --trust-repo; then `cook check`",
    ]);
    repo.cook(&["gate", "--clean", "test", "--trust-repo"])
        .exits(1);
    repo.cook(&["init", "--mission", "Ship it", "--skip-gates"])
        .exits(0);
    says(&["next:   cook next"]);
}

#[test]
fn outside_of_a_repository_cook_names_the_commands_that_most_people_need() {
    let place = crate::support::room();
    let dir = place.path().to_str().unwrap();
    let repo = Repo::new();
    let run = repo.cook(&["-C", dir]).exits(0);
    let run = run.says("cook check").says("cook goal");
    assert!(!run.out.contains("cook plan adopt"), "{}", run.out);
    assert_eq!(run.out, repo.cook(&["help"]).exits(0).out);
    repo.cook(&["help", "--all"]).exits(0).says("attest");
    repo.cook(&["help", "gaol"])
        .exits(2)
        .says("cook help --all");
    let absent = place.path().join("absent");
    let run = repo.cook(&["-C", absent.to_str().unwrap(), "status"]);
    let run = run.fails(3, "not_a_repository").says("No such file");
    assert!(!run.err.contains("git init"), "{}", run.err);
}

/// A program that only an activated environment inside the repository has is named as such, with the way on.
#[cfg(unix)]
#[test]
fn a_program_inside_the_repository_is_left_out_and_that_is_said() {
    let repo = Repo::new();
    repo.write(".gitignore", ".venv/\n");
    repo.write("Makefile", "test:\n\ttrue\n");
    repo.write(
        ".agent/cook.toml",
        "[gates.test]\nrun = \"unheard-of -q\"\n",
    );
    repo.commit("Begin", None);
    repo.write(".venv/pyvenv.cfg", "");
    repo.write(".venv/bin/unheard-of", "#!/bin/sh\n");
    use std::os::unix::fs::PermissionsExt;
    let file = repo.root.join(".venv/bin/unheard-of");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let bin = repo.root.join(".venv/bin");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    repo.extra.borrow_mut().push(("PATH".to_owned(), path));
    repo.cook(&["check", "--trust-repo"])
        .exits(3)
        .says("entries of PATH inside the repository are left out")
        .says("setup = [\"python3 -m venv .venv\", \".venv/bin/pip install unheard-of\"]");
    repo.cook(&["trust", "--tools", "--as-user"])
        .ok()
        .says("left out of PATH, because it is inside the repository");
    repo.cook(&["trust", "--tools", "--as-user"])
        .ok()
        .says("nothing changed");
}
