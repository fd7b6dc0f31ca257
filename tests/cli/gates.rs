//! `cook gate` and `cook trust`: commands that hang, fork, flood, fail, are
//! missing or are nobody's yet.

use crate::support::story::{GATE, plan};
use crate::support::{COOK, Repo};
use serde_json::json;
use std::time::{Duration, Instant};

fn with_gate(toml: &str) -> Repo {
    let repo = Repo::set_up();
    repo.write(".agent/cook.toml", toml);
    repo.commit("gates", None);
    repo.cook(&["trust", "--gates", "--as-user"]).exits(0);
    repo
}

#[test]
fn a_green_gate_keeps_a_receipt_that_is_found_again() {
    let repo = with_gate("[gates]\nt = { run = \"bash test.sh\" }\n");
    let run = |more: &[&str]| {
        let all = [&["gate", "--clean", "--json"], more].concat();
        repo.cook(&all).exits(0).json()["gates"][0].clone()
    };
    let first = run(&[]);
    assert_eq!(first["passed"], true);
    assert_eq!(first["receipt"]["place"], "clean_room");
    assert_eq!(first["receipt"]["id"], run(&[])["receipt"]["id"]);
    let fresh = run(&["--fresh"]);
    assert_ne!(first["receipt"]["id"], fresh["receipt"]["id"]);
    assert_eq!(fresh["receipt"]["caches"], "empty");
    repo.cook(&["gate", "t"]).exits(0).says("green");
    repo.cook(&["gate", "u"]).fails(2, "usage").says("t");
}

#[test]
fn a_red_gate_shows_its_output_and_fails() {
    let repo = with_gate(
        "[gates]\nt = { run = \"bash test.sh\" }\nl = { run = \"false\", required = false }\n",
    );
    repo.cook(&["gate"]).exits(0).says("red");
    repo.write("red", "");
    repo.write("results", "not ok 1 - \u{1b}[2Jone\n");
    let run = repo
        .cook(&["gate"])
        .exits(1)
        .says("not ok 1")
        .says("proves nothing");
    repo.cook(&["gate", "--clean"])
        .exits(0)
        .says("without the uncommitted changes");
    assert!(!run.out.contains('\u{1b}'));
}

#[test]
fn a_gate_that_hangs_and_forks_is_ended_with_its_children() {
    let repo = with_gate("[gates]\nt = { run = \"bash hang.sh\", timeout = \"1s\" }\n");
    repo.write(
        "hang.sh",
        "(sleep 3; touch survived) &\nsetsid sleep 300 &\nsleep 300\n",
    );
    let began = Instant::now();
    repo.cook(&["gate"]).exits(1).says("red").says("1s");
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "{:?}",
        began.elapsed()
    );
    std::thread::sleep(Duration::from_secs(4));
    assert!(!repo.root.join("survived").exists(), "a child lived on");
}

#[test]
fn a_gate_that_floods_is_cut_and_one_that_is_missing_is_said_so() {
    let repo = with_gate("[gates]\nt = { run = \"bash flood.sh\" }\n");
    repo.write(
        "flood.sh",
        "head -c 50000000 /dev/zero | tr '\\0' x; exit 3\n",
    );
    let gate = repo.cook(&["gate", "--json"]).exits(1);
    assert!(gate.out.len() < 200_000, "{} bytes", gate.out.len());
    assert_eq!(gate.json()["gates"][0]["receipt"]["exit_code"], 3);

    let repo = with_gate("[gates]\nt = { run = \"no-such-program --x\" }\n");
    repo.cook(&["gate"]).exits(1).says("no-such-program");
}

#[test]
fn an_untrusted_gate_is_not_run() {
    let repo = Repo::set_up();
    repo.write(".agent/cook.toml", "[gates]\nt = { run = \"touch ran\" }\n");
    repo.commit("gates", None);
    repo.cook(&["gate"])
        .fails(4, "trust_missing")
        .says("cook trust 'touch ran'");
    assert!(!repo.root.join("ran").exists());
    repo.cook(&["doctor"]).exits(0).says("gate_untrusted");
    repo.cook(&["trust", "touch", "--prefix", "--as-user"])
        .exits(0);
    repo.cook(&["trust", "--list"]).exits(0).says("touch …");
    // Nothing waited for it, and yet the use of a user-only command is on record.
    repo.cook(&["log", "--json"])
        .exits(0)
        .says("\"actor\": \"script\"");
    repo.cook(&["log", "@"]).exits(0).says("touch …");
    repo.cook(&["gate"]).exits(0);
    assert!(repo.root.join("ran").exists());
}

