//! `cook attest`: statements follow in-toto's published fields and say only what passed; `cook attest
//! verify` believes nothing but what a listed key signed, and `ssh-keygen` alone comes to the same.

use crate::support::{NOW, Repo, Run, run, run_alone};
use crate::verify::job::make_finished;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub fn has_ssh_keygen(repo: &Repo) -> bool {
    let is_here = repo.command("ssh-keygen").arg("-?").output().is_ok();
    if !is_here {
        println!("skipped: no ssh-keygen here");
    }
    is_here
}

/// A key of that name beside the repository; its public half.
pub fn make_key(repo: &Repo, name: &str) -> String {
    let file = repo.beside(name);
    let mut make = repo.command("ssh-keygen");
    make.args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"]);
    run_alone(make.arg(&file)).ok();
    std::fs::read_to_string(file.with_extension("pub")).unwrap()
}

/// A list of signers beside the repository.
fn write_list(repo: &Repo, name: &str, text: &str) -> String {
    let file = repo.beside(name);
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

fn sign_with(repo: &Repo, key: &str) {
    repo.git(&["config", "gpg.format", "ssh"]);
    let key = repo.beside(key).display().to_string();
    repo.git(&["config", "user.signingkey", &key]);
}

/// Where statements are written: beside the repository.
fn target(repo: &Repo, name: &str) -> (PathBuf, String) {
    let file = repo.beside(name);
    let text = file.display().to_string();
    (file, text)
}

/// A finished job, its key `one` on the list, and what it attests, signed.
struct Attested {
    repo: Repo,
    /// Files: what was signed, the list.
    file: String,
    list: String,
}

impl Attested {
    fn new() -> Option<Self> {
        let repo = make_finished();
        if !has_ssh_keygen(&repo) {
            return None;
        }
        let public = make_key(&repo, "one");
        let line = format!("one@example.org namespaces=\"cook\" {public}");
        let list = write_list(&repo, "signers", &line);
        sign_with(&repo, "one");
        let (_, file) = target(&repo, "a.intoto.jsonl");
        repo.cook(&["attest", "--sign", "--yes", "--out", &file])
            .ok();
        Some(Self { repo, file, list })
    }

    fn read(&self, file: &str, list: &str, more: &[&str]) -> Run {
        let words = ["attest", "verify", file, "--allowed-signers", list];
        self.repo.cook(&[&words, more].concat())
    }

    /// The envelopes.
    fn envelopes(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.file).unwrap();
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// What is answered about a file of these lines.
    fn reads(&self, lines: &[String]) -> Run {
        let (file, name) = target(&self.repo, "other.intoto.jsonl");
        std::fs::write(file, lines.join("\n")).unwrap();
        self.read(&name, &self.list, &[])
    }

    /// The payload as it would be signed by `key`, for the namespace, in an envelope.
    fn sign(&self, payload: &[u8], key: &str, namespace: &str, armored: bool) -> Value {
        let kind = "application/vnd.in-toto+json";
        let head = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len());
        let mut sign = self.repo.command("ssh-keygen");
        sign.args(["-q", "-Y", "sign", "-n", namespace, "-f"]);
        sign.arg(self.repo.beside(key));
        let signature = run(&mut sign, [head.as_bytes(), payload].concat()).ok().out;
        let inner: String = signature
            .lines()
            .filter(|line| !line.starts_with('-'))
            .collect();
        let sig = if armored { signature } else { inner };
        json!({"payload": base64(payload), "payloadType": kind, "signatures": [{"sig": sig}]})
    }
}

fn base64(bytes: &[u8]) -> String {
    let mut encode = std::process::Command::new("base64");
    run(encode.arg("-w0"), bytes).ok().out
}

fn decode(text: &str) -> Vec<u8> {
    let mut decode = std::process::Command::new("base64");
    run(decode.arg("-d"), text).ok().out.into_bytes()
}

