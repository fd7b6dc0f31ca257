//! Verification results as in-toto statements, to be used outside of this repository: creating, signing and reading
//! them.
//!
//! The formats are those of in-toto (Statement v1, SVR v0.2, Test Result v0.1) and DSSE; `docs/attest.md` names each
//! source.

use crate::anchor::Anchor;
use crate::init::SETTINGS;
use crate::judges::{Judged, find_verdicts};
use crate::prelude::*;
use crate::service;
use crate::signature::{self, Blob, Key, NAMESPACE, Signer, to_armor};
use crate::verify::{CommitStanding, Criterion, ProofVerdict, head_at};
use crate::workspace::Workspace;
use cook_protocol::diagnostic::harmless_json;
use cook_protocol::machine::list_votes;
use cook_protocol::model::{CONTRACT_FILES, Place, SETTINGS_FILES};
use cook_protocol::schema;
use cook_repo::git::Entry;
use cook_repo::remote::Side;
use serde::de::DeserializeOwned;
use std::fmt::Write;

// Two statements from a successful verification: the properties that were verified, and the results of the gates.

/// This commit is proven done.
pub(super) const DONE: &str = "COOK_DONE";
/// Each required gate ran again at this commit, in a new clean room with empty caches.
const GATES: &str = "COOK_GATES_REPRODUCED";
/// The proof of each criterion was reproduced: commands ran again with the same result, and places in the code were
/// looked up.
const CRITERIA: &str = "COOK_CRITERIA_REPRODUCED";
/// The contract of a base branch decided, and this commit's contract does not require less.
const BASE: &str = "COOK_BASE_CONTRACT";

/// The list of permitted signers, if the contract has one.
const SIGNERS: &str = ".agent/allowed_signers";

/// The results of a successful verification.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    /// The commit, and how it relates to the proven one.
    pub commit: &'a CommitStanding,
    /// The verdict on the proof of each criterion.
    pub criteria: &'a [Criterion],
    /// The run of each gate at the commit.
    pub gates: &'a [GateRun],
    /// The branch that the statement names.
    pub branch: Option<&'a str>,
    /// The address of the CI run.
    pub url: Option<String>,
}

/// The statements that `cook attest` made about a commit.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Made {
    /// File of the statements; null if they are only in `lines`.
    pub file: Option<String>,
    /// Full ID of the commit that the statements are about.
    pub commit: String,
    /// Object ID of the tree of the commit.
    pub tree: String,
    /// Properties that were verified.
    pub properties: Vec<String>,
    /// Full ID of the commit of the newest transition in the log.
    pub log: String,
    /// Fingerprint of the signing key; null without a signature.
    pub key: Option<String>,
    /// Lines of the file, each of them JSON: the verified properties, then the test result.
    pub lines: Vec<String>,
}

/// Runs the gates of `cook.toml` in a clean room at HEAD, unless this verification has their receipts.
///
/// # Errors
/// As [`Workspace::run_gates`].
pub(crate) fn run_gates(workspace: &Workspace) -> Result<Vec<GateRun>> {
    let mut gates = workspace.config()?.gate_specs();
    gates.retain(|gate| gate.place == Place::CleanRoom);
    workspace.run_gates(&gates)
}

