//! Logs that cook would not write: each is refused before anything of it is kept.

use crate::remote::{LOG, Shared, standing};
use crate::support::run_alone;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::{Digest, Sha1};
use std::io::Write;

/// Makes a commit of these entries in the bare repository and lets the log's ref point at it.
struct Forge<'s> {
    shared: &'s Shared,
    /// The log as it was.
    good: String,
}

impl Forge<'_> {
    fn input(&self, args: &[&str], input: &str) -> String {
        let mut command = self.shared.first.command("git");
        command.arg("--git-dir").arg(&self.shared.bare).args(args);
        crate::support::run(command, input)
            .ok()
            .out
            .trim()
            .to_owned()
    }

    fn blob(&self, text: &str) -> String {
        self.input(&["hash-object", "-w", "--stdin"], text)
    }

    fn tree(&self, lines: &str) -> String {
        self.input(&["mktree"], lines)
    }

    /// Entries of the tip's tree.
    fn lines(&self) -> String {
        self.shared.git(&["ls-tree", &self.good]) + "\n"
    }

    fn commit(&self, tree: &str, parents: &[&str], seq: &str) -> String {
        let message = self.shared.git(&["log", "-1", "--format=%B", &self.good]);
        let message = message.trim_end().to_owned() + "\n";
        let message = match seq {
            "" => message,
            seq => {
                let (before, _) = message.rsplit_once("Cook-Seq: ").unwrap();
                format!("{before}Cook-Seq: {seq}\n")
            }
        };
        let whose = self.whose();
        let parents: String = parents.iter().map(|id| format!("parent {id}\n")).collect();
        self.write_commit(&format!("tree {tree}\n{parents}{whose}\n\n{message}"))
    }

    /// Author and committer of the tip, as cook writes them.
    fn whose(&self) -> String {
        let good = self.shared.git(&["cat-file", "commit", &self.good]);
        let (head, _) = good.split_once("\n\n").unwrap();
        let is_whose = |line: &&str| line.starts_with("author ") || line.starts_with("committer ");
        let lines: Vec<&str> = head.lines().filter(is_whose).collect();
        lines.join("\n")
    }

    fn write_commit(&self, commit: &str) -> String {
        self.input(&["hash-object", "-t", "commit", "-w", "--stdin"], commit)
    }

    /// The parent of the tip.
    fn parent(&self) -> String {
        self.shared.git(&["rev-parse", &format!("{}^", self.good)])
    }

    fn point(&self, commit: &str) {
        self.shared.git(&["update-ref", LOG, commit]);
    }

    /// The tip with another tree.
    fn with(&self, lines: &str) {
        let commit = self.commit(&self.tree(lines), &[&self.parent()], "");
        self.point(&commit);
    }
}

impl Forge<'_> {
    /// Lets the ref point at the tip with that file edited.
    #[track_caller]
    fn edit(&self, file: &str, from: &str, to: &str) {
        let text = self.shared.git(&["show", &format!("{}:{file}", self.good)]) + "\n";
        assert!(text.contains(from), "{file}: {text}");
        let blob = self.blob(&text.replace(from, to));
        let entries = self.lines();
        let entries = entries
            .lines()
            .map(|line| match line.ends_with(&format!("\t{file}")) {
                true => format!("100644 blob {blob}\t{file}\n"),
                false => format!("{line}\n"),
            });
        self.with(&entries.collect::<String>());
    }
}

