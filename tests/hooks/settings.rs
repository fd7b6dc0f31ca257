//! Agents' settings files: what installing and removing do to every form that they have, and what happens
//! where one cannot be changed.

use crate::support::{Repo, run};
use serde_json::Value;

/// Every form, by name; none = there is no file.
const FORMS: [(&str, Option<&str>); 20] = [
    ("no file", None),
    ("empty file", Some("")),
    ("blank file", Some("\n \n")),
    ("a mark alone", Some("\u{feff}")),
    ("empty object", Some("{}")),
    ("empty object with a line", Some("{}\n")),
    ("empty hooks", Some("{\"hooks\": {}}\n")),
    (
        "empty hooks over lines",
        Some("{\n  \"hooks\": {\n  }\n}\n"),
    ),
    ("BOM", Some("\u{feff}{\n  \"a\": 1\n}\n")),
    ("CRLF", Some("{\r\n  \"a\": 1\r\n}\r\n")),
    (
        "comments",
        Some(
            "// top\n{\n  // one\n  \"a\": 1, /* two */\n  \"hooks\": { // three\n  }\n  // four\n}\n// end\n",
        ),
    ),
    (
        "trailing commas",
        Some("{\n  \"a\": [1, 2,],\n  \"hooks\": {\"x\": [],},\n}\n"),
    ),
    ("tabs", Some("{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}\n")),
    (
        "one line",
        Some("{\"a\":1,\"hooks\":{\"Stop\":[],\"stop\":[]},\"z\":[]}"),
    ),
    (
        "nested",
        Some(
            "{\n    \"a\": {\"hooks\": {\"Stop\": [{\"hooks\": []}]}},\n    \"b\": [[{}], {}]\n}\n",
        ),
    ),
    ("no final newline", Some("{\n  \"a\": 1\n}")),
    ("a version of theirs", Some("{\"version\": 1}\n")),
    (
        "a version behind the hooks",
        Some("{\n  \"hooks\": {},\n  \"version\": 1\n}\n"),
    ),
    (
        "hooks of theirs",
        Some(
            "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\n    ],\n    \"stop\": [{\"command\": \"say done\"}]\n  }\n}\n",
        ),
    ),
    (
        "unicode",
        Some(
            "{\n  \"ü\": \"é \\u00e9 \u{1f600} // {\",\n  \"hooks\": {\"Stop\": [], \"日本\": []}\n}\n",
        ),
    ),
];

