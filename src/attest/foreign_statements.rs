//! A file of statements that somebody else hands over: only what a listed key signed is parsed as one.

use super::make::{
    DONE, PAYLOAD, STATEMENT, SVR, SignedPlace, Statement, TEST_RESULT, Tested, VERIFIER, Verified,
    encode_signed,
};
use crate::signature::{self, Blob, NAMESPACE, Signer, to_armor};
use cook_protocol::diagnostic::{Code, Failure, FailureKind, Lines, clean, without_tags};
use cook_protocol::schema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Bytes of a file.
pub(crate) const MAX_FILE: u64 = 8 << 20;
/// Statements in a file, and signatures of one.
const MOST: usize = 16;
/// Characters of what is wrong: it may quote the file.
const LONGEST: usize = 500;

/// The commit that is asked about.
#[derive(Debug)]
pub(crate) struct About {
    /// Full id.
    pub commit: String,
    /// Its tree, where the commit is here.
    pub tree: Option<String>,
}

/// What a file says about a commit, and who says so.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Attested {
    /// The commit that it is about.
    pub commit: String,
    /// Its tree; null = the commit is not here, so that it was not compared.
    pub tree: Option<String>,
    /// What the commit is called there; null = nothing.
    pub name: Option<String>,
    /// Who says so, as the list names them.
    pub signer: String,
    /// The fingerprint of their key.
    pub key: String,
    /// By which rules it was verified.
    pub verifier: String,
    /// When.
    pub time: String,
    /// What passed.
    pub properties: Vec<String>,
    /// The log's newest transition then, by its commit; null = not said.
    pub log: Option<String>,
    /// Gates that were green; null = the file holds no test result.
    pub gates: Option<Vec<String>>,
    /// Gates that were red and are not required.
    pub warned: Vec<String>,
    /// The same signature checked without cook, a command a line.
    pub by_hand: Vec<String>,
    /// Where in the file that stands.
    #[serde(skip)]
    pub found: SignedPlace,
}

/// The keys that a reader looks at; what else stands in an envelope means nothing.
#[derive(Deserialize)]
struct Envelope {
    payload: String,
    #[serde(rename = "payloadType")]
    payload_type: String,
    #[serde(default)]
    signatures: Vec<Sealed>,
}

#[derive(Deserialize)]
struct Sealed {
    sig: String,
}

/// One that a listed key signed.
struct Signed {
    payload: Vec<u8>,
    signer: String,
    key: String,
    found: SignedPlace,
}

/// Reads what listed keys signed about a commit.
///
/// # Errors
/// `attestation_…` and `sign…` for whatever is not as it must be; `ssh_keygen_missing`.
pub(crate) fn read(bytes: &[u8], list: &[u8], about: &About) -> Result<Attested, Failure> {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    let lines: Vec<(usize, &[u8])> = lines.take(MOST + 1).collect();
    if lines.is_empty() {
        return Err(wrong(Code::AttestationEmpty, "no line stands in the file"));
    }
    if lines.len() > MOST {
        let what = format!("more than {MOST} statements stand in the file");
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
fn open(number: usize, line: &[u8], list: &[u8]) -> Result<Signed, Failure> {
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
    // One is enough; of several that do not count the first says why.
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

/// Whose signature it is, and the key's fingerprint; inside, why it does not count.
fn judge(
    blob: Option<Blob>,
    payload: &[u8],
    list: &[u8],
    place: &str,
) -> Result<Result<(String, String), Failure>, Failure> {
    let Some(blob) = blob else {
        let what = format!("what stands as a signature in {place} is not one of SSH");
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

/// JSON in which no key stands twice.
fn strict(bytes: &[u8], place: &str) -> Result<Value, Failure> {
    schema::value(bytes).map_err(|error| {
        let said = error.to_string();
        let code = match said.contains("is given twice") {
            true => Code::AttestationAmbiguous,
            false => Code::AttestationMalformed,
        };
        wrong(code, format!("{place} is not read: {said}"))
    })
}

fn read_typed<T: DeserializeOwned>(value: &Value, place: &str) -> Result<T, Failure> {
    T::deserialize(value).map_err(|error| {
        let what = format!("{place} has another shape: {error}");
        wrong(Code::AttestationMalformed, what)
    })
}

/// Every commit and tree that it is about is the one that is asked about.
fn is_about<P>(statement: &Statement<P>, about: &About, place: &str) -> Result<(), Failure> {
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
