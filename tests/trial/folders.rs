//! Repositories of several projects: the gates of the folders that a change touches run, and no others.

use crate::trial::{Repo, check, passes};

/// What a gate says something about decides whether it runs, and whether a receipt answers.
#[test]
fn a_gate_with_paths_runs_where_they_changed_and_is_not_asked_twice() {
    let repo = Repo::unborn();
    let count = repo.beside("count");
    let settings = "[gates.a]\nrun = \"sh t.sh a\"\ndir = \"a\"\npaths = [\"a\"]\n[gates.b]\nrun = \"sh t.sh b\"\ndir = \"b\"\npaths = [\"b\", \"shared/*\"]\n[sandbox]\nmode = \"off\"\n";
    repo.write(".agent/cook.toml", settings);
    for name in ["a", "b"] {
        let script = format!(
            "set -e\necho $1 >> {}\n. ./lib.sh\ntest \"$(one)\" = 1\n",
            count.display()
        );
        repo.write(&format!("{name}/t.sh"), script);
        repo.write(&format!("{name}/lib.sh"), "one() { echo 1; }\n");
    }
    repo.write("shared/x", "1\n");
    repo.commit("Begin", None);
    let ran = || {
        let text = std::fs::read_to_string(&count).unwrap_or_default();
        let _ = std::fs::remove_file(&count);
        let of = |name: &str| text.lines().filter(|line| *line == name).count();
        (of("a"), of("b"))
    };
    repo.write("b/lib.sh", "one() { echo 1; } # b\n");
    repo.commit("Work on b", None);
    let answer = passes(&repo);
    assert!(answer["checked"].to_string().contains("(a) was not run"));
    assert!(matches!(ran(), (0, 1..)));
    passes(&repo);
    assert_eq!(ran(), (0, 0), "it is not asked twice");
    // Seen from further back both are concerned, and of b nothing changed since.
    repo.write("a/lib.sh", "one() { echo 1; } # a\n");
    repo.commit("Work on a", None);
    let (exit, answer) = check(&repo, &["--base", "HEAD~2"]);
    assert_eq!(exit, 0, "{answer:#}");
    let (a, b) = ran();
    assert!(a > 0 && b == 0, "{a} {b}");
    repo.write("shared/x", "2\n");
    repo.commit("Share more", None);
    passes(&repo);
    assert!(matches!(ran(), (0, 1..)));
    repo.write("a/lib.sh", "one() { echo 2; }\n");
    repo.commit("Break a", None);
    let (exit, answer) = check(&repo, &[]);
    assert_eq!((exit, &answer["lines"][0]["code"]), (1, &"gate_red".into()));
    // A narrower list takes no gate away from the change that brings it.
    repo.write(
        ".agent/cook.toml",
        settings.replace("paths = [\"a\"]", "paths = [\"nothing\"]"),
    );
    repo.commit("Narrow it", None);
    let (exit, answer) = check(&repo, &["--base", "HEAD~2"]);
    assert_eq!(exit, 1, "{answer:#}");
    assert!(answer.to_string().contains("gate_changed"), "{answer:#}");
    // Nothing that anybody asks about changed.
    repo.write("README.md", "# More\n");
    repo.commit("Say more", None);
    let (exit, answer) = check(&repo, &[]);
    assert_eq!((exit, &answer["lines"][0]["code"]), (3, &"no_gates".into()));
}