/// A gate is no user, whatever it says and however it lets go of what started it.
#[cfg(target_os = "linux")]
#[test]
fn a_gate_opens_no_command_of_the_user_s() {
    let repo = with_gate("[gates]\nt = { run = \"sh t.sh\" }\n");
    let script = format!(
        "cd {}\nresume() {{ \"$@\" {COOK} resume --as-user; }}\nresume && exit 9\nresume env -i HOME=$HOME PATH=$PATH && exit 9\nresume setsid -w && exit 9\n(setsid sh -c '{COOK} resume --as-user && touch resumed' &)\nexit 0\n",
        repo.root.display()
    );
    repo.write("t.sh", script);
    repo.cook(&["pause"]).exits(0);
    repo.cook(&["gate"]).exits(0);
    assert!(!repo.root.join("resumed").exists());
    assert_eq!(repo.cook(&["next", "--json"]).json()["policy"], "paused");
}

#[test]
fn a_plan_that_brings_a_command_asks_and_trust_goes_on() {
    let repo = Repo::set_up();
    let block = json!({"plan": plan(), "select": "a"});
    let report = repo.reground("none", "none", "a", &block);
    repo.record("regrounder", &report).exits(0).says(GATE);
    let next = repo
        .cook(&["next", "--json", "--exit-code"])
        .exits(10)
        .json();
    assert_eq!(next["policy"], "await_user_input");
    assert!(
        next["blocking_command"]
            .as_str()
            .unwrap()
            .contains("cook trust")
    );
    repo.cook(&["resume", "--as-user"])
        .fails(4, "trust_missing");
    repo.cook(&["resume", "--answer", "yes", "--as-user"])
        .fails(4, "trust_missing");
    repo.cook(&["trust", GATE, "--as-user"])
        .exits(0)
        .says("resumed");
    assert_eq!(repo.rule(), "4");
    repo.cook(&["gate", "--slice", "a"]).exits(0).says(GATE);
    repo.cook(&["gate", "--slice", "z"])
        .fails(2, "slice_unknown");
}

#[test]
fn red_gates_send_the_slice_back_and_cost_an_attempt() {
    let repo = Repo::with_selection();
    repo.write("red", "");
    let sha = repo.commit("half", Some("a"));
    repo.record("implementer", repo.implementation("a", &sha))
        .exits(0)
        .says("red");
    assert_eq!(repo.rule(), "4");
    let active = repo.document("active-slice.json");
    assert_eq!(active["status"], "in_progress");
    assert!(
        active["must_fix_findings"][0]
            .as_str()
            .unwrap()
            .contains(GATE)
    );
    let status = repo.cook(&["status", "--json"]).json();
    assert_eq!(status["slices"][0]["attempts"], 1);
    // It was caught, and says so wherever that is told.
    let told = repo.cook(&["report", "--format", "pr"]).exits(0).out;
    let (caught, _) = told.split_once("## Mission").unwrap();
    assert!(caught.contains("| a gate was red | "), "{told}");
    assert!(caught.contains(&format!("<code>{GATE}</code>")), "{told}");
    let page = repo.cook(&["report", "--html", "-"]).exits(0).out;
    assert!(page.contains("a gate was red"), "{page}");
}

/// Where nothing that runs names a test, the place where gates are tried says so, before anybody cites one.
#[test]
fn gates_that_name_no_test_are_said_where_they_are_tried() {
    let repo = with_gate("[gates.t]\nrun = \"true\"\n");
    repo.cook(&["gate", "--clean"])
        .exits(0)
        .says("no gate names a test that passed");
    let repo = with_gate("[gates.t]\nrun = \"sh test.sh\"\n");
    repo.write("test.sh", "printf 'ok 1 - it adds\\n1..1\\n'\n");
    repo.commit("Tests", None);
    repo.cook(&["gate", "--clean"])
        .exits(0)
        .never_says("names a test that passed");
}

#[test]
fn verify_runs_gates_again_when_asked() {
    let repo = Repo::with_done();
    repo.cook(&["verify", "--rerun", "--strict"]).exits(0);
    repo.cook(&["verify", "--trust-repo"]).exits(0);
    repo.cook(&["verify", "--rerun", "--trust-repo"]).exits(0);
}

/// Every way of calling `verify` but those that trust the repository.
const VERIFICATIONS: [&[&str]; 8] = [
    &["verify"],
    &["verify", "--strict"],
    &["verify", "--rerun"],
    &["verify", "--strict", "--rerun"],
    &["verify", "stop"],
    &["verify", "stop", "--strict"],
    &["verify", "control-plane"],
    &["verify", "control-plane", "--strict", "--rerun"],
];