/// Runs the lines that are printed with the tools that they name: the payload that they take out, none
/// where there is no jq.
#[track_caller]
fn check_by_hand(repo: &Repo, answer: &Value) -> Option<Vec<u8>> {
    if repo.command("jq").arg("--version").output().is_err() {
        println!("skipped: no jq here");
        return None;
    }
    let lines = answer["by_hand"].as_array().unwrap().iter();
    let lines: Vec<&str> = lines.map(|it| it.as_str().unwrap()).collect();
    let empty = repo.outside().join("by-hand");
    std::fs::create_dir_all(&empty).unwrap();
    let mut shell = repo.command("bash");
    shell.args(["-euo", "pipefail", "-c", &lines.join("\n")]);
    run_alone(shell.current_dir(&empty))
        .ok()
        .says("Good \"cook\" signature for one@example.org");
    Some(std::fs::read(empty.join("payload.json")).unwrap())
}

/// An answer in JSON follows its published schema.
#[track_caller]
fn is_answer(name: &str, answer: &Value) {
    let name = format!("protocol/schema/output-{name}.schema.json");
    let schema = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    let schema = jsonschema::draft202012::new(&serde_json::from_str(&schema).unwrap()).unwrap();
    let errors: Vec<String> = schema
        .iter_errors(answer)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}\n{answer:#}");
}

/// The statements of unsigned lines, after they were held to what in-toto publishes.
#[track_caller]
fn statements(text: &str) -> Vec<Value> {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/schemas/in-toto.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let lines = text.lines();
    let all: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for statement in &all {
        let errors: Vec<String> = validator
            .iter_errors(statement)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}\n{statement:#}");
        // It can fail.
        for (place, value) in [
            ("/_type", json!("x")),
            ("/subject/0/digest/gitCommit", json!("HEAD")),
            (
                "/predicateType",
                json!("https://in-toto.io/attestation/svr/v0.1"),
            ),
            ("/predicate", json!({})),
        ] {
            let mut wrong = statement.clone();
            *wrong.pointer_mut(place).unwrap() = value;
            assert!(!validator.is_valid(&wrong), "{place}");
        }
    }
    all
}

fn properties(statement: &Value) -> Vec<&str> {
    let all = statement["predicate"]["properties"].as_array().unwrap();
    all.iter().map(|one| one.as_str().unwrap()).collect()
}

