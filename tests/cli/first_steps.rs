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
fn a_plan_that_comes_once_work_began_names_the_command_that_plans_it() {
    let repo = Repo::with_selection();
    repo.write("TO DO.md", LIST);
    let run = repo
        .cook(&["init", "--from", "TO DO.md", "--as-user"])
        .expect_refused("does_not_apply");
    assert!(
        run.err
            .contains("`cook plan refocus --mission 'Do what TO DO.md lists"),
        "{}",
        run.err
    );
}

#[test]
fn a_second_set_up_says_what_it_looked_at_and_what_takes_an_edit_in() {
    let repo = Repo::with_mission("Ship it");
    repo.cook(&["init"]).ok().says("the settings are unchanged");
    let settings = repo.read(".agent/cook.toml");
    repo.write(".agent/cook.toml", format!("{settings}\n# mine\n"));
    let run = repo.cook(&["init"]).ok().says("nothing was recorded");
    assert!(!run.out.contains("nothing to do"), "{}", run.out);
    run.says("`.agent/cook.toml` is different from the user's version")
        .says("cook init --as-user");
    repo.cook(&["init", "--as-user"])
        .ok()
        .says("accepted `.agent/cook.toml` as it is now");
    repo.cook(&["init"]).ok().says("nothing to do");
}

#[test]
fn a_run_of_done_work_needs_no_agent_and_says_what_comes_next() {
    let repo = Repo::with_done();
    for command in [&["run"][..], &["run", "--once"]] {
        repo.cook(command)
            .exits(0)
            .says("the work is done")
            .says("cook plan refocus --mission TEXT");
    }
    repo.cook(&["next"]).exits(0).says("cook verify --strict");
}

#[test]
fn the_log_tells_how_much_it_leaves_out() {
    let repo = Repo::with_selection();
    let all = repo.cook(&["log", "--json"]).ok().json();
    let all = all["worktrees"][0]["transitions"].as_array().unwrap().len();
    let left = all - 1;
    repo.cook(&["log", "-n", "1"])
        .ok()
        .says(&format!("{left} older not shown: `cook log -n {all}`"));
    let run = repo.cook(&["log"]).ok();
    assert!(!run.out.contains("not shown"), "{}", run.out);
}

#[test]
fn one_command_is_named_where_it_is_known() {
    let repo = Repo::with_mission("Ship it");
    for (words, exit) in [(&["run"][..], 2), (&["hooks", "remove", "git"], 2)] {
        let run = repo.cook(words).exits(exit);
        assert!(run.err.contains("next: "), "{}", run.err);
        assert!(!run.err.contains("cook --help"), "{}", run.err);
    }
}

#[test]
fn a_branch_is_quoted_where_a_shell_would_read_its_name() {
    let repo = Repo::new();
    repo.commit("Begin", None);
    repo.git(&["switch", "-qc", "a;b"]);
    repo.cook(&["init", "--mission", "Ship it", "--commit", "--skip-gates"])
        .ok();
    repo.git(&["switch", "-qc", "other"]);
    repo.cook(&["next"]).ok().says("git switch 'a;b'");
}

/// On a terminal, as `script` makes one: what nobody states is asked for, and with `--yes` it is not.
#[test]
#[cfg(target_os = "linux")]
fn a_person_is_asked_for_the_mission_and_may_say_not_to() {
    for (more, is_asked) in [("", true), (" --yes", false)] {
        let repo = Repo::new();
        repo.commit("Begin", None);
        let cook = crate::support::COOK;
        let line = format!("'{cook}' init --skip-gates{more}");
        let mut command = repo.command("script");
        command.args(["-qec", &line, "/dev/null"]);
        let run = crate::support::run(&mut command, "Ship it\n");
        assert_eq!(run.code, 0, "{run:?}");
        let asks = run.out.contains("What should this repository become?");
        assert_eq!(asks, is_asked, "{run:?}");
        let state = repo.document("state.json");
        let is_known = state["mission_anchor"] == "Ship it";
        assert_eq!(is_known, is_asked, "{state:#}");
    }
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

/// No shell runs a gate, which is said where the gate is written, and how to have one.
#[test]
fn a_gate_that_needs_a_shell_is_told_how_before_it_is_trusted() {
    let repo = Repo::set_up();
    repo.write(
        ".agent/cook.toml",
        "[gates]\ne = { run = \"env | sort\" }\n",
    );
    let how = "write `sh -c 'env | sort'`";
    for words in [&["gate"][..], &["trust", "--gates", "--as-user"]] {
        repo.cook(words).fails(3, "config_invalid").says(how);
    }
    repo.cook(&["trust", "env | sort", "--as-user"])
        .exits(2)
        .says(how);
    repo.write(
        ".agent/cook.toml",
        "[gates]\ne = { run = \"sh -c 'env | sort'\" }\n",
    );
    repo.cook(&["trust", "--gates", "--as-user"]).ok();
    repo.cook(&["gate"]).ok().says("green");
}

/// What `cook init` wrote is committed by the command that it names.
#[test]
fn what_init_took_in_or_wrote_is_to_be_committed() {
    let repo = Repo::set_up();
    let settings = repo.read(".agent/cook.toml");
    repo.write(".agent/cook.toml", format!("{settings}\n# ours\n"));
    let started = repo.cook(&["init", "--as-user", "--skip-gates"]).ok();
    started.says("cook init --commit && cook next --prompt");
    repo.cook(&["init", "--commit", "--skip-gates"]).ok();
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

/// Nothing that is not there is looked for on another PATH, and what a run takes does not depend on who holds it.
/// What a word without an option was meant for is said.
#[test]
fn a_word_in_the_wrong_place_is_told_its_option() {
    let repo = Repo::new();
    for (args, hint) in [
        (&["check", "HEAD~1"][..], "cook check --base 'HEAD~1'"),
        (&["init", "do it"], "cook init --mission 'do it'"),
        (&["record", "review", "x.txt"], "did you mean `reviewer`"),
    ] {
        repo.cook(args).exits(2).says(hint);
    }
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

#[test]
fn an_absent_program_is_to_be_installed_and_an_estimate_takes_an_agent() {
    let repo = Repo::set_up();
    repo.write(
        ".agent/cook.toml",
        "[gates]\nn = { run = \"no-such-program\" }\n",
    );
    repo.commit("gates", None);
    repo.trust("no-such-program");
    let run = repo.cook(&["gate"]).exits(1);
    let run = run.says("nor on the present one: install it");
    assert!(!run.out.contains("cook trust --tools"), "{}", run.out);
    let check = repo.cook(&["check"]);
    assert!(
        check.out.contains("install `no-such-program`"),
        "{}",
        check.out
    );
    repo.cook(&["run", "--estimate", "--agent", "claude"])
        .ok()
        .says("in all");
}

#[test]
fn an_unknown_code_names_the_nearest_one() {
    Repo::unborn()
        .cook(&["explain", "Pass-To-Fail"])
        .exits(2)
        .says("did you mean `pass_to_fail`?");
}