#[test]
fn no_verification_starts_what_a_clone_brings_until_it_is_trusted() {
    let origin = Repo::with_done();
    let script = ".agent/verify_completion_stop.sh";
    let planted = origin.read(script).replacen(
        '\n',
        "\ntouch \"$(dirname \"$0\")/tmp-started\"; exit 7\n",
        1,
    );
    origin.write(script, planted);
    origin.commit("plant", None);

    let clone = Repo::directory();
    let from = origin.root.to_str().unwrap();
    clone.git(&["clone", "-q", from, "."]);
    let started = clone.root.join(".agent/tmp-started");
    for arguments in VERIFICATIONS {
        let run = clone.cook(arguments);
        assert!(!started.exists(), "{arguments:?} started the script");
        if arguments.contains(&"control-plane") {
            assert_eq!(run.code, 0, "{arguments:?}: {}", run.out);
            assert!(run.out.contains("no log here"), "{}", run.out);
            continue;
        }
        let run = run.exits(1).says("log_missing");
        let run = run.says("stop_verifier_untrusted");
        let run = run.says("cook trust 'bash .agent/verify_completion_stop.sh'");
        assert!(!run.out.contains("cook init"), "{}", run.out);
    }
    // `init` in a clone takes nothing for trusted that the clone brought.
    clone.cook(&["init"]).exits(0);
    clone.cook(&["verify"]).exits(1).says("not_done");
    assert!(!started.exists());

    clone
        .cook(&["verify", "stop", "--trust-repo"])
        .exits(1)
        .says("ended with 7");
    assert!(!started.exists(), "it runs in a clean room");

    let command = "bash .agent/verify_completion_stop.sh";
    clone
        .cook(&["trust", "bash", "--prefix", "--as-user"])
        .exits(0);
    let run = clone.cook(&["verify", "stop"]).exits(1);
    let run = run.says("stop_verifier_untrusted");
    assert!(
        !run.out.contains("ended with 7"),
        "a prefix does not cover it"
    );
    clone.cook(&["trust", command, "--as-user"]).exits(0);
    clone
        .cook(&["verify", "stop"])
        .exits(1)
        .says("ended with 7");

    // Trust is of what the scripts hold.
    let other = ".agent/verify_completion_control_plane.sh";
    clone.write(other, clone.read(other) + "\n# changed\n");
    clone
        .cook(&["verify", "stop"])
        .exits(1)
        .says("stop_verifier_untrusted");
    assert!(!started.exists());
}

#[test]
fn the_end_rests_on_a_verifier_that_is_trusted_here() {
    let repo = Repo::with_selection();
    let script = ".agent/verify_completion_stop.sh";
    repo.write(script, repo.read(script) + "\n# the user's own\n");
    repo.commit("our own check", None);
    repo.cook(&["init", "--as-user"]).exits(0);
    repo.edit("state.json", |state| {
        state["requires_reground"] = json!(true)
    });
    let report = repo.reground("none", "none", "a", &json!({"plan": plan()}));
    repo.record("regrounder", &report).exits(0);
    let next = repo.cook(&["next", "--exit-code"]).exits(10);
    assert!(
        next.out
            .contains("cook trust 'bash .agent/verify_completion_stop.sh'"),
        "{}",
        next.out
    );
    repo.cook(&["trust", "--gates", "--as-user"])
        .exits(0)
        .says("resumed");
    assert_eq!(repo.rule(), "4");
}

#[test]
fn work_that_is_not_finished_is_no_verified_commit() {
    let repo = Repo::with_commit();
    for arguments in [&["verify"] as &[&str], &["verify", "--strict"]] {
        repo.cook(arguments).exits(1).says("[not_done]");
    }
    repo.cook(&["verify", "control-plane", "--strict"]).exits(0);

    let done = Repo::with_done();
    done.cook(&["verify"]).exits(0);
    done.write("later.txt", "x\n");
    done.commit("later", None);
    done.cook(&["verify"])
        .exits(1)
        .says("head_moved_since_done");

    let plain = Repo::with_script();
    let run = plain.cook(&["verify"]).exits(1).says("log_missing");
    assert!(run.out.contains("contract_missing"), "{}", run.out);
}