/// Creates the statements.
///
/// # Errors
/// A repository or a log that cannot be read.
pub(crate) fn make(workspace: &Workspace, found: &Found) -> Result<Made> {
    let standing = found.commit;
    let (tip, snapshot) = workspace.require()?;
    let (Some(commit), Some(done)) = (&standing.head.commit, &standing.done) else {
        let what = "the verification passed and names no commit";
        return Err(Failure::state(Code::FactMissing, what));
    };
    let tree = workspace.repo.find_tree(commit)?;
    let branch = found.branch.or(standing.head.branch.as_deref());
    let place = find_place(workspace, branch)?;
    let at = head_at(done);
    let votes = list_votes(&snapshot, &at).fold((0, 0), |(yes, all), vote| {
        (yes + u64::from(vote.can_stop), all + 1)
    });
    let required = found.gates.iter().filter(|run| run.gate.required);
    let reran = workspace.caches == Caches::Empty;
    let (gates, base) = ((reran, required.count()), workspace.judging.as_ref());
    let properties = properties(gates, found.criteria, votes, base.is_some());
    let subject = vec![
        Resource::new("gitCommit", commit).with_name(match (&place, branch) {
            (Some(place), Some(branch)) => format!("{place}@refs/heads/{}", escape_uri(branch)),
            (Some(place), None) => format!("{place}@{commit}"),
            (None, _) => "commit".to_owned(),
        }),
        Resource::new("gitTree", &tree).with_name("tree"),
    ];
    let described = |at: &str, paths: BTreeSet<String>| -> Result<Vec<Resource>> {
        let mut found = Vec::new();
        for path in paths {
            if let Entry::File { oid, .. } = workspace.repo.entry(at, &path)? {
                let uri = place
                    .as_ref()
                    .map(|place| format!("{place}@{at}#{}", escape_uri(&path)));
                found.push(Resource::new("gitBlob", oid).with_name(&path).at(uri));
            }
        }
        Ok(found)
    };
    // With a base, its contract decided.
    let base = base.map(|judging| &judging.commit);
    let log_uri = workspace.log_from.as_ref().and_then(|from| {
        let place = place.as_ref()?;
        Some(format!("{place}@{}", escape_uri(&from.reference)))
    });
    let contract = CONTRACT_FILES.iter().chain(&SETTINGS_FILES);
    let contract = contract.chain([&SIGNERS]).map(|path| (*path).to_owned());
    let verified = Verified {
        verifier: Verifier {
            id: VERIFIER.to_owned(),
            policies: described(base.unwrap_or(commit), contract.collect())?,
        },
        time_created: workspace.clock.now(),
        properties: properties.clone(),
        cook_log: Resource::new("gitCommit", &tip.commit).at(log_uri),
        cook_done: (done != commit).then(|| Resource::new("gitCommit", done)),
        cook_merged_into: standing
            .base
            .as_ref()
            .map(|base| Resource::new("gitCommit", base)),
        cook_judges: find_verdicts(workspace, &snapshot, &at)?,
    };
    let named = |passed: bool| {
        let runs = found.gates.iter().filter(|run| run.has_passed() == passed);
        runs.map(|run| run.gate.name.clone()).collect::<Vec<_>>()
    };
    // `failed` is empty: with a red required gate nothing is attested.
    let (passed, warned) = (named(true), named(false));
    let tested = Tested {
        result: if warned.is_empty() {
            "PASSED"
        } else {
            "WARNED"
        }
        .to_owned(),
        configuration: described(commit, gate_files(found.gates))?,
        url: found.url.clone(),
        passed,
        warned,
        failed: Vec::new(),
    };
    Ok(Made {
        file: None,
        key: None,
        lines: vec![
            write_line(SVR, &subject, verified)?,
            write_line(TEST_RESULT, &subject, tested)?,
        ],
        commit: commit.clone(),
        tree,
        properties,
        log: tip.commit,
    })
}

