//! One transition's system calls in order: objects durable, then the branch, then
//! the view, then the stamp.

use crate::crash::kinds;
use crate::crash::sweep::{list_calls, strace_works};
use crate::support::workflow::Sandbox;

/// The last call whose line matches, and the first.
fn last(lines: &[String], matches: impl Fn(&str) -> bool) -> usize {
    lines.iter().rposition(|line| matches(line)).unwrap()
}

fn first(lines: &[String], matches: impl Fn(&str) -> bool) -> usize {
    lines.iter().position(|line| matches(line)).unwrap()
}

/// Names of files that were written in the log or the view and not synced before
/// they got their final name.
fn list_renamed_unsynced(lines: &[String]) -> Vec<String> {
    let mut open: Vec<(String, String, bool)> = Vec::new();
    let mut bad = Vec::new();
    for line in lines {
        if line.starts_with("openat(") && line.contains("O_CREAT") {
            let fd = line.rsplit("= ").next().unwrap().to_owned();
            open.retain(|(other, ..)| *other != fd);
            open.push((fd, find_quoted(line, 0), false));
        } else if line.starts_with("fsync(") || line.starts_with("fdatasync(") {
            let fd = line.split(['(', ')']).nth(1).unwrap();
            for entry in open.iter_mut().filter(|(other, ..)| other == fd) {
                entry.2 = true;
            }
        } else if line.starts_with("rename") || line.starts_with("link") {
            let from = find_quoted(line, 0);
            if open
                .iter()
                .any(|(_, name, synced)| *name == from && !synced)
            {
                bad.push(find_quoted(line, 1));
            }
        }
    }
    bad
}

/// The n-th string of a traced call.
fn find_quoted(line: &str, n: usize) -> String {
    line.split('"')
        .nth(2 * n + 1)
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn objects_are_durable_before_the_branch_the_branch_before_the_view_the_view_before_the_stamp() {
    if !strace_works() {
        return;
    }
    let sandbox = Sandbox::new();
    let kinds = kinds::all(&sandbox);
    for kind in kinds
        .iter()
        .filter(|kind| kind.before.is_some() && !kind.travels)
    {
        let lines = list_calls(&sandbox, kind);
        let at = |line: &str, call: &str, path: &str| line.starts_with(call) && line.contains(path);
        let branch = first(&lines, |line| at(line, "rename", "/log.git/refs/heads/"));
        let object = last(&lines[..branch], |line| {
            at(line, "link", "/log.git/objects/")
        });
        let object_dir = lines[object..]
            .iter()
            .position(|line| line.starts_with("fsync("))
            .unwrap()
            + object;
        let branch_dir = lines[branch..]
            .iter()
            .position(|line| line.starts_with("fsync("))
            .unwrap()
            + branch;
        let view = |line: &str| at(line, "rename", "/.agent/") && !line.contains("mission.md");
        let (first_view, last_view) = (first(&lines, view), last(&lines, view));
        let view_dir = lines[last_view..]
            .iter()
            .position(|line| line.starts_with("fsync("))
            .unwrap()
            + last_view;
        let stamp = last(&lines, |line| {
            at(line, "rename", "/.git/cook-checkout.json")
        });
        let order = [
            object, object_dir, branch, branch_dir, first_view, last_view, view_dir, stamp,
        ];
        assert!(
            order.is_sorted(),
            "{}: {order:?}\n{}",
            kind.name,
            lines.join("\n")
        );
        let state = last(&lines, |line| at(line, "rename", "/.agent/state.json"));
        assert_eq!(state, last_view, "{}: state.json comes last", kind.name);
        // What comes later is a copy of an edit, kept before it is overwritten.
        let kept = |line: &str| {
            at(line, "link", "/log.git/objects/") || at(line, "rename", "/log.git/refs/displaced/")
        };
        let after: Vec<usize> = (branch..lines.len()).filter(|n| kept(&lines[*n])).collect();
        assert!(after.is_empty() || kind.edit.is_some(), "{}", kind.name);
        assert!(after.iter().all(|n| *n < first_view), "{}", kind.name);
        let mut unsynced = list_renamed_unsynced(&lines);
        // A room can be made again.
        unsynced.retain(|path| !path.contains("/clean-rooms/"));
        assert!(unsynced.is_empty(), "{}: {unsynced:?}", kind.name);
    }
}

#[test]
fn a_trace_without_syncs_is_noticed() {
    let lines: Vec<String> = [
        r#"openat(AT_FDCWD, "/a.tmp", O_RDWR|O_CREAT|O_EXCL, 0644) = 4"#,
        r#"write(4, "x", 1) = 1"#,
        r#"rename("/a.tmp", "/a") = 0"#,
    ]
    .map(str::to_owned)
    .to_vec();
    assert_eq!(list_renamed_unsynced(&lines), ["/a"]);
}