#[cfg(unix)]
#[test]
fn another_program_than_at_the_first_green_run_is_a_remark_until_it_is_taken() {
    use std::os::unix::fs::PermissionsExt;
    let repo = with_gate("[gates.check]\nrun = \"checker\"\n");
    let bin = repo.beside("bin");
    let program = bin.join("checker");
    let install = |text: &str| {
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    install("exit 0");
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", bin.display());
    repo.extra.borrow_mut().push(("PATH".to_owned(), path));
    repo.cook(&["trust", "--tools", "--as-user"]).exits(0);
    repo.cook(&["trust", "--gates", "--as-user"]).exits(0);
    let first = repo.cook(&["gate", "--clean"]).exits(0).out.clone();
    assert!(!first.contains("another program"), "{first}");

    install("exit 0 # another");
    let said = "cook trust --program checker";
    let fresh = ["gate", "--clean", "--fresh"];
    repo.cook(&fresh).exits(0).says(said);
    repo.cook(&fresh)
        .exits(0)
        .says("another program")
        .says(said);
    repo.cook(&["gate", "--clean"]).exits(0).says(said);
    repo.cook(&["trust", "--program", "none-such", "--as-user"])
        .exits(2)
        .says("none-such");
    repo.cook(&["trust", "--program", "checker", "--as-user"])
        .exits(0);
    let taken = repo.cook(&fresh).exits(0).out.clone();
    assert!(!taken.contains("another program"), "{taken}");

    install("exit 0 # a third");
    repo.cook(&fresh).exits(0).says(said);
}

/// Nothing of a project's end rests on gates that are not the settings' any more.
#[test]
fn a_stop_verifier_of_other_gates_is_named_before_a_slice_is_selected() {
    let repo = with_gate("[gates]\nt = { run = \"bash test.sh\" }\n");
    let stale = "stop_verifier_stale";
    repo.cook(&["next"]).exits(0).says(stale);
    repo.cook(&["doctor"]).says(stale);
    let report = repo.reground("none", "none", "a", &json!({"plan": plan(), "select": "a"}));
    repo.record("regrounder", &report).exits(0).says(stale);
    // In a script of the user's; what it wrote is then committed and in force.
    repo.cook(&["init", "--as-user", "--commit"]).exits(0);
    let run = repo.cook(&["doctor"]);
    assert!(!run.out.contains(stale), "{}", run.out);
}

/// The verifier that `cook init` writes into a clone runs the clone's gates.
#[test]
fn a_verifier_made_from_gates_of_a_clone_waits_for_them() {
    let repo = Repo::new();
    repo.write(
        ".agent/cook.toml",
        "[gates]\nt = { run = \"sh -c 'touch $HOME/ran'\" }\n",
    );
    repo.commit("gates", None);
    repo.cook(&["init", "--mission", "m", "--commit"])
        .exits(0)
        .says("untrusted");
    repo.cook(&["verify", "stop", "--rerun"])
        .exits(1)
        .says("stop_verifier_untrusted");
    assert!(!repo.beside("home/.cache/clean-rooms").exists());
    repo.cook(&["trust", "--gates", "--as-user"]).exits(0);
    repo.cook(&["verify", "stop", "--rerun"]);
    assert!(repo.beside("home/.cache/clean-rooms").exists());
}

/// What setup makes is not in the worktree, which no setup touches.
#[test]
fn a_program_of_setup_is_not_in_the_worktree() {
    let repo = with_gate(
        "[clean_room]\nsetup = [\"mkdir -p tools\", \"cp /bin/true tools/check\"]\ncache = [\"tools\"]\n[gates]\nt = { run = \"tools/check\" }\n",
    );
    repo.cook(&["gate", "--clean"]).exits(0);
    repo.cook(&["gate"])
        .exits(1)
        .says("missing: `tools/check`")
        .says("`mkdir -p tools`, then `cp /bin/true tools/check`");
}

/// What the user's package managers downloaded serves a room without caches too; where a setup fails with it,
/// because it is damaged, it runs again without, and that is said.
#[test]
fn a_fresh_room_reads_what_the_user_downloaded_unless_it_is_damaged() {
    // A package manager: it takes what is in its cache, and downloads what is not.
    let repo = with_gate(
        "[clean_room]\nsetup = \"sh tools/pip\"\ncache = [\"env\"]\n[gates]\nt = { run = \"cat env/from\" }\n",
    );
    repo.write(
        "tools/pip",
        "mkdir -p env\nfile=$HOME/.cache/pip/wheel\nif [ ! -e \"$file\" ]; then echo downloaded >env/from; exit; fi\ngrep -q good \"$file\" && echo cached >env/from\n",
    );
    repo.commit("Add its tool", None);
    repo.cook(&["trust", "--gates", "--as-user"]);
    let wheel = repo.beside("home/.cache/pip/wheel");
    std::fs::create_dir_all(wheel.parent().unwrap()).unwrap();
    let run = |text: &str| {
        std::fs::write(&wheel, text).unwrap();
        let ran = repo.cook(&["gate", "--clean", "--fresh", "--json"]);
        assert_eq!(std::fs::read_to_string(&wheel).unwrap(), text);
        ran.exits(0).json().to_string()
    };
    let good = run("good");
    assert!(good.contains("cached"), "{good}");
    assert!(!good.contains("ran again"), "{good}");
    let damaged = run("torn");
    assert!(damaged.contains("downloaded\\n"), "{damaged}");
    assert!(damaged.contains("so it ran again without"), "{damaged}");
    assert!(damaged.contains(".cache/pip`"), "{damaged}");
}