/// The address of the remote that the log came from, or else of git's default remote; `None` if there is none.
fn find_place(workspace: &Workspace, branch: Option<&str>) -> Result<Option<String>> {
    let named = workspace.log_from.as_ref().map(|from| from.remote.as_str());
    let branch = branch.unwrap_or_default();
    match service::remote(workspace, named, branch, Side::Fetch, false) {
        Ok(remote) => Ok(to_uri(&remote.fetch_address()?)),
        Err(failure) if failure.code == Code::RemoteUnknown => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// The settings, and every file that a gate's command names.
fn gate_files(gates: &[GateRun]) -> BTreeSet<String> {
    let mut files = BTreeSet::from([SETTINGS.to_owned()]);
    for run in gates {
        for word in words(&run.gate.run).unwrap_or_default() {
            // Splits a word that is a shell command, as in `sh -c '…'`.
            for part in word.split([' ', '\t', '\n', ';', '&', '|', '(', ')', '"', '\'']) {
                let path = part.strip_prefix("./").unwrap_or(part);
                let parts = || path.split('/');
                let is_path = !path.starts_with('-')
                    && parts().all(|part| !matches!(part, "" | "." | ".."))
                    && !path.contains(['\\', ':']);
                if is_path {
                    files.insert(path.to_owned());
                }
            }
        }
    }
    files
}

fn write_line<P: Serialize>(kind: &str, subject: &[Resource], predicate: P) -> Result<String> {
    let statement = Statement {
        of: STATEMENT.to_owned(),
        subject: subject.to_vec(),
        predicate_type: kind.to_owned(),
        predicate,
    };
    let text = serde_json::to_string(&statement)
        .or_fail(Code::NotWritable, "the statement cannot be written")?;
    Ok(harmless_json(&text))
}

/// The names of the properties that the verification shows, in the order of the list above; a name is given only if the
/// property holds. `reran` tells whether the gates ran in a new clean room, `gates` how many are required; `yes` and
/// `all` are the numbers of yes votes and of all votes.
fn properties(
    (reran, gates): (bool, usize),
    criteria: &[Criterion],
    (yes, all): (u64, u64),
    base: bool,
) -> Vec<String> {
    let votes = format!("COOK_VOTES_RECORDED_{yes}_OF_{all}");
    let named = [
        (true, DONE),
        (reran && gates > 0, GATES),
        (
            reran && !criteria.is_empty() && criteria.iter().all(is_reproduced),
            CRITERIA,
        ),
        (all > 0, &votes),
        (base, BASE),
    ];
    let passed = named.into_iter().filter(|(passed, _)| *passed);
    passed.map(|(_, name)| name.to_owned()).collect()
}

fn is_reproduced(criterion: &Criterion) -> bool {
    match criterion.verdict {
        ProofVerdict::Reproduced => true,
        // A place in the code has nothing to run.
        ProofVerdict::Holds => {
            let anchor = criterion.anchor.as_deref().map(Anchor::parse);
            !matches!(
                anchor,
                None | Some(Err(_))
                    | Some(Ok(Anchor::Test(_)
                        | Anchor::Command { .. }
                        | Anchor::Receipt(_)))
            )
        }
        _ => false,
    }
}

/// The address of a git remote as a URI that may be public, without user names and passwords: `git+…`. `None` if the
/// address is only valid on this machine.
fn to_uri(address: &str) -> Option<String> {
    let address = address.trim();
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (scheme, rest.to_owned()),
        None if address.starts_with('/') => ("file", address.to_owned()),
        // `user@host:path`, the form that ssh uses.
        None => {
            let (host, path) = address.split_once(':')?;
            let is_host = !host.is_empty() && !host.contains(['/', '\\']) && host.len() > 1;
            let path = path.trim_start_matches('/');
            ("ssh", is_host.then(|| format!("{host}/{path}"))?)
        }
    };
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    if scheme.is_empty() || !scheme.chars().all(is_scheme) {
        return None;
    }
    let (host, path) = rest.split_once('/').unwrap_or((&rest, ""));
    let host = host.rsplit('@').next().unwrap_or(host);
    // The query may contain a token.
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let (scheme, host) = (scheme.to_ascii_lowercase(), escape_uri(host));
    Some(format!("git+{scheme}://{host}/{}", escape_uri(path)))
}

/// Percent-encodes characters that a URI cannot contain; existing encodings are kept.
fn escape_uri(text: &str) -> String {
    let mut uri = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => uri.push(char::from(byte)),
            _ if b"-._~/:%+,;=[]".contains(&byte) => uri.push(char::from(byte)),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

/// The type of every statement.
pub(super) const STATEMENT: &str = "https://in-toto.io/Statement/v1";
/// The type of the predicate with the verified properties.
pub(super) const SVR: &str = "https://in-toto.io/attestation/svr/v0.2";
/// The type of the predicate with the results of gates.
pub(super) const TEST_RESULT: &str = "https://in-toto.io/attestation/test-result/v0.1";
/// Version of the rules by which cook verifies; it changes if the meaning of a property changes.
pub(super) const VERIFIER: &str = "urn:cook:verify:1";

/// A statement about subjects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Statement<P> {
    #[serde(rename = "_type")]
    pub of: String,
    pub subject: Vec<Resource>,
    #[serde(rename = "predicateType")]
    pub predicate_type: String,
    pub predicate: P,
}

/// An immutable object, identified by its digest.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Resource {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    #[serde(default)]
    pub digest: BTreeMap<String, String>,
}

