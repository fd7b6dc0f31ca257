//! Tests that are called otherwise later.

use crate::job::{Job, proof};
use serde_json::json;

/// Prints what `t/` holds as `go test -v` does: each function, and what it runs by name.
const GO: &str = r#"awk '/^func Test/{f=$2; sub(/[(].*/,"",f); names=names "--- PASS: " f " (0.00s)\n"}
/t\.Run\("/{n=$0; sub(/.*Run\("/,"",n); sub(/".*/,"",n); names=names "    --- PASS: " f "/" n " (0.00s)\n"}
END{printf "%s", names}' t/*.go
"#;

/// Prints what `t/` holds as the reporter of node does.
const NODE: &str = "cat t/*.js | sed -n \"s/^describe('\\([a-z ]*\\)'.*/\u{25b6} \\1/p; s/^  it('\\([a-z ]*\\)'.*/  \u{2714} \\1 (0.1ms)/p\"\necho '\u{2139} tests 1'\n";

const LINE: &str = "cmd:sh check.sh#\u{2714} ";

const GO_TEST: &str = "package one\n\nfunc TestAdds(t *testing.T) {\n\tt.Run(\"two\", func(t *testing.T) {\n\t\tif add(1, 1) != 2 {\n\t\t\tt.Fatal(\"two\")\n\t\t}\n\t})\n\tt.Run(\"three\", func(t *testing.T) {\n\t\tif add(1, 2) != 3 {\n\t\t\tt.Fatal(\"no\")\n\t\t}\n\t})\n}\n";

const NODE_TEST: &str = "describe('add', () => {\n  it('refuses', () => {\n    expect(add(two, three)).to.be.refused\n    expect(add(one)).to.be.refused\n  })\n})\n";

/// `a` is done, and this proves it.
fn prove_by(check: &str, path: &str, text: &str, anchor: &str) -> Job {
    let files = [
        ("check.sh", check),
        ("t/none.js", "-\n"),
        ("t/none.go", "package one\n"),
    ];
    let job = Job::begin_with(&["it works"], &files);
    job.plan_anew("sh check.sh");
    job.repo.write_commit_for("a", path, text);
    job.judge();
    let basis = match anchor.starts_with("cmd:") {
        true => "output",
        false => "test",
    };
    job.accept(&[proof("a", "it works", anchor, basis)]).ok();
    job
}

/// Row 14: a function is followed with what it runs by name. What it says otherwise is asked about.
#[test]
fn a_test_that_runs_others_by_name_is_followed() {
    let prove = |anchor: &str| prove_by(GO, "t/one_test.go", GO_TEST, &format!("test:{anchor}"));
    let rename = |job: &Job, from: &str, to: &str| {
        job.repo.write("t/one_test.go", GO_TEST.replace(from, to));
        job.repo.commit("Call it otherwise", None);
    };
    for (anchor, now) in [("TestAdds", "TestSums"), ("TestAdds/two", "TestSums/two")] {
        let job = prove(anchor);
        rename(&job, "TestAdds", "TestSums");
        job.stands();
        assert_eq!(job.anchor("a"), format!("test:{now}"));
    }
    let job = prove("TestAdds/two");
    rename(&job, "\"three\", func", "\"four\", func");
    job.must_answer("evidence_changed");
    let job = prove("TestAdds/two");
    rename(&job, "\"two\", func", "\"pair\", func");
    let again = proof("a", "it works", "test:TestAdds/pair", "test");
    job.reground(json!({"select": "b", "evidence": [again]}))
        .ok();
    assert_eq!(job.status("a"), "done");
}

/// Row 14: a suite, or a test in it, is called otherwise.
#[test]
fn a_test_is_followed_whichever_part_of_its_name_is_new() {
    for (from, to, full, line) in [
        ("'add'", "'sum'", "sum > refuses", "refuses"),
        (
            "'refuses'",
            "'add refuses'",
            "add > add refuses",
            "add refuses",
        ),
        ("'refuses'", "'says no'", "add > says no", "says no"),
    ] {
        let line = format!("{LINE}{line} (0.1ms)");
        let full = format!("test:{full}");
        for (anchor, now) in [
            ("test:add > refuses", &full),
            ("test:refuses", &full),
            (&format!("{LINE}refuses"), &line),
        ] {
            let job = prove_by(NODE, "t/add.js", NODE_TEST, anchor);
            job.repo.write("t/add.js", NODE_TEST.replace(from, to));
            job.repo.commit("Call it otherwise", None);
            job.stands();
            assert_eq!(&job.anchor("a"), now);
        }
    }
}

/// Row 14: a line is not followed to a test that says something else.
#[test]
fn a_line_is_not_followed_to_another_test() {
    let job = prove_by(NODE, "t/add.js", NODE_TEST, &format!("{LINE}refuses"));
    let hollow = "describe('add', () => {\n  it('says no', () => {\n    expect(true)\n  })\n})\n";
    job.repo.write("t/add.js", hollow);
    job.repo.commit("Call it otherwise", None);
    job.is_reopened();
}