#[test]
fn every_form_of_a_file_is_given_back_byte_for_byte() {
    for (agent, file) in [
        ("claude", ".claude/settings.json"),
        ("gemini", ".gemini/settings.json"),
        ("cursor", ".cursor/hooks.json"),
        ("copilot", ".github/copilot-instructions.md"),
    ] {
        let repo = Repo::set_up();
        let path = repo.root.join(file);
        let found = || std::fs::read(&path).ok();
        for (form, text) in FORMS {
            match text {
                Some(text) => repo.write(file, text),
                None => assert!(!path.exists(), "{agent}"),
            }
            let before = found();
            // Beside JSON one reads comments, and one of them all.
            if (agent, form) == ("claude", "comments")
                || ["claude", "gemini"].contains(&agent) && form == "trailing commas"
            {
                for command in ["install", "check"] {
                    let told = repo.cook(&["hooks", command, agent, "--shared"]);
                    told.fails(3, "hooks_file").says("does not read it: line");
                }
                assert_eq!(found(), before, "{agent}, {form}");
                continue;
            }
            repo.cook(&["hooks", "install", agent, "--shared"]).exits(0);
            assert_ne!(found(), before, "{agent}, {form}");
            let once = found();
            repo.cook(&["hooks", "install", agent, "--shared"]).exits(0);
            assert_eq!(
                found(),
                once,
                "{agent}, {form}: a second run changes a byte"
            );
            repo.cook(&["hooks", "check", agent, "--shared"]).exits(0);
            // What an earlier version wrote is replaced, and given back all the same.
            let stale = String::from_utf8(once.clone().unwrap()).unwrap();
            repo.write(file, stale.replace("cook-hooks 1", "cook-hooks 0"));
            repo.cook(&["hooks", "install", agent, "--shared"]).exits(0);
            let shown = |bytes: Option<Vec<u8>>| bytes.map(|b| String::from_utf8(b).unwrap());
            assert_eq!(shown(found()), shown(once), "{agent}, {form}");
            repo.cook(&["hooks", "remove", agent, "--shared"]).exits(0);
            assert_eq!(shown(found()), shown(before), "{agent}, {form}");
            if path.exists() {
                std::fs::remove_file(&path).unwrap();
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn settings_that_a_link_in_the_home_leads_to_are_changed_there() {
    let repo = Repo::set_up();
    let mut command = repo.cook_command(&["hooks", "install", "gemini"]);
    let home = repo.beside("linked-home");
    std::fs::create_dir_all(home.join(".gemini")).unwrap();
    let kept = repo.beside("dotfiles.json");
    let link = home.join(".gemini/settings.json");
    std::os::unix::fs::symlink(&kept, &link).unwrap();
    command.env("HOME", &home);
    run(&mut command, b"")
        .fails(3, "hooks_file")
        .says("a link that leads nowhere");
    assert!(link.is_symlink());
    std::fs::write(&kept, "{}").unwrap();
    run(&mut command, b"").exits(0);
    assert!(
        link.is_symlink()
            && std::fs::read_to_string(&kept)
                .unwrap()
                .contains("cook hook")
    );
    let mut remove = repo.cook_command(&["hooks", "remove", "gemini"]);
    run(remove.env("HOME", &home), b"").exits(0);
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "{}");
}

#[test]
fn installs_at_the_same_time_lose_nothing_of_each_other() {
    let file = ".claude/settings.json";
    for round in 0..5 {
        let repo = Repo::set_up();
        repo.write(file, format!("{{\"round\": {round}}}"));
        let commands = [
            &["hooks", "install", "claude", "--shared"][..],
            &["hooks", "install", "claude", "--shared", "--check"],
            &["hooks", "install", "claude", "--shared"],
        ];
        std::thread::scope(|scope| {
            for args in commands {
                let command = repo.cook_command(args);
                scope.spawn(move || {
                    let done = run(command, b"");
                    let clashed = done.code == 3 && done.err.contains("run the command again");
                    assert!(done.code == 0 || clashed, "{done:?}");
                });
            }
        });
        // Whoever was told to do so runs it again.
        for args in commands {
            repo.cook(args).exits(0);
        }
        let held: Value = serde_json::from_str(&repo.read(file)).unwrap();
        assert_eq!(held["round"], round);
        assert_eq!(
            held["hooks"]["Stop"].as_array().unwrap().len(),
            2,
            "{held:#}"
        );
        for flags in [&["--shared"][..], &["--shared", "--check"]] {
            let args = [&["hooks", "remove", "claude"][..], flags].concat();
            repo.cook(&args).exits(0);
        }
        assert_eq!(repo.read(file), format!("{{\"round\": {round}}}"));
    }
}

/// Settings in TOML, with what stands there before.
#[test]
fn tables_in_a_toml_file_are_given_back_byte_for_byte_and_a_file_of_another_kind_is_named() {
    let repo = Repo::set_up();
    let home = repo.beside("kimi-home");
    let file = home.join("config.toml");
    std::fs::create_dir(&home).unwrap();
    let hooks = |word: &str, more: &[&str]| {
        let args = [&["hooks", word, "kimi"], more].concat();
        repo.cook_env(&args, "KIMI_CODE_HOME", home.to_str().unwrap())
    };
    let found = || std::fs::read_to_string(&file).ok();
    let theirs =
        "# mine\ndefault_model = \"x\"\n\n[[hooks]]\nevent = \"Stop\"\ncommand = \"say done\"";
    for text in [None, Some(""), Some("a = 1\r\n"), Some(theirs)] {
        if let Some(text) = text {
            std::fs::write(&file, text).unwrap();
        }
        hooks("install", &[]).exits(0);
        let once = found().unwrap();
        assert!(once.starts_with(text.unwrap_or_default()) && once.contains("cook hook kimi"));
        toml::from_str::<toml::Table>(&once).unwrap();
        hooks("install", &["--check"]).exits(0);
        hooks("check", &[]).exits(0);
        hooks("check", &["--check"]).exits(0);
        hooks("remove", &["--check"]).exits(0);
        assert_eq!(found().unwrap(), once, "{text:?}");
        std::fs::write(&file, once.replace("cook-hooks 1", "cook-hooks 0")).unwrap();
        hooks("check", &[]).exits(1).says("hooks_stale");
        hooks("install", &[]).exits(0);
        assert_eq!(found().unwrap(), once, "{text:?}");
        hooks("remove", &[]).exits(0);
        assert_eq!(found().as_deref(), text);
    }
    for (text, why) in [
        ("{\"hooks\": {}}", "not valid TOML (line 1)"),
        ("a = 1\nb = = 2\n", "not valid TOML (line 2)"),
        (
            "hooks = [{event = \"Stop\", command = \"x\"}]\n",
            "write it as such",
        ),
        ("[hooks]\nStop = 1\n", "write it as such"),
    ] {
        std::fs::write(&file, text).unwrap();
        for word in ["install", "check"] {
            hooks(word, &[])
                .fails(3, "hooks_file")
                .says(why)
                .says("config.toml");
        }
        assert_eq!(found().as_deref(), Some(text));
    }
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    hooks("install", &[])
        .fails(3, "hooks_file")
        .says("config.toml");
}

/// A file where a home, or the agent's directory in it, belongs.
#[test]
fn a_home_that_cannot_be_written_is_named_and_nothing_is_left() {
    let repo = Repo::set_up();
    let file = repo.beside("no-home");
    std::fs::write(&file, "").unwrap();
    for agent in ["cline", "codex", "kimi", "pi"] {
        let mut command = repo.cook_command(&["hooks", "install", agent]);
        command.env("HOME", &file);
        let told = run(command, b"");
        assert_eq!(told.code, 3, "{agent}: {told:?}");
        assert!(told.err.contains("no-home/."), "{agent}: {told:?}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}