impl Resource {
    /// A resource with one digest.
    pub fn new(kind: &str, id: impl Into<String>) -> Self {
        Self {
            digest: BTreeMap::from([(kind.to_owned(), id.into())]),
            ..Self::default()
        }
    }

    /// Adds a name.
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            ..self
        }
    }

    /// Adds the address, if it is known.
    pub fn at(self, uri: Option<String>) -> Self {
        Self { uri, ..self }
    }
}

/// Predicate of [`SVR`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Verified {
    pub verifier: Verifier,
    #[serde(rename = "timeCreated")]
    pub time_created: String,
    pub properties: Vec<String>,
    /// The log's newest transition; an extension of cook.
    pub cook_log: Resource,
    /// The commit that was found done, if it is not the attested one; an extension of cook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cook_done: Option<Resource>,
    /// The base that it was merged into; an extension of cook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cook_merged_into: Option<Resource>,
    /// The agents that gave reviews, audits and votes, and how many planted faults each caught; an extension of cook.
    #[serde(skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub cook_judges: Vec<Judged>,
}

/// The program that verified, and the contract by which it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Verifier {
    pub id: String,
    pub policies: Vec<Resource>,
}

/// Predicate of [`TEST_RESULT`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tested {
    pub result: String,
    pub configuration: Vec<Resource>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, rename = "passedTests")]
    pub passed: Vec<String>,
    #[serde(default, rename = "warnedTests")]
    pub warned: Vec<String>,
    #[serde(default, rename = "failedTests")]
    pub failed: Vec<String>,
}

/// The type of the payload of cook's envelopes.
pub(super) const PAYLOAD: &str = "application/vnd.in-toto+json";

