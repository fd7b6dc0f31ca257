//! The job of `tests/handover` with a real pi in every role: the model behind it reads the prompt
//! that pi hands on, and nothing else.

use crate::handover::prompt::Prompt;
use crate::handover::roles::{Output, Roles};
use crate::pi::{pi, settle};
use crate::support::Repo;
use crate::support::model::{Model, Step, Turn};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// How often the run may stop for the user.
const STOPS: usize = 4;
const CHECK: &str = "grep -q RED-7 greet.txt || { echo \"greet.txt must hold RED-7\"; exit 1; }\n";
const MISSION: &str =
    "greet.txt must hold HELLO-1\n\nIt greets whom the user says. The gate is `sh check.sh`.";
const TABLES: &str = "[sandbox]\nmode = \"off\"\n\
    [roles.default]\nagent = \"pi\"\nmodel = \"mock/mock-model\"\ntimeout = \"60s\"\n";

#[derive(Default)]
struct Memory {
    roles: Roles,
    /// What was decided on a prompt, for the steps that follow.
    decided: BTreeMap<String, (String, Option<(String, String)>)>,
}

/// One step of a session: the implementer commits with pi's own tool first.
fn play(turn: &Turn, memory: &Mutex<Memory>) -> Step {
    let named = turn
        .prompt
        .lines()
        .find_map(|line| line.strip_prefix("# Role: completion-"));
    let Some(role) = named else {
        return Step::Say("that is not a role's prompt".to_owned());
    };
    let memory = &mut *memory.lock().unwrap();
    // What judges are given alike stands before their prompt.
    let prompt = match role {
        "stop-judge" => &turn.all,
        _ => &turn.prompt,
    };
    let (report, files) = memory
        .decided
        .entry(prompt.clone())
        .or_insert_with(|| {
            let Output { report, files } = memory.roles.play(role, &Prompt::read(prompt, None));
            (report, files)
        })
        .clone();
    match (files, turn.done) {
        (Some((slice, text)), 0) => Step::run(format!(
            "printf '%s' '{text}' > greet.txt && git add greet.txt && \
             git commit -qm 'Greet' -m 'Cook-Slice: {slice}' && git rev-parse HEAD"
        )),
        (Some(_), _) => {
            let head = turn.result.split_whitespace();
            let head = head.rev().find(|word| word.len() == 40).unwrap_or("none");
            Step::Say(report.replace("HEAD-OF-THE-REPOSITORY", head))
        }
        (None, _) => Step::Say(report),
    }
}

/// A repository whose roles are all played by pi; none where pi is not there.
fn repository() -> Option<(Repo, Model)> {
    let repo = Repo::new();
    let home = repo.beside("pi");
    let variables = pi(&home)?;
    repo.extra.borrow_mut().extend(variables);
    let memory = Mutex::new(Memory::default());
    let model = Model::playing(move |turn| (play(turn, &memory), 100));
    settle(&home, &model);
    repo.write("check.sh", CHECK);
    repo.commit("The gate", None);
    repo.init_strictly(MISSION).ok();
    let settings = repo.read(".agent/cook.toml");
    repo.write(".agent/cook.toml", format!("{settings}\n{TABLES}"));
    repo.commit("Let pi play", None);
    repo.cook(&["init", "--as-user"]).ok();
    repo.trust("sh check.sh");
    Some((repo, model))
}

#[test]
fn a_real_pi_that_knows_its_prompts_alone_comes_to_done() {
    let Some((repo, model)) = repository() else {
        return;
    };
    let mut told = String::new();
    for _ in 0..STOPS {
        let run = repo.cook(&["run"]);
        told.push_str(&run.err);
        let next = repo.cook(&["next", "--json"]).ok().json();
        if next["policy"] == "done" {
            break;
        }
        if let Some(words) = run.err.split("cook trust '").nth(1) {
            let words = words.split('\'').next().unwrap().to_owned();
            repo.cook(&["trust", &words, "--as-user"]).ok();
            continue;
        }
        let question = next["reason"].as_str().unwrap_or_default();
        assert!(question.contains("whom"), "{question}\n{told}");
        repo.cook(&[
            "resume",
            "--answer",
            "greet.txt must hold NAME-4",
            "--as-user",
        ])
        .ok();
    }
    let next = repo.cook(&["next", "--json"]).ok().json();
    assert_eq!(next["policy"], "done", "{told}");
    let text = repo.read("greet.txt");
    for word in [
        "HELLO-1", "RED-7", "BLUE-3", "ADVICE-9", "NAME-4", "GREEN-2", "BASE-5",
    ] {
        assert!(text.contains(word), "{word}: {text}\n{told}");
    }
    // The job has no gate, so that only the plain question is answered with yes.
    repo.cook(&["verify"]).ok().says("no_command_ran");
    assert!(model.turns().len() > 20);
}