fn with_forge(act: impl FnOnce(&Forge<'_>, &dyn Fn(&str, &str))) {
    let shared = Shared::make_pushed();
    shared.first.cook(&["pause", "a rest", "--as-user"]).ok();
    shared.first.cook(&["push"]).ok();
    let forge = Forge {
        good: shared.at(LOG),
        shared: &shared,
    };
    let fresh = shared.another(2);
    let refused = |what: &str, says: &str| {
        let before = standing(&fresh);
        let run = fresh.cook(&["pull"]);
        assert!(
            run.err.contains("[remote_log_refused]"),
            "{what}: {}{}",
            run.out,
            run.err
        );
        assert!(run.err.contains(says), "{what}: {}", run.err);
        assert_eq!(standing(&fresh), before, "{what}");
        assert!(!fresh.root.join(".git/cook-id").exists(), "{what}");
        forge.point(&forge.good);
    };
    act(&forge, &refused);
    fresh.cook(&["pull"]).ok();
    fresh.cook(&["verify", "control-plane"]).ok();
}

#[test]
fn trees_that_cook_would_not_write_are_refused() {
    with_forge(|forge, refused| {
        let lines = forge.lines();
        let blob = forge.blob("x\n");
        let inner = forge.tree(&format!("100644 blob {blob}\tx.json\n"));
        let deep = forge.tree(&format!("040000 tree {inner}\treceipts\n"));
        for (what, line, says) in [
            (
                "a case pair",
                format!("100644 blob {blob}\tEvent.json"),
                "no place in the format",
            ),
            (
                "a name of no file",
                format!("100644 blob {blob}\tnotes.txt"),
                "no place in the format",
            ),
            (
                "a reserved name",
                format!("100644 blob {blob}\tCON"),
                "no place in the format",
            ),
            (
                "a backslash",
                format!("100644 blob {blob}\ta\\b"),
                "no place in the format",
            ),
            (
                "a direction",
                format!("100644 blob {blob}\ta\u{202e}b"),
                "no place in the format",
            ),
            (
                "a symlink",
                format!("120000 blob {blob}\tbrief.json"),
                "no place in the format",
            ),
            (
                "a program",
                format!("100755 blob {blob}\tbrief.json"),
                "no place in the format",
            ),
            (
                "a folder for a file",
                format!("040000 tree {inner}\tbrief.json"),
                "no place in the format",
            ),
            (
                "a file for a folder",
                format!("100644 blob {blob}\treceipts"),
                "no place in the format",
            ),
            (
                "a folder in a folder",
                format!("040000 tree {deep}\treceipts"),
                "no place in the format",
            ),
            (
                "a receipt that is none",
                format!("040000 tree {inner}\treceipts"),
                "no place in the format",
            ),
            (
                "a git directory",
                format!("040000 tree {inner}\t.git"),
                "log_refused",
            ),
        ] {
            forge.with(&format!("{lines}{line}\n"));
            refused(what, says);
        }
        let submodule = format!("{lines}160000 commit {}\tbrief.json\n", forge.good);
        forge.with(&submodule);
        refused("a submodule", "no place in the format");
        let lacking: String = lines
            .lines()
            .filter(|line| !line.ends_with("\tplan.json"))
            .map(|line| format!("{line}\n"))
            .collect();
        forge.with(&lacking);
        refused("a document that is missing", "");
    });
}

#[test]
fn chains_that_cook_would_not_write_are_refused() {
    with_forge(|forge, refused| {
        let tree = forge
            .shared
            .git(&["rev-parse", &format!("{}^{{tree}}", forge.good)]);
        let parent = forge.parent();
        let other = forge.commit(&tree, &[], "1");
        forge.point(&forge.commit(&tree, &[&parent, &other], ""));
        refused("a second parent", "more than one parent");
        forge.point(&forge.commit(&tree, &[], ""));
        refused("a second root", "has a parent where");
        forge.point(&forge.commit(&tree, &[&parent], "3"));
        refused("a number that was left out", "is not the one before");
        forge.point(&forge.commit(&tree, &[&parent], "1"));
        refused("a number twice", "");
        let plain = forge.input(&["commit-tree", &tree, "-p", &parent], "no transition\n");
        forge.point(&plain);
        refused("a commit of somebody's", "is not a transition");
        forge.point(&forge.shared.at("refs/heads/main"));
        refused("the branch itself", "");
    });
}

/// Nobody shows a transition as somebody else's, or with words that cook did not write.
#[test]
fn a_commit_with_another_author_or_other_words_is_refused() {
    with_forge(|forge, refused| {
        let good = forge.shared.git(&["cat-file", "commit", &forge.good]) + "\n";
        let whose = forge.whose();
        let (author, committer) = whose.split_once('\n').unwrap();
        let time = author.rsplit(' ').nth(1).unwrap().to_owned();
        let cases = [
            ("an author", author, author.replace("cook <", "The Boss <")),
            (
                "a committer",
                committer,
                committer.replace("@localhost", "@example.org"),
            ),
            ("an author's time", author, author.replace(&time, "1")),
            ("a zone", committer, committer.replace("+0000", "+0100")),
            (
                "a line",
                "Cook-Seq: ",
                "Reviewed-by: the boss\nCook-Seq: ".to_owned(),
            ),
        ];
        for (what, from, to) in cases {
            assert!(good.contains(from), "{what}: {good}");
            forge.point(&forge.write_commit(&good.replacen(from, &to, 1)));
            refused(what, "its author, committer or message");
        }
        forge.point(&forge.write_commit(&(good.clone() + "\nReviewed-by: the boss\n")));
        refused("a text below", "its author, committer or message");
    });
}

#[test]
fn what_its_events_do_not_produce_is_refused() {
    with_forge(|forge, refused| {
        for (file, from, to) in [
            ("state.json", "\"paused\"", "\"done\""),
            ("event.json", "a rest", "a test"),
            ("event.json", "\"a rest\"", "\"a rest\", \"surprise\": true"),
            ("event.json", "\"actor\": \"script\"", "\"actor\": \"role\""),
            ("counters.json", "\"steps\": 0", "\"steps\": 7"),
            ("format", "4", "04"),
        ] {
            forge.edit(file, from, to);
            refused(file, "");
        }
    });
}

/// `cook doctor fsck`, which the code for a log that is here names, would find nothing wrong.
#[test]
fn a_fetched_log_that_cannot_be_read_is_the_remotes() {
    with_forge(|forge, refused| {
        let why = "\"a rest\"";
        forge.edit("event.json", why, &format!("{why}, \"surprise\": true"));
        let clone = forge.shared.another(3);
        for base in [&[][..], &["--base", "origin/main"]] {
            let asked = [&["verify", "--from", "origin"], base].concat();
            clone
                .cook(&asked)
                .fails(3, "remote_log_refused")
                .says("the log of `origin`");
        }
        refused("event.json", "the log of `origin`");
    });
}

#[test]
fn what_would_unfold_to_more_than_is_read_is_refused_by_its_header() {
    with_forge(|forge, refused| {
        let large = "0".repeat(5 << 20);
        for (file, text) in [
            ("plan.json", large.clone()),
            ("event.json", large.repeat(13)),
        ] {
            let blob = forge.blob(&text);
            let lines: String = forge
                .lines()
                .lines()
                .map(|line| match line.ends_with(&format!("\t{file}")) {
                    true => format!("100644 blob {blob}\t{file}\n"),
                    false => format!("{line}\n"),
                })
                .collect();
            forge.with(&lines);
            refused(file, "bytes, and");
        }
    });
}

#[test]
fn replacements_of_the_remote_replace_nothing_here() {
    let shared = Shared::make_pushed();
    shared.first.cook(&["pause", "a rest", "--as-user"]).ok();
    shared.first.cook(&["push"]).ok();
    let good = shared.at(LOG);
    let first = shared.git(&["rev-parse", &format!("{good}^")]);
    shared.git(&["replace", &good, &first]);
    shared.git(&["update-ref", LOG, &good]);
    let fresh = shared.another(2);
    fresh.git(&["fetch", "-q", "origin", "+refs/replace/*:refs/replace/*"]);
    fresh.cook(&["pull"]).ok().says("pulled #2");
    fresh.cook(&["doctor", "fsck"]).ok().says("2 transitions");
    // A graft says of a commit that it has no parent, wherever it lies.
    let grafted = shared.another(3);
    grafted.write(".git/info/grafts", format!("{good}\n"));
    grafted.cook(&["pull"]).ok().says("pulled #2");
    grafted.cook(&["doctor", "fsck"]).ok().says("2 transitions");
    shared.set("advice.graftFileDeprecated", "false");
    std::fs::write(shared.bare.join("info/grafts"), format!("{good}\n")).unwrap();
    let other = shared.another(4);
    let before = standing(&other);
    let pull = other.cook(&["pull"]);
    match pull.code {
        0 => other.cook(&["doctor", "fsck"]).ok().says("2 transitions"),
        _ => {
            assert_eq!(standing(&other), before);
            pull.exits(3)
        }
    };
}

/// More transitions than are read, each one small: it ends within a time, and nothing is kept.
#[test]
#[ignore = "takes minutes; proofs/long-log.sh runs it, optimized"]
fn a_log_of_a_million_transitions_is_ended() {
    let shared = Shared::make_pushed();
    let forge = Forge {
        good: shared.at(LOG),
        shared: &shared,
    };
    let tree = forge
        .shared
        .git(&["rev-parse", &format!("{}^{{tree}}", forge.good)]);
    let path = shared.first.beside("stream");
    let mut stream = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    let last = 1_000_001;
    for seq in 1..=last {
        let message = format!(
            "paused: x\n\nCook-Event: paused\nCook-Rule: S\nCook-Actor: user\nCook-Seq: {seq}\n"
        );
        let from = match seq {
            1 => String::new(),
            _ => format!("from :{}\n", seq - 1),
        };
        writeln!(
            stream,
            "commit refs/heads/many\nmark :{seq}\ncommitter cook <cook@localhost> 1767225600 +0000\ndata {}\n{message}{from}M 040000 {tree} \n",
            message.len()
        )
        .unwrap();
    }
    drop(stream);
    let mut import = shared.first.command("git");
    import.arg("--git-dir").arg(&shared.bare);
    import.args(["fast-import", "--quiet", "--force"]);
    import.stdin(std::fs::File::open(&path).unwrap());
    assert!(import.status().unwrap().success());
    let many = shared.at("refs/heads/many");
    forge.point(&many);
    shared.git(&["update-ref", "-d", "refs/heads/many"]);
    let fresh = shared.another(2);
    let before = standing(&fresh);
    let started = std::time::Instant::now();
    let pull = fresh.cook(&["pull"]).exits(3);
    println!("{} s: {}", started.elapsed().as_secs(), pull.err);
    pull.says("remote_log_refused");
    assert_eq!(standing(&fresh), before);
    assert!(started.elapsed() < std::time::Duration::from_secs(600));
}

#[test]
fn a_log_of_a_newer_cook_is_called_new() {
    let shared = Shared::make_pushed();
    let forge = Forge {
        good: shared.at(LOG),
        shared: &shared,
    };
    let blob = forge.blob("5\n");
    let lines: String = forge
        .lines()
        .lines()
        .map(|line| match line.ends_with("\tformat") {
            true => format!("100644 blob {blob}\tformat\n"),
            false => format!("{line}\n"),
        })
        .collect();
    let commit = forge.commit(&forge.tree(&lines), &[], "");
    forge.point(&commit);
    let fresh = shared.another(2);
    fresh.cook(&["pull"]).fails(3, "log_too_new");
}

/// A pack of a few kilobytes, one delta of which unfolds to a gigabyte, is ended by the memory that
/// git may take. Run by hand: the remote needs that memory once.
#[test]
#[ignore = "takes a gigabyte of memory"]
fn a_delta_that_unfolds_to_a_gigabyte_is_ended() {
    let shared = Shared::make_pushed();
    let forge = Forge {
        good: shared.at(LOG),
        shared: &shared,
    };
    // A clone that was made later would hold the objects already.
    let fresh = shared.another(2);
    let base = vec![0; 16 << 20];
    let pack = delta_pack(&base, 64);
    let mut unpack = shared.first.command("git");
    unpack.arg("--git-dir").arg(&shared.bare);
    crate::support::run(unpack.args(["index-pack", "--stdin"]), pack).ok();
    let lines = shared.git(&["cat-file", "--batch-check", "--batch-all-objects"]);
    let of_size = |size: u64| {
        let end = format!(" blob {size}");
        let line = lines.lines().find(|line| line.ends_with(&end)).unwrap();
        line.split(' ').next().unwrap().to_owned()
    };
    let (small, large) = (of_size(16 << 20), of_size(64 * 0xff_ffff));
    let lines: String = forge
        .lines()
        .lines()
        .map(|line| match line.rsplit_once('\t') {
            Some((_, "event.json")) => format!("100644 blob {large}\tevent.json\n"),
            Some((_, "plan.json")) => format!("100644 blob {small}\tplan.json\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let commit = forge.commit(&forge.tree(&lines), &[], "");
    forge.point(&commit);
    let before = standing(&fresh);
    let run = fresh.cook(&["pull"]);
    println!("{}", run.err);
    assert!(run.err.contains("[remote_log_refused]"), "{}", run.err);
    assert_eq!(standing(&fresh), before);
}

/// A pack of two blobs: one, and what that many copies of its beginning make.
fn delta_pack(base: &[u8], copies: usize) -> Vec<u8> {
    const COPIED: usize = 0xff_ffff;
    let length = |mut size: usize| {
        let mut bytes = Vec::new();
        while size > 0x7f {
            bytes.push((size & 0x7f) as u8 | 0x80);
            size >>= 7;
        }
        bytes.push(size as u8);
        bytes
    };
    let entry = |kind: u8, size: usize, name: &[u8], content: &[u8]| {
        let mut bytes = Vec::new();
        let (mut rest, mut byte) = (size >> 4, kind << 4 | (size & 15) as u8);
        while rest > 0 {
            bytes.push(byte | 0x80);
            byte = (rest & 0x7f) as u8;
            rest >>= 7;
        }
        bytes.push(byte);
        bytes.extend_from_slice(name);
        let mut deflate = ZlibEncoder::new(bytes, Compression::best());
        deflate.write_all(content).unwrap();
        deflate.finish().unwrap()
    };
    let mut delta = [length(base.len()), length(copies * COPIED)].concat();
    for _ in 0..copies {
        // From the beginning, three bytes of a length.
        delta.extend_from_slice(&[0xf0, 0xff, 0xff, 0xff]);
    }
    let name = git2::Oid::hash_object(git2::ObjectType::Blob, base).unwrap();
    let mut pack = b"PACK\0\0\0\x02\0\0\0\x02".to_vec();
    pack.extend(entry(3, base.len(), &[], base));
    pack.extend(entry(7, delta.len(), name.as_bytes(), &delta));
    let digest = Sha1::digest(&pack);
    pack.extend_from_slice(&digest);
    pack
}

#[test]
fn words_of_a_server_are_harmless() {
    let shared = Shared::make_pushed();
    let hook = shared.bare.join("hooks/pre-receive");
    std::fs::write(&hook, "#!/bin/sh\nprintf 'GH013: \\033[31mblocked\\033[0m\\007 https://u:hunter22@x/\\n'; exit 1\n").unwrap();
    run_alone(shared.first.command("chmod").arg("+x").arg(&hook)).ok();
    crate::remote::say(&shared.first, "more").ok();
    let run = shared
        .first
        .cook(&["push"])
        .fails(3, "remote_refused")
        .says("GH013: blocked");
    assert!(!run.err.contains('\u{1b}') && !run.err.contains('\u{7}'));
    assert!(!run.err.contains("hunter22"), "{}", run.err);
    run.says("remote_ref = ");
}

#[test]
fn exchanges_that_no_report_came_out_of_are_refused() {
    with_forge(|forge, refused| {
        let lines = forge.lines();
        let blob = forge.blob("{}\n");
        let hash = "a".repeat(64);
        for (name, says) in [
            ("ex_01ARZ3NDEKTSV4RRFFQ69G5FAV", "is not what its name says"),
            (hash.as_str(), "nothing cites"),
        ] {
            let folder = forge.tree(&format!("100644 blob {blob}\t{name}.json\n"));
            forge.with(&format!("{lines}040000 tree {folder}\texchanges\n"));
            refused(name, says);
        }
    });
}

/// A listing is kept whole in memory by git itself.
#[cfg(target_os = "linux")]
#[test]
fn a_server_that_lists_refs_without_end_fills_no_memory() {
    let shared = Shared::make_pushed();
    let second = shared.another(2);
    let script = second.beside("flood.sh");
    // A packet with a long name, over and over: 1.5 GB, which would be a listing like any.
    std::fs::write(
        &script,
        r#"awk 'BEGIN {
    ORS = ""
    pad = "x"; while (length(pad) < 32768) pad = pad pad
    for (n = 100000; n < 146000; n++) {
        line = "1111111111111111111111111111111111111111 refs/heads/" n pad "\n"
        printf "%04x", length(line) + 4
        print line
    }
    printf "0000"
}'
"#,
    )
    .unwrap();
    let program = format!("sh {}", script.display());
    second.git(&["config", "remote.origin.uploadpack", &program]);
    second
        .cook(&["pull"])
        .fails(3, "remote_unreachable")
        .says("emory");
}