/// A signed statement. The order of the fields is the order in the file.
#[derive(Serialize, Deserialize)]
pub(super) struct Envelope {
    pub payload: String,
    #[serde(rename = "payloadType")]
    pub payload_type: String,
    #[serde(default)]
    pub signatures: Vec<Sealed>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Sealed {
    #[serde(skip_deserializing)]
    pub keyid: String,
    pub sig: String,
}

/// The signed bytes: the pre-authentication encoding of type and payload.
pub(super) fn encode_signed(payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {PAYLOAD} {} ", PAYLOAD.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

/// The statement in a signed envelope, and the key's fingerprint.
///
/// # Errors
/// `ssh_keygen_missing`, `signing_failed`.
pub(crate) fn seal(statement: &str, key: &Key) -> Result<(String, String)> {
    let signed = signature::sign(key, &encode_signed(statement.as_bytes()))?;
    let Some(blob) = Blob::read(signed.as_bytes()) else {
        let what = "`ssh-keygen` made something that is not a signature";
        return Err(Failure::state(Code::SigningFailed, what));
    };
    let keyid = blob.fingerprint();
    let envelope = Envelope {
        payload: signature::encode(statement.as_bytes()),
        payload_type: PAYLOAD.to_owned(),
        signatures: vec![Sealed {
            keyid: keyid.clone(),
            sig: signature::encode(&blob.bytes),
        }],
    };
    let line = serde_json::to_string(&envelope)
        .or_fail(Code::SigningFailed, "the envelope cannot be written")?;
    Ok((line, keyid))
}

/// The place and form of a signature that counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SignedPlace {
    /// The line in the file.
    pub line: usize,
    /// Index of the signature in the envelope, from 0.
    pub signature: usize,
    /// Whether it is in OpenSSH's armored form and not plain base64.
    pub is_armored: bool,
}

/// Shell commands that check a line of a file without cook, one per line.
pub(crate) fn by_hand(file: &str, found: SignedPlace, signers: &str, who: &str) -> Vec<String> {
    let [file, signers, who] = [file, signers, who].map(|word| shell_words::quote(word));
    let take = format!("sed -n {}p {file} | jq -r", found.line);
    let sig = format!("{take} '.signatures[{}].sig'", found.signature);
    // Both alphabets of base64 are accepted.
    let plain = "tr -- -_ +/";
    vec![
        format!("{take} .payload | {plain} | base64 -d >payload.json"),
        format!(
            "(printf 'DSSEv1 {} {PAYLOAD} %d ' \"$(wc -c <payload.json)\"; cat payload.json) >signed",
            PAYLOAD.len()
        ),
        match found.is_armored {
            true => format!("{sig} >signature"),
            false => format!(
                "(echo '-----BEGIN SSH SIGNATURE-----'; {sig} | {plain} | fold -w 70; \
                 echo '-----END SSH SIGNATURE-----') >signature"
            ),
        },
        format!("ssh-keygen -Y verify -f {signers} -I {who} -n {NAMESPACE} -s signature <signed"),
    ]
}

// Reading a file of statements from another party: content is parsed as a statement only if a listed key signed it.

/// Maximum size of a file in bytes.
pub(crate) const MAX_FILE: u64 = 8 << 20;
/// Maximum number of statements in a file, and of signatures of one.
const MOST: usize = 16;
/// Maximum length in characters of an error message, which may quote the file.
const LONGEST: usize = 500;

/// The commit of the question.
#[derive(Debug)]
pub(crate) struct About {
    /// Full id.
    pub commit: String,
    /// Its tree, if the commit is in this clone.
    pub tree: Option<String>,
}

/// The verified content of an attestation file, and its signer.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Attested {
    /// Full ID of the commit that the attestation is about.
    pub commit: String,
    /// Object ID of the tree of the commit; null if this clone lacks the commit, so that the tree was not compared.
    pub tree: Option<String>,
    /// Name of the commit in the file; null without a name.
    pub name: Option<String>,
    /// Name of the signer in the list of allowed signers.
    pub signer: String,
    /// Fingerprint of the signer's key.
    pub key: String,
    /// Identifier of the rules by which the commit was verified.
    pub verifier: String,
    /// Time of the verification, as the attestation states it.
    pub time: String,
    /// Properties that were verified.
    pub properties: Vec<String>,
    /// Full ID of the commit of the newest transition in the log at that time; null if not given.
    pub log: Option<String>,
    /// Names of the gates that passed; null if the file has no test result.
    pub gates: Option<Vec<String>>,
    /// Names of the gates that failed and are not required.
    pub warned: Vec<String>,
    /// Commands that check the same signature without cook, one a line.
    pub by_hand: Vec<String>,
    /// The place of the signature in the file.
    #[serde(skip)]
    pub found: SignedPlace,
}

/// A payload that a listed key signed.
struct Signed {
    payload: Vec<u8>,
    signer: String,
    key: String,
    found: SignedPlace,
}

