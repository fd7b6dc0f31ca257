//! The steps of `action.yml`, run as a runner's shell would run them, in a clone with a runner's environment.

use crate::support::{COOK, Repo, Run, run};
use crate::verify::ci_table::check_out;
use crate::verify::from::{bare, make_clone, make_pushed};
use std::collections::BTreeMap;
use std::path::Path;

/// A step of a composite action: its variables, as they are written, and its script.
#[derive(Debug, Default)]
struct Step {
    id: String,
    env: Vec<(String, String)>,
    script: String,
}

/// The defaults of the inputs, and the steps. It reads just what `action.yml` is written with.
fn action() -> (BTreeMap<String, String>, Vec<Step>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("action.yml");
    let text = std::fs::read_to_string(path).unwrap();
    let (head, steps) = text.split_once("  steps:\n").unwrap();
    let (_, inputs) = head.split_once("inputs:\n").unwrap();
    let (inputs, _) = inputs.split_once("outputs:\n").unwrap();
    let mut defaults = BTreeMap::new();
    let mut name = "";
    for line in inputs.lines() {
        if let Some(default) = line.strip_prefix("    default: ") {
            defaults.insert(name.to_owned(), default.trim_matches('"').to_owned());
        } else if !line.starts_with("    ") {
            name = line.trim().trim_end_matches(':');
            defaults.insert(name.to_owned(), String::new());
        }
    }
    let mut found: Vec<Step> = Vec::new();
    for line in steps.lines() {
        if let Some(id) = line.strip_prefix("    - id: ") {
            let id = id.to_owned();
            found.push(Step {
                id,
                ..Step::default()
            });
        } else if let Some(line) = line.strip_prefix("        ") {
            let step = found.last_mut().unwrap();
            match line.split_once(": ${{ ") {
                Some((name, value)) if step.script.is_empty() => {
                    let value = value.strip_suffix(" }}").unwrap();
                    step.env.push((name.to_owned(), value.to_owned()));
                }
                _ => step.script.push_str(&format!("{line}\n")),
            }
        } else {
            let known = ["      shell: bash", "      env:", "      run: |"];
            assert!(known.contains(&line), "{line}");
        }
    }
    (defaults, found)
}

/// What a runner knows of what happened.
#[derive(Debug, Clone, Copy, Default)]
struct Event {
    /// The branch that a pull request is for.
    base_ref: &'static str,
    head_ref: &'static str,
    ref_name: &'static str,
}

impl Event {
    /// A pull request of `work`, whose merge the server made.
    const PULL_REQUEST: Self = Self {
        base_ref: "main",
        head_ref: "work",
        ref_name: "1/merge",
    };

    /// The expressions that `action.yml` is written with.
    fn evaluate(self, expression: &str) -> String {
        let origin = || match self.base_ref {
            "" => String::new(),
            base => format!("origin/{base}"),
        };
        match expression {
            "github.head_ref || github.ref_name" if self.head_ref.is_empty() => {
                self.ref_name.to_owned()
            }
            "github.head_ref || github.ref_name" => self.head_ref.to_owned(),
            "github.base_ref && format('origin/{0}', github.base_ref) || github.event.merge_group.base_sha" => {
                origin()
            }
            "github.server_url }}/${{ github.action_repository }}/releases/download" => {
                String::new()
            }
            other => panic!("action.yml says `{other}`, which this test does not know"),
        }
    }
}

