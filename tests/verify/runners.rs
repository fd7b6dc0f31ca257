//! The gates of the base go through a `Makefile`, a `package.json` and the like: what a branch changes there
//! of what they run waits for a person, and what decides nothing there is work.

use crate::from::{make_clone, make_pushed_after};
use crate::job::{codes, make_finished_after};
use crate::support::Repo;

const BASE: [(&str, &str); 9] = [
    (
        "Makefile",
        ".PHONY: test\ntest: build\n\tbash tests/usage.sh\nbuild:\n\tcc x.c\nclean:\n\techo gone\n",
    ),
    (
        "package.json",
        "{\n\"scripts\": {\"test\": \"node --test\", \"format\": \"prettier .\"},\n\
         \"devDependencies\": {\"jest\": \"^29.0.0\"}\n}\n",
    ),
    ("pytest.ini", "[pytest]\naddopts = -q\n"),
    (
        "pyproject.toml",
        "[project]\nname = \"x\"\ndependencies = [\"a\"]\n[tool.pytest]\nx = 1\n",
    ),
    (
        "Cargo.toml",
        "[package]\nname = \"x\"\n[dependencies]\na = \"1\"\n[lib]\npath = \"a.rs\"\n",
    ),
    (".cargo/config.toml", "[build]\njobs = 2\n"),
    ("justfile", "test:\n  pytest\nclean:\n  echo\n"),
    ("conftest.py", "import pytest\n"),
    ("docs/Makefile", "html:\n\tsphinx-build -M html\n"),
];

/// Files of one commit, and what is told of each.
const DECIDES: [&[(&str, &str)]; 7] = [
    &[
        (
            "Makefile",
            ".PHONY: test\ntest: build\n\tbash tests/usage.sh || true\nbuild:\n\tcc x.c\nclean:\n\techo gone\n",
        ),
        (
            "package.json",
            "{\n\"scripts\": {\"test\": \"node --test || true\", \"format\": \"prettier .\"}}\n",
        ),
        ("pytest.ini", "[pytest]\naddopts = -q --collect-only\n"),
        (
            ".cargo/config.toml",
            "[build]\njobs = 2\n[target.x]\nrunner = \"true\"\n",
        ),
        ("justfile", "test:\n  -pytest\nclean:\n  echo\n"),
        (
            "conftest.py",
            "import pytest\ndef pytest_collection_modifyitems(items): items.clear()\n",
        ),
        (".npmrc", "script-shell=/bin/true\n"),
        ("GNUmakefile", "test:\n\ttrue\n"),
    ],
    &[
        (
            "Makefile",
            ".PHONY: test\ntest: build\n\t-bash tests/usage.sh\nbuild:\n\tcc x.c\nclean:\n\techo gone\n",
        ),
        (
            "package.json",
            "{\n\"scripts\": {\"test\": \"true || node --test\", \"format\": \"prettier .\"}}\n",
        ),
        ("pytest.ini", "[pytest]\naddopts = -q\ntestpaths = none\n"),
        (
            "pyproject.toml",
            "[project]\nname = \"x\"\ndependencies = [\"a\"]\n[project.scripts]\npytest = \"x:y\"\n",
        ),
        (
            "Cargo.toml",
            "[package]\nname = \"x\"\n[dependencies]\na = { path = \"fake\" }\n[lib]\npath = \"a.rs\"\n",
        ),
        (".cargo/config.toml", "[build]\nrustc-wrapper = \"true\"\n"),
        (
            "justfile",
            "set shell := [\"true\"]\ntest:\n  pytest\nclean:\n  echo\n",
        ),
        ("conftest.py", "import pytest\ncollect_ignore = ['a']\n"),
    ],
    &[
        (
            "Makefile",
            "SHELL=/bin/true\n.PHONY: test\ntest: build\n\tbash tests/usage.sh\nbuild:\n\tcc x.c\nclean:\n\techo gone\n",
        ),
        (
            "package.json",
            "{\n\"scripts\": {\"test\": \"echo node --test\", \"format\": \"prettier .\"}}\n",
        ),
        (
            "Cargo.toml",
            "[package]\nname = \"x\"\nautotests = false\n[dependencies]\na = \"1\"\n[lib]\npath = \"a.rs\"\n",
        ),
    ],
    &[
        (
            "Makefile",
            ".PHONY: test\ntest: build\n\techo bash tests/usage.sh\nbuild:\n\tcc x.c\nclean:\n\techo gone\n",
        ),
        (
            "package.json",
            "{\n\"scripts\": {\"test\": \"node --test\", \"pretest\": \"sh x\"}}\n",
        ),
    ],
    &[
        (
            "Makefile",
            ".PHONY: test\ntest: build\n\tbash tests/usage.sh\nbuild:\n\techo >tests/usage.sh\n\tcc x.c\nclean:\n\techo gone\n",
        ),
        (
            "package.json",
            "{\n\"scripts\": {\"test\": \"node --test\"}, \"devDependencies\": {\"jest\": \"file:fake\"}}\n",
        ),
    ],
    &[
        (
            "Makefile",
            "test: build\n\tbash tests/usage.sh\nbuild:\n\tcc x.c\nclean:\n\techo gone\n",
        ),
        (
            "package.json",
            "{\n\"scripts\": {\"test\": \"node --test\"}, \"jest\": {\"testMatch\": [\"x\"]}}\n",
        ),
    ],
    &[(
        "Makefile",
        ".PHONY: test\nnothing:\n\ttrue\ntest: build\n\tbash tests/usage.sh\nbuild:\n\tcc x.c\nclean:\n\techo gone\n",
    )],
];