/// Reads the statements about a commit that listed keys signed.
///
/// # Errors
/// `attestation_…` and `sign…` codes for invalid content or signatures; `ssh_keygen_missing`.
pub(crate) fn read(bytes: &[u8], list: &[u8], about: &About) -> Result<Attested> {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    let lines: Vec<(usize, &[u8])> = lines.take(MOST + 1).collect();
    if lines.is_empty() {
        return Err(wrong(Code::AttestationEmpty, "the file is empty"));
    }
    if lines.len() > MOST {
        let what = format!("the file holds more than {MOST} statements");
        return Err(wrong(Code::AttestationMalformed, what));
    }
    let (mut verified, mut tested) = (None, None);
    for (at, line) in lines {
        let line = open(at + 1, line, list)?;
        let place = format!("the statement in line {}", line.found.line);
        let value = strict(&line.payload, &place)?;
        let of = |key: &str| value[key].as_str().unwrap_or_default();
        if of("_type") != STATEMENT {
            let what = format!("{place} is of type `{}`", of("_type"));
            return Err(wrong(Code::AttestationType, what));
        }
        let is_twice = match of("predicateType") {
            SVR => {
                let statement: Statement<Verified> = read_typed(&value, &place)?;
                is_about(&statement, about, &place)?;
                verified.replace((statement, line)).is_some()
            }
            TEST_RESULT => {
                let statement: Statement<Tested> = read_typed(&value, &place)?;
                is_about(&statement, about, &place)?;
                tested.replace(statement.predicate).is_some()
            }
            other => {
                let what = format!("{place} says something of type `{other}`");
                return Err(wrong(Code::AttestationType, what));
            }
        };
        if is_twice {
            let what = format!("two statements are of type `{}`", of("predicateType"));
            return Err(wrong(Code::AttestationAmbiguous, what));
        }
    }
    let Some((statement, line)) = verified else {
        let what = format!("no statement is of type `{SVR}`");
        return Err(wrong(Code::AttestationMalformed, what));
    };
    let Verified {
        verifier,
        properties,
        ..
    } = statement.predicate;
    if verifier.id != VERIFIER {
        let what = format!("it was verified by `{}`, not by `{VERIFIER}`", verifier.id);
        return Err(wrong(Code::AttestationType, what));
    }
    if !properties.iter().any(|property| property == DONE) {
        let what = format!("it does not say `{DONE}`");
        return Err(wrong(Code::AttestationMalformed, what));
    }
    if let Some(tested) = tested
        .as_ref()
        .filter(|it| !it.failed.is_empty() || it.result == "FAILED")
    {
        let what = format!("its test result is `{}`, with failed tests", tested.result);
        return Err(wrong(Code::AttestationMalformed, what));
    }
    let subject = statement.subject.into_iter();
    let mut named = subject.filter(|it| it.digest.contains_key("gitCommit"));
    let warned = tested.as_ref().map(|it| it.warned.clone());
    Ok(Attested {
        commit: about.commit.clone(),
        tree: about.tree.clone(),
        by_hand: Vec::new(),
        verifier: verifier.id,
        time: statement.predicate.time_created,
        properties,
        name: named.next().and_then(|it| it.name),
        log: statement
            .predicate
            .cook_log
            .digest
            .get("gitCommit")
            .cloned(),
        gates: tested.map(|it| it.passed),
        warned: warned.unwrap_or_default(),
        signer: line.signer,
        key: line.key,
        found: line.found,
    })
}

