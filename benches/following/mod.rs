//! What following a slice's own text costs beside `git diff --stat` of the same range.

use super::scale::{Scale, make_path};
use super::{Cost, millis, run};
use cook_core::machine::OwnQuestion;
use cook_git::{Following, Repo};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Instant;

/// Files that the slice wrote.
const OWN: usize = 20;
/// Files that each later commit changes.
const CHANGED: usize = 5;

/// What later commits do to the slice's files.
enum Later {
    /// Nothing.
    Nothing,
    /// They write beside its lines, rewrite some, and delete a file.
    Much,
    /// They move some of its lines to other files.
    Moves,
}

pub fn following(files: usize, commits: usize, runs: usize) {
    println!(
        "\n### A slice's own text in {files} files, followed over {commits} commits, minimum of {runs} runs\n"
    );
    println!("| | wall ms | against `git diff --stat` |\n|---|---|---|");
    for (name, later) in [
        ("nothing of it touched", Later::Nothing),
        ("lines rewritten, a file deleted", Later::Much),
        ("lines moved to other files", Later::Moves),
    ] {
        let scale = Scale::with_files(files);
        let basis = resolve(&scale, "HEAD");
        scale.import(&own_commit());
        let accepted = resolve(&scale, "main");
        scale.import(&later_commits(files, commits, &later));
        let head = resolve(&scale, "main");
        let repo = Repo::discover(&scale.root()).unwrap();
        let question = OwnQuestion {
            slice_id: "bench".to_owned(),
            basis,
            head: accepted.clone(),
            claimed: BTreeSet::from([accepted.clone()]),
            earlier_bases: Vec::new(),
            arrivals: Vec::new(),
            earlier: None,
        };
        let own = repo.own(&question, None).unwrap();
        assert_eq!(own.files.len(), OWN);
        let mut least = [Cost::NONE; 2];
        for _ in 0..runs {
            let mut diff = scale.command("git");
            diff.args(["diff", "--stat", &accepted, &head]);
            least[0] = least[0].least(run(diff));
            let started = Instant::now();
            let repo = Repo::discover(&scale.root()).unwrap();
            let followed = Following::new(&repo, &own, &head).unwrap();
            let survival = followed.survival().unwrap();
            let wall = started.elapsed();
            assert_eq!(survival.lost.is_empty(), !matches!(later, Later::Much));
            least[1] = least[1].least(Cost { wall, cpu: wall });
        }
        let [diff, followed] = least.map(|cost| millis(cost.wall));
        println!("| {name} | {followed:.1} | {:.2} |", followed / diff);
        println!("| `git diff --stat` there | {diff:.1} | 1 |");
    }
}

fn resolve(scale: &Scale, name: &str) -> String {
    let out = scale.command("git").args(["rev-parse", name]).output();
    String::from_utf8(out.unwrap().stdout)
        .unwrap()
        .trim()
        .to_owned()
}

fn begin(stream: &mut String, at: usize) {
    writeln!(
        stream,
        "commit refs/heads/main\ncommitter Scale <scale@example.org> {} +0000\ndata 4\nmore",
        1_767_225_600 + at
    )
    .unwrap();
    if at <= 1 {
        writeln!(stream, "from refs/heads/main^0").unwrap();
    }
}

fn put(stream: &mut String, file: usize, text: &str) {
    let path = make_path(file);
    writeln!(
        stream,
        "M 100644 inline {path}\ndata {}\n{text}",
        text.len()
    )
    .unwrap();
}

fn text(file: usize, turn: Option<usize>) -> String {
    let line = |number: usize| match turn {
        Some(turn) if number % 10 == turn % 10 => format!("turn {turn} of file {file}\n"),
        _ => format!("line {number} of file {file}\n"),
    };
    (0..30).map(line).collect()
}

fn own_commit() -> String {
    let mut stream = String::new();
    begin(&mut stream, 0);
    for file in 0..OWN {
        put(&mut stream, file, &text(file, None));
    }
    stream
}

fn later_commits(files: usize, commits: usize, later: &Later) -> String {
    let mut stream = String::new();
    let mut number = 7;
    for at in 1..=commits {
        begin(&mut stream, at);
        for _ in 0..CHANGED {
            number = (number * 1_103_515_245 + 12_345) % (1 << 31);
            let file = OWN + number % (files - OWN);
            put(&mut stream, file, &format!("turn {at} of file {file}\n"));
        }
        if matches!(later, Later::Much) && at % 100 == 0 {
            let file = 1 + at / 100 % (OWN - 1);
            put(&mut stream, file, &text(file, Some(at / 100)));
        }
        if matches!(later, Later::Moves) && at % 100 == 0 && at / 100 < OWN {
            let own = text(at / 100, None);
            let (moved, left) = own.split_at(own.len() / 2);
            put(&mut stream, at / 100, left);
            writeln!(
                stream,
                "M 100644 inline moved-{at}.txt\ndata {}\n{moved}",
                moved.len()
            )
            .unwrap();
        }
        if matches!(later, Later::Much) && at == commits {
            writeln!(stream, "D {}", make_path(0)).unwrap();
        }
    }
    stream
}