/// Runs the action in a checked-out tree; a `PATH` without cook. What each output file held is joined.
fn act_on(event: Event, tree: &Repo, given: &[(&str, &str)]) -> (Run, String) {
    let (mut known, steps) = action();
    for value in known.values_mut() {
        if let Some(expression) = value.strip_prefix("${{ ") {
            let expression = expression.strip_suffix(" }}").unwrap_or(expression);
            *value = event.evaluate(expression);
        }
    }
    let place = tree.outside();
    for (name, value) in given {
        assert!(
            known
                .insert((*name).to_owned(), (*value).to_owned())
                .is_some()
        );
    }
    let mut outputs = BTreeMap::new();
    let mut all = String::new();
    let mut last = None;
    for step in steps {
        let output = place.join(format!("output-{}", step.id));
        let summary = place.join("summary");
        std::fs::write(&output, "").unwrap();
        let mut command = tree.command("bash");
        command.args([
            "--noprofile",
            "--norc",
            "-e",
            "-o",
            "pipefail",
            "-c",
            &step.script,
        ]);
        command
            .env("PATH", "/usr/bin:/bin")
            .env("CI", "true")
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_BASE_REF", event.base_ref)
            .env("GITHUB_HEAD_REF", event.head_ref)
            .env("GITHUB_REF_NAME", event.ref_name)
            .env("GITHUB_WORKSPACE", &tree.root)
            .env("RUNNER_TEMP", &place)
            .env("GITHUB_OUTPUT", &output)
            .env("GITHUB_STEP_SUMMARY", &summary);
        for (name, value) in &step.env {
            // No template stands in a script: what is given reaches it as a variable.
            let value = match value.strip_prefix("inputs.") {
                Some(input) => known[input].clone(),
                None => String::clone(&outputs[value]),
            };
            command.env(name, value);
        }
        assert!(!step.script.contains("${{"), "{}", step.script);
        let ran = run(&mut command, "");
        let text = std::fs::read_to_string(&output).unwrap();
        for line in text.lines() {
            let (name, value) = line.split_once('=').unwrap();
            outputs.insert(
                format!("steps.{}.outputs.{name}", step.id),
                value.to_owned(),
            );
        }
        all.push_str(&text);
        let goes_on = ran.code == 0;
        last = Some(ran);
        if !goes_on {
            break;
        }
    }
    (last.unwrap(), all)
}

/// A pull request as it is checked out where nothing is said: its merge alone, with nothing before it.
#[test]
fn a_pull_request_is_judged_by_its_base() {
    let repo = make_pushed();
    repo.git(&["checkout", "-q", "main"]);
    repo.write("other.txt", "somebody else's\n");
    repo.commit("Meanwhile", None);
    repo.git(&["push", "-q", bare(&repo).to_str().unwrap(), "main"]);
    repo.git(&["checkout", "-q", "--detach"]);
    repo.git(&["merge", "-q", "--no-ff", "-m", "Merge 1", "work"]);
    let clone = check_out(&repo, "refs/pull/1/merge", &["--depth", "1"]);
    let (run, outputs) = act_on(Event::PULL_REQUEST, &clone, &[("binary", COOK)]);
    run.ok().says("judged by the contract of `origin/main`");
    assert!(outputs.contains("\npassed=true\n"), "{outputs}");

    let settings = clone.read(".agent/cook.toml");
    clone.write(".agent/cook.toml", settings.replace("sh check.sh", "true"));
    clone.write("code.txt", clone.read("code.txt") + "and more\n");
    clone.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
    let (run, outputs) = act_on(Event::PULL_REQUEST, &clone, &[("binary", COOK)]);
    run.exits(1)
        .says("::error title=cook verify%3A contract_changed,file=.agent/cook.toml::");
    assert!(outputs.contains("\npassed=false\n"), "{outputs}");
}

/// One that touches nothing but the contract, from a fork: a person decides, outside of the tree.
#[test]
fn a_change_of_the_contract_alone_is_a_persons() {
    let repo = make_pushed();
    let fork = repo.beside("fork.git");
    let from = bare(&repo);
    let (from, to) = (from.to_str().unwrap(), fork.to_str().unwrap());
    repo.git(&["clone", "-q", "--mirror", from, to]);
    let clone = make_clone(&repo, &["-b", "main"]);
    let settings = clone.read(".agent/cook.toml");
    clone.write(".agent/cook.toml", settings.replace("sh check.sh", "true"));
    clone.commit("Another gate", None);
    clone.git(&["checkout", "-q", "--detach"]);
    let url = format!("file://{to}");
    let given = [("binary", COOK), ("remote", &url)];
    let (run, outputs) = act_on(Event::PULL_REQUEST, &clone, &given);
    run.exits(12)
        .says("::error title=cook verify%3A contract_alone::");
    assert!(outputs.contains("\npassed=false\n"), "{outputs}");
    let words = ["verify", "--json", "--base", "origin/main"];
    let answer = clone.cook(&words).exits(12).json();
    let digest = answer["base"]["contract"].as_str().unwrap();
    let accepted = [&given[..], &[("accept_contract", digest)]].concat();
    let (run, outputs) = act_on(Event::PULL_REQUEST, &clone, &accepted);
    run.ok().says("and it was accepted");
    assert!(outputs.contains("\npassed=true\n"), "{outputs}");
}