/// The payload of an envelope that a listed key signed.
fn open(number: usize, line: &[u8], list: &[u8]) -> Result<Signed> {
    let place = format!("line {number}");
    let value = strict(line, &place)?;
    if value.get("payload").is_none() && value["_type"] == STATEMENT {
        let what = format!("{place} is a statement without an envelope");
        return Err(wrong(Code::AttestationUnsigned, what));
    }
    let envelope: Envelope = read_typed(&value, &place)?;
    if envelope.payload_type != PAYLOAD {
        let what = format!("{place} holds `{}`, not `{PAYLOAD}`", envelope.payload_type);
        return Err(wrong(Code::AttestationType, what));
    }
    let not_base64 = |what: &str| {
        let what = format!("the {what} in {place} is not base64");
        wrong(Code::AttestationMalformed, what)
    };
    let payload = signature::decode(&envelope.payload).ok_or_else(|| not_base64("payload"))?;
    if envelope.signatures.is_empty() {
        let what = format!("the envelope in {place} bears no signature");
        return Err(wrong(Code::AttestationUnsigned, what));
    }
    if envelope.signatures.len() > MOST {
        let what = format!("{place} bears more than {MOST} signatures");
        return Err(wrong(Code::AttestationMalformed, what));
    }
    // One valid signature is enough; otherwise the reason for the first one is reported.
    let mut refused = None;
    for (at, sealed) in envelope.signatures.iter().enumerate() {
        let is_armored = sealed.sig.trim_start().starts_with('-');
        let blob = match is_armored {
            true => Blob::read(sealed.sig.as_bytes()),
            false => {
                let bytes =
                    signature::decode(&sealed.sig).ok_or_else(|| not_base64("signature"))?;
                Blob::read(&bytes)
            }
        };
        match judge(blob, &payload, list, &place)? {
            Ok((signer, key)) => {
                return Ok(Signed {
                    payload,
                    signer,
                    key,
                    found: SignedPlace {
                        line: number,
                        signature: at,
                        is_armored,
                    },
                });
            }
            Err(why) => refused = refused.or(Some(why)),
        }
    }
    Err(refused.unwrap_or_else(|| wrong(Code::AttestationUnsigned, place)))
}

/// The signer and the key's fingerprint, or why the signature does not count.
fn judge(
    blob: Option<Blob>,
    payload: &[u8],
    list: &[u8],
    place: &str,
) -> Result<Result<(String, String)>> {
    let Some(blob) = blob else {
        let what = format!("the signature in {place} is not an SSH signature");
        return Ok(Err(wrong(Code::SignatureInvalid, what)));
    };
    let key = blob.fingerprint();
    if blob.namespace != NAMESPACE {
        let what = format!(
            "the signature in {place} is for `{}`, not for `{NAMESPACE}`",
            blob.namespace
        );
        return Ok(Err(wrong(Code::SignatureNamespace, what)));
    }
    let found = signature::find_signer(list, &to_armor(&blob.bytes), &encode_signed(payload))?;
    Ok(match found {
        Signer::Listed(who) => Ok((who, key)),
        Signer::OutOfTime(why) => {
            let what = format!("key {key}, which signed {place}: {why}");
            Err(wrong(Code::SignerOutOfTime, what))
        }
        Signer::OfSomethingElse => {
            let what = format!("key {key} signed something else than {place} holds");
            Err(wrong(Code::SignatureInvalid, what))
        }
        Signer::ForSomethingElse => {
            let what = format!(
                "key {key}, which signed {place}, is on the list, and its `namespaces` do not name `{NAMESPACE}`"
            );
            Err(wrong(Code::SignerNotListed, what))
        }
        Signer::Nobody => {
            let what = format!("key {key}, which signed {place}, is not on the list");
            Err(wrong(Code::SignerNotListed, what))
        }
    })
}

/// Parses JSON in which no key is repeated.
fn strict(bytes: &[u8], place: &str) -> Result<Value> {
    schema::value(bytes).map_err(|error| {
        let said = error.to_string();
        let code = match said.contains("is given twice") {
            true => Code::AttestationAmbiguous,
            false => Code::AttestationMalformed,
        };
        wrong(code, format!("{place} is not read: {said}"))
    })
}

fn read_typed<T: DeserializeOwned>(value: &Value, place: &str) -> Result<T> {
    T::deserialize(value).map_err(|error| {
        let what = format!("{place} has another shape: {error}");
        wrong(Code::AttestationMalformed, what)
    })
}