/// What asks for more, or touches nothing that a gate comes by.
const WORK: [(&str, &str); 8] = [
    (
        "Makefile",
        "# Tests\n.PHONY: test fmt\ntest: build\n\tbash tests/usage.sh\n\truff check\nbuild:\n\tcc x.c\n\
         clean:\n\trm -r out || true\nfmt:\n\ttrue\n",
    ),
    (
        "package.json",
        "{\n\"version\": \"2.0.0\",\n\"scripts\": {\"test\": \"node --test && eslint .\", \"format\": \"true\", \"docs\": \"typedoc\"},\n\
         \"devDependencies\": {\"jest\": \"^30.0.0\", \"eslint\": \"9\"}, \"dependencies\": {\"left\": \"1\"}\n}\n",
    ),
    (
        "pyproject.toml",
        "[project]\nname = \"x\"\nversion = \"1\"\ndependencies = [\"a\", \"b>=2\"]\n[tool.pytest]\nx = 1\n",
    ),
    (
        "Cargo.toml",
        "[package]\nname = \"x\"\nversion = \"1.0.0\"\n[dependencies]\na = { version = \"2\", features = [\"f\"] }\n\
         [dev-dependencies]\nproptest = \"1\"\n[lib]\npath = \"a.rs\"\n",
    ),
    (
        ".cargo/config.toml",
        "# Two are enough\n[build]\njobs = 2\n",
    ),
    (
        "justfile",
        "test:\n  pytest\nclean:\n  rm out\nfmt:\n  true\n",
    ),
    (
        "conftest.py",
        "import pytest\n@pytest.fixture\ndef table(): return 1\n",
    ),
    ("docs/Makefile", "html:\n\ttrue\n"),
];

fn make_job() -> Repo {
    let begin = |repo: &Repo| {
        repo.git(&["checkout", "-q", "main"]);
        for (path, text) in BASE {
            repo.write(path, text);
        }
        let check = repo.read("check.sh");
        repo.write(
            "check.sh",
            format!(": make test, npm test, pytest, cargo test, just test\n{check}"),
        );
        repo.commit("What the gates go through", None);
        repo.git(&["checkout", "-q", "work"]);
        repo.git(&["merge", "-q", "--ff-only", "main"]);
    };
    make_pushed_after("a pushed job whose gates go through more", || {
        make_finished_after("a job whose gates go through more", begin)
    })
}

/// Of a commit with these files: what was told of the contract.
fn ask(clone: &Repo, files: &[(&str, &str)]) -> Vec<String> {
    clone.git(&["reset", "-q", "--hard", "origin/work"]);
    clone.git(&["clean", "-qfd"]);
    clone.write("more.txt", "and something else\n");
    for (path, text) in files {
        clone.write(path, text);
    }
    clone.commit("Edit it", None);
    let words = ["verify", "control-plane", "--trust-repo", "--json"];
    let base = [
        "--from",
        "origin",
        "--branch",
        "work",
        "--base",
        "origin/main",
    ];
    let run = clone.cook(&[&words[..], &base].concat());
    assert!(!codes(&run).contains(&"contract_alone".to_owned()));
    let answer = run.json();
    let findings = answer["findings"].as_array().unwrap().iter();
    let told = findings.filter(|finding| finding["code"] == "contract_weaker");
    told.map(|finding| finding["message"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn what_the_gates_of_the_base_go_through_is_theirs_to_say() {
    let repo = make_job();
    let clone = make_clone(&repo, &["-b", "work"]);
    for files in DECIDES {
        let told = ask(&clone, files);
        for (path, text) in files {
            let of_path = |told: &&String| told.starts_with(&format!("`{path}` "));
            assert_eq!(
                told.iter().filter(of_path).count(),
                1,
                "{path}: {text}\n{told:#?}"
            );
        }
        assert_eq!(told.len(), files.len(), "{told:#?}");
    }
    assert_eq!(ask(&clone, &WORK), Vec::<String>::new());
}
