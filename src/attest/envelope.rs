//! DSSE: the envelope of a signed statement, and the bytes that its signature is of.

use crate::signature::{self, Blob, Key, NAMESPACE};
use cook_protocol::diagnostic::{Code, Failure};
use serde::Serialize;

/// The type of what an envelope of ours holds.
pub(super) const PAYLOAD: &str = "application/vnd.in-toto+json";

/// A signed statement. The order of the fields is the order in the file.
#[derive(Serialize)]
struct Envelope {
    payload: String,
    #[serde(rename = "payloadType")]
    payload_type: &'static str,
    signatures: [Signature; 1],
}

#[derive(Serialize)]
struct Signature {
    keyid: String,
    sig: String,
}

/// What is signed: the pre-authentication encoding of type and payload.
pub(super) fn encode_signed(payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {PAYLOAD} {} ", PAYLOAD.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

/// The statement in an envelope, signed; the key's fingerprint beside it.
///
/// # Errors
/// `ssh_keygen_missing`, `signing_failed`.
pub(crate) fn seal(statement: &str, key: &Key) -> Result<(String, String), Failure> {
    let signed = signature::sign(key, &encode_signed(statement.as_bytes()))?;
    let Some(blob) = Blob::read(signed.as_bytes()) else {
        let what = "`ssh-keygen` made something that is not a signature";
        return Err(Failure::state(Code::SigningFailed, what));
    };
    let keyid = blob.fingerprint();
    let envelope = Envelope {
        payload: signature::encode(statement.as_bytes()),
        payload_type: PAYLOAD,
        signatures: [Signature {
            keyid: keyid.clone(),
            sig: signature::encode(&blob.bytes),
        }],
    };
    let line = serde_json::to_string(&envelope).map_err(|error| {
        Failure::state(Code::SigningFailed, "the envelope cannot be written").with_cause(&error)
    })?;
    Ok((line, keyid))
}

/// Where a signature that counts stands, and in which form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    /// The line of the file.
    pub line: usize,
    /// Which signature of the envelope it is, from 0.
    pub signature: usize,
    /// It is in OpenSSH's armor, not in base64 alone.
    pub is_armored: bool,
}

/// How a line of a file is checked without cook, one command a line, for a shell.
pub(crate) fn by_hand(file: &str, found: Found, signers: &str, who: &str) -> Vec<String> {
    let [file, signers, who] = [file, signers, who].map(|word| shell_words::quote(word));
    let take = format!("sed -n {}p {file} | jq -r", found.line);
    let sig = format!("{take} '.signatures[{}].sig'", found.signature);
    // Both alphabets of base64 are taken.
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
