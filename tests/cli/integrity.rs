//! A log with a part missing or damaged, and a worktree that lost its way to its log: what is lost is
//! named, with what it belongs to and what still works, and nothing passes or begins anew in silence.

use crate::support::{Repo, Run};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn log(repo: &Repo) -> PathBuf {
    repo.root.join(".git/cook/log.git")
}

fn git_log(repo: &Repo, args: &[&str]) -> String {
    let dir = log(repo).display().to_string();
    repo.git(&[&["--git-dir", &dir], args].concat())
}

/// Every object that the log holds, as a file of its own.
fn objects(repo: &Repo) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for dir in fs::read_dir(log(repo).join("objects")).unwrap() {
        let dir = dir.unwrap().path();
        let first = dir.file_name().unwrap().to_str().unwrap().to_owned();
        if first.len() == 2 {
            found.extend(fs::read_dir(&dir).unwrap().map(|file| {
                let path = file.unwrap().path();
                let rest = path.file_name().unwrap().to_str().unwrap();
                (format!("{first}{rest}"), path)
            }));
        }
    }
    found.sort();
    found
}

/// The object is named by both, and both fail.
fn check_both_name(repo: &Repo, id: &str, wrong: &mut Vec<String>) -> String {
    let mut named = String::new();
    for command in [&["doctor", "fsck"][..], &["verify"]] {
        let run = repo.cook(command);
        let line = run.out.lines().find(|line| line.contains(id));
        match line.filter(|_| run.code == 1) {
            Some(line) => named = line.to_owned(),
            None => wrong.push(format!(
                "{id}: {} {}\n{}{}",
                run.line, run.code, run.out, run.err
            )),
        }
    }
    named
}

/// What is said of the work holds.
fn what_is_said_holds(repo: &Repo, named: &str, wrong: &mut Vec<String>) {
    let answers = repo.cook(&["status"]).code == 0 && repo.cook(&["next"]).code == 0;
    let only_answers = named.contains("`cook next` and");
    let works =
        answers && !only_answers && repo.cook(&["brief", "say", "on", "--as-user"]).code == 0;
    let is_said = [
        "the work cannot go on without it",
        "`cook next` and `cook status` answer without it",
        "the work goes on without it",
    ]
    .map(|text| named.contains(text));
    let holds = match is_said {
        [true, false, false] => !works,
        [false, true, false] => answers,
        [false, false, true] => works,
        _ => false,
    };
    if !holds {
        wrong.push(format!("answers: {answers}, works: {works}, but: {named}"));
    }
}

fn damage(path: &Path, how: &str) -> Vec<u8> {
    let before = fs::read(path).unwrap();
    fs::remove_file(path).unwrap();
    match how {
        "removed" => {}
        "cut short" => fs::write(path, &before[..before.len() / 2]).unwrap(),
        _ => {
            let mut other = before.clone();
            let middle = other.len() / 2;
            other[middle] ^= 0x55;
            fs::write(path, other).unwrap();
        }
    }
    before
}

#[test]
fn every_lost_object_is_named_with_what_it_belongs_to_and_what_still_works() {
    let repo = Repo::with_selection();
    repo.edit("state.json", |state| {
        state["continuation_reason"] = "mine".into()
    });
    repo.cook(&["plan", "adopt", "--discard", "--as-user"])
        .exits(0);
    repo.cook(&["pause", "lunch"]).exits(0);
    repo.cook(&["doctor", "fsck"]).exits(0);
    let reached: BTreeSet<String> = git_log(&repo, &["rev-list", "--all", "--objects"])
        .lines()
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect();
    assert!(git_log(&repo, &["for-each-ref"]).contains("refs/displaced/"));
    let mut wrong = Vec::new();
    let mut tried = 0;
    for (number, (id, path)) in objects(&repo).into_iter().enumerate() {
        if !reached.contains(&id) {
            continue;
        }
        tried += 1;
        // The ways take turns: each kind of object meets each of them.
        let how = ["removed", "changed", "removed", "cut short"][number % 4];
        let before = damage(&path, how);
        let named = check_both_name(&repo, &id, &mut wrong);
        what_is_said_holds(&repo, &named, &mut wrong);
        let of = ["transition", "copy that was set aside"];
        if !of.iter().any(|of| named.contains(of)) {
            wrong.push(format!("{how}: whose is it? {named}"));
        }
        let _ = fs::remove_file(&path);
        fs::write(&path, before).unwrap();
    }
    assert!(wrong.is_empty(), "{} of {tried}: {wrong:#?}", wrong.len());
    assert_eq!(tried, reached.len());
    repo.cook(&["doctor", "fsck"]).exits(0);
}

/// It says what is left and how to go on, and changes nothing.
#[track_caller]
fn is_lost(repo: &Repo, args: &[&str], id: &str) -> Run {
    repo.cook(args).fails(3, "log_unclaimed").says(id)
}

