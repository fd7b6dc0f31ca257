//! What is read from what real runners left, word for word but for places and times of the machine.
//!
//! `outputs/NAME.expected` says which runner it was, and what has to be read from `NAME.stdout`,
//! `NAME.stderr`, `NAME.records` and a report: `NAME.report`, at the path that a line `# report: PATH`
//! names. `BLESS=1 cargo test` writes what is read below the lines that begin with `#`.

mod rules;

use cook_protocol::trials::{Material, Outcomes, Report, Test};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const ROOT: &str = "/tree";

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trials/outputs")
}

fn read(case: &str, part: &str) -> String {
    let path = directory().join(format!("{case}.{part}"));
    std::fs::read_to_string(path).unwrap_or_default()
}

fn read_case(case: &str, header: &str) -> Outcomes {
    let report = read(case, "report");
    let path = header
        .lines()
        .find_map(|line| line.strip_prefix("# report: "));
    let reports = path.map(|path| Report {
        path,
        text: &report,
    });
    Outcomes::read(&Material {
        root: ROOT,
        stdout: &read(case, "stdout"),
        stderr: &read(case, "stderr"),
        records: &read(case, "records"),
        reports: reports.as_slice(),
    })
}

fn describe(outcomes: &Outcomes) -> String {
    let mut text = String::new();
    let flags = [
        ("nothing ran", outcomes.nothing_ran),
        ("partial", outcomes.is_partial),
        ("ends early", outcomes.ends_early),
        ("omits passed", outcomes.omits_passed),
    ];
    let _ = write!(text, "from {:?}", outcomes.source);
    for (flag, _) in flags.iter().filter(|(_, is)| *is) {
        let _ = write!(text, ", {flag}");
    }
    text.push('\n');
    for (name, test) in &outcomes.tests {
        let _ = writeln!(text, "{}", describe_test(name, test));
    }
    for (name, why) in &outcomes.unloaded {
        let _ = writeln!(text, "unloaded {name} | {why}");
    }
    text
}

fn describe_test(name: &str, test: &Test) -> String {
    let mut text = format!("{:?}", test.result).to_lowercase();
    let _ = write!(text, " {name}");
    if test.is_ambiguous {
        text.push_str(" (ambiguous)");
    }
    if let Some(file) = test.file.as_deref().filter(|file| !name.starts_with(file)) {
        let _ = write!(text, " in {file}");
    }
    if let Some(message) = &test.message {
        let _ = write!(text, " | {message}");
    }
    text
}

#[test]
fn real_outputs_are_read_as_their_runners_mean_them() {
    let files = std::fs::read_dir(directory()).expect("outputs");
    let mut cases: Vec<String> = files
        .filter_map(|file| {
            let name = file.ok()?.file_name().into_string().ok()?;
            Some(name.strip_suffix(".expected")?.to_owned())
        })
        .collect();
    cases.sort();
    assert!(cases.len() > 60, "{}", cases.len());
    let mut wrong = String::new();
    for case in cases {
        let expected = read(&case, "expected");
        let header: String = expected
            .split_inclusive('\n')
            .take_while(|line| line.starts_with('#'))
            .collect();
        let found = header.clone() + &describe(&read_case(&case, &header));
        if std::env::var_os("BLESS").is_some() {
            let path = directory().join(format!("{case}.expected"));
            std::fs::write(path, &found).expect("written");
        } else if found != expected {
            let _ = writeln!(wrong, "== {case}\n{found}-- expected\n{expected}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
