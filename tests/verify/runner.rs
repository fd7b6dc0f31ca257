//! A gate that tries to speak to the CI runner: it is told nothing of it, and what it writes is put back.

use crate::support::{Repo, Run, run};
use std::path::PathBuf;

/// Tells what it knows of the runner, and writes where a runner's files are.
fn gate(repo: &Repo, sandbox: &str) -> PathBuf {
    let files = repo.outside();
    let output = files.join("output");
    repo.write(
        "check.sh",
        format!(
            "env | grep -E '^(GITHUB|ACTIONS|RUNNER)_' && exit 1\n\
             echo 'passed=forged' 2>/dev/null >>'{0}'\n\
             rm -f '{0}.summary' 2>/dev/null\n\
             true\n",
            output.display()
        ),
    );
    repo.write(
        ".agent/cook.toml",
        format!(
            "[gates]\ncheck = {{ run = \"sh check.sh\" }}\n[clean_room]\nenv = [\"GITHUB_TOKEN\", \"OTHER\"]\n\
             [sandbox]\nmode = \"{sandbox}\"\n"
        ),
    );
    repo.commit("A gate", None);
    output
}

fn check_run(repo: &Repo, output: &std::path::Path) -> Run {
    let summary = output.with_extension("summary");
    for file in [output, &summary] {
        std::fs::write(file, "before=1\n").unwrap();
    }
    let args = ["check", "--trust-repo", "--format", "github"];
    let mut command = repo.cook_command(&args);
    command
        .env("GITHUB_OUTPUT", output)
        .env("GITHUB_STEP_SUMMARY", &summary)
        .env("GITHUB_TOKEN", "secret")
        .env("RUNNER_TEMP", "/nowhere")
        .env("ACTIONS_RUNTIME_TOKEN", "secret");
    run(&mut command, "")
}

#[test]
fn what_a_gate_writes_is_put_back_and_red() {
    let repo = Repo::new();
    let output = gate(&repo, "off");
    let run = check_run(&repo, &output).exits(1);
    run.says("::error title=cook check%3A runner_files_written::")
        .never_says("gate_red");
    let text = std::fs::read_to_string(&output).unwrap();
    assert!(text.starts_with("before=1\npassed=false\n"), "{text}");
    assert!(!text.contains("forged"), "{text}");
    let text = std::fs::read_to_string(output.with_extension("summary")).unwrap();
    assert!(text.starts_with("before=1\n### ❌"), "{text}");
}

/// A check that cannot end names what was written all the same.
#[test]
fn what_a_gate_writes_is_named_where_the_check_fails() {
    let repo = Repo::new();
    let output = gate(&repo, "off");
    let receipts = repo.root.join(".git/cook/receipts");
    let script = repo.read("check.sh");
    let receipts = receipts.display();
    repo.write(
        "check.sh",
        format!("{script}rm -rf '{receipts}'; echo >'{receipts}'\n"),
    );
    repo.commit("Break the receipts", None);
    let run = check_run(&repo, &output);
    assert_eq!(run.code, 3, "{run:?}");
    run.says("runner_files_written");
    assert!(!std::fs::read_to_string(&output).unwrap().contains("forged"));
}