/// Checks that all its commits and trees are those of the question.
fn is_about<P>(statement: &Statement<P>, about: &About, place: &str) -> Result<()> {
    let subjects = || statement.subject.iter().flat_map(|subject| &subject.digest);
    let of = |kind: &'static str| subjects().filter(move |(known, _)| *known == kind);
    for (kind, what) in [("gitCommit", "commit"), ("gitTree", "tree")] {
        if of(kind).next().is_none() {
            let what = format!("{place} is about no {what}");
            return Err(wrong(Code::AttestationOtherCommit, what));
        }
    }
    let commits = of("gitCommit").map(|(_, id)| ("commit", id, Some(&about.commit)));
    let trees = of("gitTree").map(|(_, id)| ("tree", id, about.tree.as_ref()));
    for (kind, id, expected) in commits.chain(trees) {
        if let Some(expected) = expected.filter(|expected| *expected != id) {
            let what = format!("{place} is about {kind} `{id}`, not about `{expected}`");
            return Err(wrong(Code::AttestationOtherCommit, what));
        }
    }
    Ok(())
}

fn wrong(code: Code, what: impl Into<String>) -> Failure {
    let what: String = what.into();
    let what = without_tags(&clean(&what, Lines::Fold));
    let short: String = what.chars().take(LONGEST).collect();
    Failure::new(FailureKind::Check, code, short)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn criterion(anchor: &str, verdict: ProofVerdict) -> Criterion {
        Criterion {
            slice: "a".to_owned(),
            text: "it works".to_owned(),
            anchor: Some(anchor.to_owned()),
            verdict,
            why: String::new(),
            at: None,
        }
    }

    #[test]
    fn a_name_is_given_only_for_what_passed() {
        use ProofVerdict::{Holds, NotReproducible, Recorded, Reproduced};
        let text = criterion("code.txt:2-3", Holds);
        for (reran, criteria, expected) in [
            (false, vec![], "COOK_DONE COOK_VOTES_RECORDED_3_OF_3"),
            (
                true,
                vec![criterion("test:adds", Reproduced), text.clone()],
                "COOK_DONE COOK_GATES_REPRODUCED COOK_CRITERIA_REPRODUCED COOK_VOTES_RECORDED_3_OF_3",
            ),
            (
                true,
                vec![criterion("test:adds", Holds), text.clone()],
                "COOK_DONE COOK_GATES_REPRODUCED COOK_VOTES_RECORDED_3_OF_3",
            ),
            (
                true,
                vec![criterion("user:u1", Recorded)],
                "COOK_DONE COOK_GATES_REPRODUCED COOK_VOTES_RECORDED_3_OF_3",
            ),
            (
                true,
                vec![criterion("code.txt:2-3", NotReproducible)],
                "COOK_DONE COOK_GATES_REPRODUCED COOK_VOTES_RECORDED_3_OF_3",
            ),
        ] {
            let named = properties((reran, 1), &criteria, (3, 3), false);
            assert_eq!(named.join(" "), expected);
        }
        // If there are no criteria or gates, no property of all of them is claimed.
        let named = |base| properties((true, 0), &[], (0, 0), base);
        assert_eq!(named(false), ["COOK_DONE"]);
        assert_eq!(named(true), ["COOK_DONE", "COOK_BASE_CONTRACT"]);
    }

    #[test]
    fn a_remote_is_named_without_who_logs_in() {
        for (address, uri) in [
            (
                "https://forge.example/o/r.git",
                Some("git+https://forge.example/o/r.git"),
            ),
            (
                "https://user:hunter22@forge.example/o/r",
                Some("git+https://forge.example/o/r"),
            ),
            (
                "HTTPS://t@forge.example:8443/r?token=x#y",
                Some("git+https://forge.example:8443/r"),
            ),
            (
                "git@forge.example:o/r.git",
                Some("git+ssh://forge.example/o/r.git"),
            ),
            (
                "ssh://git@forge.example/~o/r",
                Some("git+ssh://forge.example/~o/r"),
            ),
            ("/srv/a b.git", Some("git+file:///srv/a%20b.git")),
            ("file:///srv/\u{202e}x", Some("git+file:///srv/%E2%80%AEx")),
            ("../bare.git", None),
            ("C:/repo", None),
            ("ext::sh -c x", Some("git+ssh://ext/:sh%20-c%20x")),
            ("", None),
        ] {
            assert_eq!(to_uri(address).as_deref(), uri, "{address}");
        }
    }
}