#[test]
fn a_lost_id_begins_no_new_log() {
    for shown in [true, false] {
        let repo = Repo::with_commit();
        let file = repo.root.join(".git/cook-id");
        let id = fs::read_to_string(&file).unwrap().trim().to_owned();
        let status = repo.cook(&["status"]).exits(0).out;
        fs::remove_file(&file).unwrap();
        if !shown {
            // Then only the files of `.agent/` tell whose they are.
            fs::remove_file(repo.root.join(".git/cook-checkout.json")).unwrap();
        }
        let before = repo.fingerprint();
        for args in [
            &["next"][..],
            &["status"],
            &["log"],
            &["doctor", "fsck"],
            &["verify"],
            &["verify", "--strict"],
            &["pause"],
            &["init"],
            &["init", "--mission", "another"],
        ] {
            is_lost(&repo, args, &format!("cook init --log {id}"));
        }
        assert!(before == repo.fingerprint() && !file.exists());
        repo.cook(&["init", "--log", &id])
            .expect_refused("user_only");
        repo.cook(&["init", "--log", "01arz3ndektsv4rrffq69g5fav", "--as-user"])
            .fails(2, "operation_unknown");
        repo.cook(&["init", "--log", &id, "--as-user"]).exits(0);
        assert_eq!(repo.cook(&["status"]).exits(0).out, status);
        repo.cook(&["doctor", "fsck"]).exits(0);
        // A workflow that has its worktree is nobody else's.
        repo.cook(&["init", "--log", &id, "--as-user"])
            .fails(2, "operation_unknown");
    }
}

#[test]
fn another_log_is_begun_only_when_that_is_said_and_the_old_one_stays() {
    let repo = Repo::with_commit();
    let id = fs::read_to_string(repo.root.join(".git/cook-id")).unwrap();
    let id = id.trim();
    fs::remove_file(repo.root.join(".git/cook-id")).unwrap();
    let tip = git_log(&repo, &["rev-parse", &format!("refs/heads/{id}")]);
    repo.cook(&["init", "--log", "new", "--as-user"])
        .exits(0)
        .says(id);
    assert_eq!(
        git_log(&repo, &["rev-parse", &format!("refs/heads/{id}")]),
        tip
    );
    repo.cook(&["doctor", "fsck"]).exits(0);
    repo.cook(&["next"]).exits(0);
}

#[test]
fn a_lost_branch_begins_no_new_log() {
    let repo = Repo::with_commit();
    let id = fs::read_to_string(repo.root.join(".git/cook-id")).unwrap();
    let branch = log(&repo).join("refs/heads").join(id.trim());
    fs::remove_file(&branch).unwrap();
    for args in [&["next"][..], &["init"], &["verify"]] {
        is_lost(&repo, args, id.trim());
    }
    let run = is_lost(&repo, &["next"], "update-ref");
    let command = run.err.split("bring it back: `").nth(1).unwrap();
    let command = command.split('`').next().unwrap();
    let mut shell = repo.command("sh");
    crate::support::run_alone(shell.args(["-c", command])).ok();
    repo.cook(&["next"]).exits(0);
    repo.cook(&["doctor", "fsck"]).exits(0);
}

/// An edit of the same length and time, where the settings look at nothing else.
#[test]
fn strict_sees_an_edit_that_the_settings_hide() {
    const HIDE: &str = r#"
        git config core.trustctime false && git config core.checkStat minimal
        touch -d 2020-01-02 tracked.txt && git update-index --refresh -q
        # Times of change are compared by the second.
        sleep 1.1
        printf 'two\n' >tracked.txt && touch -d 2020-01-02 tracked.txt
        test -z "$(git status --porcelain)"
    "#;
    let repo = Repo::wave();
    repo.write("tracked.txt", "one\n");
    repo.commit("Track it", None);
    let mut shell = repo.command("sh");
    crate::support::run_alone(shell.args(["-c", HIDE])).ok();
    repo.cook(&["verify", "control-plane", "--strict"])
        .exits(1)
        .says("tracked.txt");
}

/// Somebody wrote a transition by hand: its documents say done, and its event brought nothing of that about.
#[test]
fn an_end_that_is_made_up_is_no_end() {
    const MADE_UP: &str = r#"
        log=.git/cook/log.git; ref=$(git --git-dir=$log for-each-ref --format='%(refname)' refs/heads)
        export GIT_INDEX_FILE="$HOME/log-index"
        git --git-dir=$log read-tree "$ref"
        blob=$(git --git-dir=$log cat-file blob "$ref:state.json" |
          sed 's/"project_done": *false/"project_done": true/; s/"continuation_policy": *"[a-z_]*"/"continuation_policy": "done"/' |
          git --git-dir=$log hash-object -w --stdin)
        git --git-dir=$log update-index --cacheinfo "100644,$blob,state.json"
        tree=$(git --git-dir=$log write-tree)
        text=$(git --git-dir=$log log -1 --format=%B "$ref" | sed 's/^Cook-Seq: .*/Cook-Seq: 2/')
        git --git-dir=$log update-ref "$ref" "$(echo "$text" | git --git-dir=$log commit-tree -p "$ref" "$tree")"
    "#;
    let repo = Repo::with_mission("Greet whoever asks");
    let honest = repo.cook(&["next"]).ok().out;
    let mut bash = repo.command("bash");
    assert!(bash.args(["-ec", MADE_UP]).status().unwrap().success());
    for command in [&["next"][..], &["status"], &["brief"], &["verify"]] {
        let told = repo.cook(command);
        assert_ne!(told.code, 0, "{command:?}");
        let said = told.out + &told.err;
        assert!(said.contains("log_not_derivable"), "{said}");
    }
    let told = repo.cook(&["next"]).exits(3).err;
    let mut quoted = told.split('`');
    let way = quoted
        .find(|word| word.starts_with("git --git-dir"))
        .unwrap();
    let mut bash = repo.command("bash");
    assert!(bash.args(["-ec", way]).status().unwrap().success());
    assert_eq!(repo.cook(&["next"]).ok().out, honest);
    repo.cook(&["doctor", "fsck"]).ok();
}