#[test]
fn a_passed_verification_is_two_statements_of_what_in_toto_publishes() {
    let repo = make_finished();
    let said = repo.cook(&["attest"]).ok().out;
    let all = statements(&said);
    let [verified, tested] = &all[..] else {
        panic!("{said}")
    };
    let commit = repo.git(&["rev-parse", "HEAD"]);
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    let subject = json!([
        {"name": "commit", "digest": {"gitCommit": commit}},
        {"name": "tree", "digest": {"gitTree": tree}},
    ]);
    for statement in &all {
        assert_eq!(statement["subject"], subject);
    }
    let blob = |path: &str| {
        let id = repo.git(&["rev-parse", &format!("HEAD:{path}")]);
        json!({"name": path, "digest": {"gitBlob": id}})
    };
    let predicate = &verified["predicate"];
    assert_eq!(predicate["verifier"]["id"], "urn:cook:verify:1");
    assert_eq!(predicate["timeCreated"], NOW);
    let policies = [
        ".agent/README.md",
        ".agent/cook.toml",
        ".agent/mission.md",
        ".agent/profile.json",
        ".agent/verify_completion_control_plane.sh",
        ".agent/verify_completion_stop.sh",
    ];
    assert_eq!(
        predicate["verifier"]["policies"],
        Value::from(policies.map(blob).to_vec())
    );
    let tip = repo.cook(&["log", "--json"]).ok().json();
    let tip = tip["worktrees"][0]["transitions"][0]["operation"].clone();
    assert_eq!(predicate["cook_log"], json!({"digest": {"gitCommit": tip}}));
    // Nothing ran again.
    let without_rerun = ["COOK_DONE", "COOK_VOTES_RECORDED_3_OF_3"];
    assert_eq!(properties(verified), without_rerun);
    assert_eq!(
        tested["predicate"],
        json!({
            "result": "PASSED",
            "configuration": [blob(".agent/cook.toml"), blob("check.sh")],
            "passedTests": ["check"],
            "warnedTests": [],
            "failedTests": [],
        })
    );
    // The same each time, byte for byte, in the order in which in-toto shows the fields.
    assert_eq!(repo.cook(&["attest"]).ok().out, said);
    assert!(
        said.starts_with("{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":")
    );
    let again = repo.cook(&["attest", "--rerun"]).ok().out;
    assert_eq!(
        properties(&statements(&again)[0]),
        [
            "COOK_DONE",
            "COOK_GATES_REPRODUCED",
            "COOK_CRITERIA_REPRODUCED",
            "COOK_VOTES_RECORDED_3_OF_3"
        ]
    );
}

#[test]
fn what_is_signed_is_read_and_checked_without_cook_too() {
    let Some(attested) = Attested::new() else {
        return;
    };
    let repo = &attested.repo;
    let answer = attested.read(&attested.file, &attested.list, &[]).ok();
    let commit = repo.git(&["rev-parse", "HEAD"]);
    for part in [
        "by one@example.org with SHA256:",
        &commit,
        "COOK_DONE COOK_VOTES_RECORDED_3_OF_3",
        "ssh-keygen -Y verify -f ",
    ] {
        assert!(answer.out.contains(part), "{part}: {}", answer.out);
    }
    let json = attested
        .read(&attested.file, &attested.list, &["--json"])
        .ok()
        .json();
    is_answer("attested", &json);
    assert_eq!(json["signer"], "one@example.org");
    assert_eq!(json["gates"], json!(["check"]));
    let envelopes = attested.envelopes();
    assert_eq!(envelopes.len(), 2);
    for envelope in &envelopes {
        assert_eq!(envelope["payloadType"], "application/vnd.in-toto+json");
        assert_eq!(envelope["signatures"][0]["keyid"], json["key"]);
        let sig = decode_bytes(envelope["signatures"][0]["sig"].as_str().unwrap());
        assert!(sig.starts_with(b"SSHSIG"), "the binary form");
        let payload = decode(envelope["payload"].as_str().unwrap());
        statements(std::str::from_utf8(&payload).unwrap());
    }
    let Some(payload) = check_by_hand(repo, &json) else {
        return;
    };
    assert_eq!(statements(std::str::from_utf8(&payload).unwrap()).len(), 1);
    // Somewhere else, where the commit is known by its id alone.
    let mut elsewhere = repo.cook_command(&[
        "attest",
        "verify",
        &attested.file,
        "--allowed-signers",
        &attested.list,
        "--commit",
        &commit,
    ]);
    run_alone(elsewhere.current_dir(repo.outside().join("by-hand")))
        .ok()
        .says("not compared");
}

fn decode_bytes(text: &str) -> Vec<u8> {
    use std::io::Write;
    let mut decode = std::process::Command::new("base64");
    let mut child = decode
        .arg("-d")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap().stdout
}

#[test]
fn only_a_listed_key_counts_now_and_for_this_purpose() {
    let Some(attested) = Attested::new() else {
        return;
    };
    let repo = &attested.repo;
    let one = std::fs::read_to_string(repo.beside("one.pub")).unwrap();
    let other = make_key(repo, "other");
    let refused = |line: &str, code: &str| {
        let list = write_list(repo, "list", line);
        attested.read(&attested.file, &list, &[]).fails(1, code);
    };
    refused(&format!("other@example.org {other}"), "signer_not_listed");
    refused("", "signer_not_listed");
    refused("\0\u{1b}[2J not a list\n", "signer_not_listed");
    refused(
        &format!("one@example.org namespaces=\"git\" {one}"),
        "signer_not_listed",
    );
    refused(
        &format!("one@example.org namespaces=\"cook\",valid-before=\"20200101\" {one}"),
        "signer_out_of_time",
    );
    refused(
        &format!("one@example.org namespaces=\"cook\",valid-after=\"20990101\" {one}"),
        "signer_out_of_time",
    );
    let payload = decode(attested.envelopes()[0]["payload"].as_str().unwrap());
    for (key, namespace, armored, code) in [
        ("one", "cook", false, None),
        ("one", "cook", true, None),
        ("one", "git", false, Some("signature_namespace")),
        ("one", "file", true, Some("signature_namespace")),
        ("other", "cook", false, Some("signer_not_listed")),
    ] {
        let line = attested.sign(&payload, key, namespace, armored).to_string();
        let read = attested.reads(&[line]);
        match code {
            None => {
                read.ok().says("by one@example.org");
                let (_, name) = target(&attested.repo, "other.intoto.jsonl");
                let json = attested.read(&name, &attested.list, &["--json"]).ok();
                check_by_hand(&attested.repo, &json.json());
            }
            Some(code) => drop(read.fails(1, code)),
        }
    }
    // Of several signatures one that counts is enough, wherever it stands.
    let mut both = attested.sign(&payload, "other", "cook", false);
    let good = attested.envelopes()[0]["signatures"][0].clone();
    both["signatures"].as_array_mut().unwrap().push(good);
    attested.reads(&[both.to_string()]).ok();
    let (_, name) = target(&attested.repo, "other.intoto.jsonl");
    let json = attested.read(&name, &attested.list, &["--json"]).ok();
    check_by_hand(&attested.repo, &json.json());
    attested
        .read(&attested.file, "nowhere", &[])
        .fails(3, "input_unreadable");
}

#[test]
fn what_was_not_signed_as_it_stands_is_refused_by_its_name() {
    let Some(attested) = Attested::new() else {
        return;
    };
    let repo = &attested.repo;
    let good = attested.envelopes();
    let edited = |change: &dyn Fn(&mut Value)| {
        let mut envelope = good[0].clone();
        change(&mut envelope);
        vec![envelope.to_string()]
    };
    let payload = decode(good[0]["payload"].as_str().unwrap());
    let text = String::from_utf8(payload.clone()).unwrap();
    let signed = |text: &str| {
        vec![
            attested
                .sign(text.as_bytes(), "one", "cook", false)
                .to_string(),
        ]
    };
    let whole = good[0].to_string();
    let other_commit = "0".repeat(40);
    let commit = repo.git(&["rev-parse", "HEAD"]);
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    let cases: Vec<(&str, Vec<String>, &str)> = vec![
        ("nothing", vec![], "attestation_empty"),
        (
            "blank lines",
            vec!["  ".into(), String::new()],
            "attestation_empty",
        ),
        (
            "a statement alone",
            vec![text.clone()],
            "attestation_unsigned",
        ),
        (
            "an envelope without a signature",
            edited(&|it| it["signatures"] = json!([])),
            "attestation_unsigned",
        ),
        (
            "two payloads",
            vec![whole.replacen('{', &format!("{{\"payload\":\"{}\",", base64(b"{}")), 1)],
            "attestation_ambiguous",
        ),
        (
            "two types",
            vec![whole.replacen('{', "{\"payloadType\":\"text/plain\",", 1)],
            "attestation_ambiguous",
        ),
        (
            "a key twice in what was signed",
            signed(&text.replacen(
                "\"predicateType\"",
                "\"predicateType\":\"x\",\"predicateType\"",
                1,
            )),
            "attestation_ambiguous",
        ),
        (
            "one statement twice",
            vec![whole.clone(), whole.clone()],
            "attestation_ambiguous",
        ),
        (
            "another type of payload",
            edited(&|it| it["payloadType"] = json!("text/plain")),
            "attestation_type",
        ),
        (
            "another statement",
            signed("{\"_type\":\"https://in-toto.io/Statement/v0.1\"}"),
            "attestation_type",
        ),
        (
            "another predicate",
            signed(&text.replace("svr/v0.2", "svr/v0.1")),
            "attestation_type",
        ),
        (
            "another verifier",
            signed(&text.replace("urn:cook:verify:1", "urn:cook:verify:2")),
            "attestation_type",
        ),
        (
            "another payload",
            edited(&|it| {
                it["payload"] = json!(base64(text.replace("3_OF_3", "9_OF_9").as_bytes()))
            }),
            "signature_invalid",
        ),
        (
            "a payload that is not base64",
            edited(&|it| it["payload"] = json!("%%%")),
            "attestation_malformed",
        ),
        (
            "a signature that is not base64",
            edited(&|it| it["signatures"][0]["sig"] = json!("%%%")),
            "attestation_malformed",
        ),
        (
            "a signature that is none",
            edited(&|it| it["signatures"][0]["sig"] = json!(base64(b"SSHSIG\0\0\0\x01\xff"))),
            "signature_invalid",
        ),
        (
            "no JSON",
            vec!["\u{1b}[2J{".into()],
            "attestation_malformed",
        ),
        ("another shape", vec!["[1]".into()], "attestation_malformed"),
        (
            "what is deeply nested",
            vec!["[".repeat(100_000)],
            "attestation_malformed",
        ),
        (
            "many lines",
            vec![whole.clone(); 17],
            "attestation_malformed",
        ),
        (
            "what claims nothing",
            signed(&text.replace("COOK_DONE", "COOK_WANTED")),
            "attestation_malformed",
        ),
        (
            "no verification",
            vec![good[1].to_string()],
            "attestation_malformed",
        ),
        (
            "another commit",
            signed(&text.replacen(&commit, &other_commit, 1)),
            "attestation_other_commit",
        ),
        (
            "another tree",
            signed(&text.replacen(&tree, &other_commit, 1)),
            "attestation_other_commit",
        ),
        (
            "no commit",
            signed(&text.replacen("gitCommit", "gitTag", 1)),
            "attestation_other_commit",
        ),
        (
            "no tree",
            signed(&text.replacen("gitTree", "gitBlob", 1)),
            "attestation_other_commit",
        ),
    ];
    for (name, lines, code) in cases {
        let read = attested.reads(&lines);
        assert!(
            read.err.contains(&format!("error[{code}]")),
            "{name}: {}{}",
            read.out,
            read.err
        );
        assert!(
            !read.err.contains('\u{1b}') && read.err.len() < 2000,
            "{name}: {}",
            read.err
        );
        read.fails(1, code);
    }
    // A line that tampered with what is signed is not saved by the others.
    let broken = edited(&|it| it["payload"] = json!(base64(b"{}")));
    attested
        .reads(&[good[0].to_string(), broken[0].clone()])
        .fails(1, "signature_invalid");
    attested
        .read(&attested.file, &attested.list, &["--commit", "HEAD^"])
        .fails(1, "attestation_other_commit");
    attested
        .read(&attested.file, &attested.list, &["--commit", "nothing"])
        .fails(2, "commit_unknown");
    let large = repo.beside("large");
    let file = std::fs::File::create(&large).unwrap();
    file.set_len(100 << 20).unwrap();
    attested
        .read(large.to_str().unwrap(), &attested.list, &[])
        .fails(3, "input_too_large");
    let mut command = repo.cook_command(&[
        "attest",
        "verify",
        &attested.file,
        "--allowed-signers",
        &attested.list,
    ]);
    let git = repo.outside();
    std::os::unix::fs::symlink("/usr/bin/git", git.join("git")).unwrap();
    run_alone(command.env("PATH", &git)).fails(3, "ssh_keygen_missing");
}

#[test]
fn it_signs_with_the_key_that_git_signs_with_for_a_person() {
    let repo = make_finished();
    if !has_ssh_keygen(&repo) {
        return;
    }
    let sign = ["attest", "--sign", "--yes"];
    repo.cook(&sign)
        .fails(3, "signing_format")
        .says("`openpgp`");
    repo.git(&["config", "gpg.format", "x509"]);
    repo.cook(&sign).fails(3, "signing_format").says("`x509`");
    repo.git(&["config", "gpg.format", "ssh"]);
    repo.cook(&sign).fails(3, "signing_key_missing");
    repo.git(&["config", "user.signingkey", "/nowhere/key"]);
    repo.cook(&sign)
        .fails(3, "signing_key_missing")
        .says("/nowhere/key");
    let not_a_key = repo.beside("not-a-key");
    std::fs::write(&not_a_key, "no key\n").unwrap();
    repo.git(&["config", "user.signingkey", not_a_key.to_str().unwrap()]);
    repo.cook(&sign).fails(3, "signing_failed");
    // One that no agent holds.
    let public = make_key(&repo, "one");
    for literal in [format!("key::{}", public.trim()), public.trim().to_owned()] {
        repo.git(&["config", "user.signingkey", &literal]);
        repo.cook(&sign).fails(3, "signing_failed");
    }
    sign_with(&repo, "one");
    // A program of the repository's choosing is not the one that signs.
    repo.git(&["config", "gpg.ssh.program", "/bin/false"]);
    let said = repo.cook(&[&sign[..], &["--json"]].concat()).ok().json();
    is_answer("attest", &said);
    assert!(said["key"].as_str().unwrap().starts_with("SHA256:"));
    // An agent does not sign in a person's name.
    repo.cook(&["attest", "--sign"]).expect_refused("user_only");
    let mut command = repo.cook_command(&sign);
    run(command.env("CLAUDECODE", "1"), "").expect_refused("user_only");
}
