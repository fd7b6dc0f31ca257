//! Sessions that cook holds for a goal: an implementer's report is a stop like any other.

use crate::goal::{SOUND, mend, repo, set, state, with_goal};
use crate::support::Repo;
use crate::support::agents::{add_sandbox_setting, has_sandbox};

/// The report of an implementer.
fn report(head: &str) -> String {
    format!(
        "MISSION ANCHOR: slugs are lower case\nRemaining contract IDs before slice: none\nSlice ID: goal\n\
         Slice goal: slugs are lower case\nContract IDs closed or advanced: none\nFiles changed: as committed\n\
         Tests added or strengthened: none\nVerification commands run: none\n\
         Verification results: as committed\nCommit SHA: {head}\nWhat release gap this closed: none\n\
         Plan adjustment required: no\nResidual risks discovered: none\n\
         Remaining contract IDs after slice: none\n"
    )
}

#[test]
fn a_report_says_nothing_that_a_check_does_not() {
    let repo = with_goal();
    let head = repo.commit("Nothing", None);
    repo.record("implementer", report(&head)).ok();
    assert_eq!(repo.rule(), "4");
    let next = repo.cook(&["next", "--json"]).ok().json();
    let must = &next["handoff"]["must_fix_findings"][0];
    assert!(
        must.as_str().unwrap().starts_with("`sh tests/slug.sh`: "),
        "{next}"
    );
    let head = mend(&repo);
    repo.record("implementer", report(&head))
        .ok()
        .says("the goal is reached");
    state(&repo, 0);
}

/// An agent that answers the one case at first, and does the work once it is told again.
fn with_player(settings: &str) -> Repo {
    let repo = repo();
    let player = repo.beside("player.sh");
    let text = format!(
        "#!/bin/sh\ncat > prompt.txt; rm prompt.txt\nif [ -e tried ]; then cat > slug.sh <<'X'\n{SOUND}X\nelse echo x > tried; fi\n\
         cat .git/cook/hidden/* > seen.txt 2>/dev/null\ngit add slug.sh seen.txt tried\ngit commit -qm Work\ncat <<X\n{}X\n",
        report("$(git rev-parse HEAD)")
    );
    std::fs::write(&player, text).unwrap();
    let mut command = repo.command("chmod");
    assert!(command.arg("+x").arg(&player).status().unwrap().success());
    repo.write(
        ".agent/cook.toml",
        format!(
            "{}[agents.player]\nbin = {player:?}\nstart = []\nevents = \"text\"\n[roles.default]\nagent = \"player\"\ntimeout = \"60s\"\n{settings}",
            add_sandbox_setting(settings)
        ),
    );
    repo.commit("Settings", None);
    repo
}

/// What the run needs is trusted, as it asks for that.
fn run(repo: &Repo) {
    let asked = repo.cook(&["run"]).exits(4).err.clone();
    let words = asked.split("cook trust '").nth(1).unwrap();
    repo.trust(words.split('\'').next().unwrap());
    repo.cook(&["run"]).ok();
}

#[test]
fn a_run_goes_on_until_the_goal_is_reached() {
    let repo = with_player("");
    set(&repo, &[]).ok();
    run(&repo);
    state(&repo, 0);
    assert_eq!(repo.git(&["rev-list", "--count", "HEAD"]), "4");
    assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), "");
    repo.cook(&["verify", "control-plane"]).ok();
}

#[test]
fn an_agent_in_the_sandbox_sees_no_hidden_file() {
    if !has_sandbox() {
        return;
    }
    let repo = with_player("[sandbox]\nmode = \"required\"\n");
    let more = repo.beside("more.sh");
    std::fs::write(
        &more,
        "set -e\n. ./slug.sh\n[ \"$(slug 'C D')\" = 'c-d' ]\n",
    )
    .unwrap();
    set(&repo, &["--hidden", more.to_str().unwrap()]).ok();
    run(&repo);
    assert_eq!(repo.read("seen.txt"), "");
    state(&repo, 0);
}
