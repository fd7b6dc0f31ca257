//! Imported histories: what `cook verify` sees of each line, with a log and without.

use crate::cost::scale::{Scale, cook_binary};
use std::path::{Path, PathBuf};

const HISTORY: &str = "slice-history.jsonl";

fn agent(scale: &Scale, file: &str) -> PathBuf {
    scale.root().join(".agent").join(file)
}

/// Passed, and everything that was said.
fn verify(scale: &Scale) -> (bool, String) {
    let output = scale
        .command(cook_binary())
        .args(["verify", "control-plane"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    (output.status.success(), said)
}

/// The file with its lines changed.
fn change(path: &Path, change: impl Fn(&mut Vec<String>)) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    change(&mut lines);
    std::fs::write(path, lines.concat()).unwrap();
}

type Change = fn(&mut Vec<String>);

/// A change of line 7 and what it is called.
const CHANGES: [(&str, Change); 6] = [
    ("a word", |lines| {
        lines[6] = lines[6].replace("boundary", "Boundary");
    }),
    ("order", |lines| lines.swap(6, 7)),
    ("twice", |lines| lines.insert(6, lines[5].clone())),
    ("left out", |lines| drop(lines.remove(6))),
    ("spaces", |lines| {
        lines[6] = lines[6].replace("\":\"reviewed", "\": \"reviewed")
    }),
    ("no JSON", |lines| lines[6] = "{\n".to_owned()),
];

#[test]
fn a_changed_line_of_an_import_is_found() {
    for (what, damage) in CHANGES {
        let scale = Scale::with_records(40);
        assert!(verify(&scale).0);
        change(&agent(&scale, HISTORY), damage);
        let (passed, said) = verify(&scale);
        assert!(!passed, "{what}: {said}");
        assert!(said.contains("history_forged"), "{what}: {said}");
        assert!(said.contains("line 7"), "{what}: {said}");
    }
}

#[test]
fn an_import_that_ends_early_or_late_is_found() {
    let scale = Scale::with_records(40);
    let path = agent(&scale, HISTORY);
    let whole = std::fs::read_to_string(&path).unwrap();
    for (text, code) in [
        (whole[..whole.len() - 9].to_owned(), "history_torn"),
        (whole[..whole.len() - 1].to_owned(), "history_torn"),
        (format!("{whole}{{"), "history_forged"),
        (String::new(), "history_forged"),
    ] {
        std::fs::write(&path, text).unwrap();
        let (passed, said) = verify(&scale);
        assert!(!passed && said.contains(code), "{code}: {said}");
    }
    std::fs::remove_file(&path).unwrap();
    let (passed, said) = verify(&scale);
    assert!(!passed && said.contains("document_missing"), "{said}");
}

/// The log holds text that cook would not have written, and the view agrees with it.
#[test]
fn a_log_with_another_text_of_the_same_record_is_not_derivable() {
    let scale = Scale::with_records(40);
    let view = agent(&scale, HISTORY);
    change(&view, CHANGES[4].1);
    let log = scale.root().join(".git/cook/log.git");
    let id = std::fs::read_to_string(scale.root().join(".git/cook-id")).unwrap();
    let branch = format!("refs/heads/{}", id.trim());
    let repo = git2::Repository::open_bare(&log).unwrap();
    let tip = repo
        .find_reference(&branch)
        .unwrap()
        .peel_to_commit()
        .unwrap();
    let tree = tip.tree().unwrap();
    let appended = tree.get_name("appended").unwrap().id();
    let appended = repo.find_tree(appended).unwrap();
    let mut folder = repo.treebuilder(Some(&appended)).unwrap();
    let blob = repo.blob(&std::fs::read(&view).unwrap()).unwrap();
    folder.insert(HISTORY, blob, 0o100_644).unwrap();
    let mut top = repo.treebuilder(Some(&tree)).unwrap();
    top.insert("appended", folder.write().unwrap(), 0o040_000)
        .unwrap();
    let tree = repo.find_tree(top.write().unwrap()).unwrap();
    let forged = repo
        .commit(
            None,
            &tip.author(),
            &tip.committer(),
            tip.message().unwrap(),
            &tree,
            &[],
        )
        .unwrap();
    repo.reference(&branch, forged, true, "").unwrap();
    let (passed, said) = verify(&scale);
    assert!(!passed, "{said}");
    assert!(said.contains("log_not_derivable"), "{said}");
    let what = "`appended` is not what its event produces";
    assert!(said.contains(what), "{said}");
}

#[test]
fn without_a_log_each_line_is_checked_by_itself() {
    let scale = Scale::with_records(40);
    let git = scale.root().join(".git");
    std::fs::remove_dir_all(git.join("cook")).unwrap();
    let path = agent(&scale, HISTORY);
    let whole = std::fs::read_to_string(&path).unwrap();
    let (passed, said) = verify(&scale);
    assert!(passed, "{said}");
    assert!(said.contains("40 history records"), "{said}");
    // Another writer's layout of a legal record is no matter.
    change(&path, CHANGES[4].1);
    assert!(verify(&scale).0);
    for (from, to, code) in [
        ("reviewed", "revised", "document_invalid"),
        (
            "\"slice_id\":\"slice-000006\"",
            "\"slice_id\":\"\"",
            "document_invalid",
        ),
        ("}\n", ",\"more\":1}\n", "document_invalid"),
        (
            "\"role\":",
            "\"type\":\"reviewed\",\"role\":",
            "document_invalid",
        ),
        ("{", "", "document_unreadable"),
    ] {
        std::fs::write(&path, &whole).unwrap();
        change(&path, |lines| lines[6] = lines[6].replacen(from, to, 1));
        let (passed, said) = verify(&scale);
        assert!(!passed && said.contains(code), "{to}: {said}");
        assert!(said.contains("slice-history.jsonl:7"), "{to}: {said}");
    }
    std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    let (passed, said) = verify(&scale);
    assert!(!passed && said.contains("history_torn"), "{said}");
    assert!(said.contains("slice-history.jsonl:20"), "{said}");
}

/// A line longer than the buffer, and one longer than a document may be.
#[test]
fn long_lines_are_read_up_to_the_cap() {
    let scale = Scale::with_records(4);
    std::fs::remove_dir_all(scale.root().join(".git/cook")).unwrap();
    let path = agent(&scale, HISTORY);
    for (megabytes, passes) in [(3, true), (17, false)] {
        change(&path, |lines| {
            let filler = "x".repeat(megabytes << 20);
            lines[1] = lines[0].replace("boundary", &filler);
        });
        let (passed, said) = verify(&scale);
        assert_eq!(passed, passes, "{}", &said[..said.len().min(2_000)]);
        assert_eq!(said.contains("document_too_large"), !passes);
    }
}
