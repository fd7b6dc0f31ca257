//! `cook gate` and `cook trust`: commands that hang, fork, flood, fail, are
//! missing or are nobody's yet.

use crate::support::story::{GATE, plan};
use crate::support::{COOK, Repo};
use serde_json::json;

fn with_gate(toml: &str) -> Repo {
    let repo = Repo::set_up();
    repo.write(".agent/cook.toml", toml);
    repo.commit("gates", None);
    repo.cook(&["trust", "--gates", "--as-user"]).exits(0);
    repo
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
