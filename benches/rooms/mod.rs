//! What a clean room costs beside git's own ways to the same files.

use super::scale::{Scale, cook_binary};
use super::{Cost, millis, run};
use std::process::Command;

/// The first fill, a commit of one line, the same tree again; with the sandbox and without it.
pub fn rooms(files: usize, runs: usize) {
    let fills = if files > 10_000 { 2 } else { 5 };
    let stands = ["off", "auto"].map(|mode| stand(files, mode));
    let beside = &stands[0];
    let mut rows: Vec<(String, Cost)> = Vec::new();
    let mut add = |name: String, cost: Cost| rows.push((name, cost));

    let mut filled = [Cost::NONE; 3];
    for fill in 0..fills {
        for (cost, scale) in filled.iter_mut().zip(&stands) {
            // A tree of its own: one that has a receipt is not run again.
            commit(scale, &format!("fill {fill}\n"));
            let _ = std::fs::remove_dir_all(scale.root().with_file_name("home/.cache"));
            *cost = cost.least(run(gate(scale)));
        }
        let tree = beside.root().with_file_name("tree");
        if tree.exists() {
            beside.git(&["worktree", "remove", "--force", "../tree"]);
        }
        let add = git(
            beside,
            &["worktree", "add", "--quiet", "--detach", "../tree"],
        );
        filled[2] = filled[2].least(run(add));
    }
    add("first fill, no sandbox".to_owned(), filled[0]);
    add("first fill".to_owned(), filled[1]);
    add("`git worktree add`".to_owned(), filled[2]);

    let mut changed = [Cost::NONE; 3];
    let mut again = [Cost::NONE; 2];
    for turn in 0..runs {
        for (at, scale) in stands.iter().enumerate() {
            commit(scale, &format!("{turn}\n"));
            changed[at] = changed[at].least(run(gate(scale)));
            again[at] = again[at].least(run(gate(scale)));
        }
        let mut checkout = beside.command("sh");
        let script = format!(
            "cd ../tree && git checkout -q --force --detach {} && git clean -ffdxq",
            head(beside)
        );
        checkout.args(["-c", &script]);
        changed[2] = changed[2].least(run(checkout));
    }
    add("a commit of one line, no sandbox".to_owned(), changed[0]);
    add("a commit of one line".to_owned(), changed[1]);
    add(
        "`git checkout` and `git clean` of it".to_owned(),
        changed[2],
    );
    add("the same tree again, no sandbox".to_owned(), again[0]);
    add("the same tree again".to_owned(), again[1]);
    let mut next = Cost::NONE;
    let mut nothing = Cost::NONE;
    for _ in 0..runs {
        let mut command = beside.command(cook_binary());
        command.arg("next");
        next = next.least(run(command));
        nothing = nothing.least(run(beside.command("true")));
    }
    add("`cook next`, beside it".to_owned(), next);
    add("the gate alone (`true`)".to_owned(), nothing);

    println!(
        "\n### A gate in a clean room, {files} files, minimum of {runs} runs ({fills} fills)\n"
    );
    println!("| process | wall ms | processor ms |\n|---|---|---|");
    for (name, cost) in rows {
        let (wall, cpu) = (millis(cost.wall), millis(cost.cpu));
        println!("| {name} | {wall:.1} | {cpu:.1} |");
    }
}

/// A repository whose one gate does nothing.
fn stand(files: usize, mode: &str) -> Scale {
    let scale = Scale::initialise(files);
    let settings = format!("[sandbox]\nmode = \"{mode}\"\n[gates.nothing]\nrun = \"true\"\n");
    std::fs::write(scale.root().join(".agent/cook.toml"), settings).unwrap();
    scale.git(&["commit", "--quiet", "--all", "--message", "one gate"]);
    scale.cook(&["trust", "--gates", "--as-user"]);
    scale
}

fn commit(scale: &Scale, line: &str) {
    std::fs::write(scale.root().join("README.md"), line).unwrap();
    scale.git(&["add", "README.md"]);
    scale.git(&["commit", "--quiet", "--message", "one line"]);
}

fn gate(scale: &Scale) -> Command {
    let mut command = scale.command(cook_binary());
    command.args(["gate", "--clean"]);
    command
}

fn git(scale: &Scale, args: &[&str]) -> Command {
    let mut command = scale.command("git");
    command.args(args);
    command
}

fn head(scale: &Scale) -> String {
    let out = git(scale, &["rev-parse", "HEAD"]).output().unwrap();
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}
