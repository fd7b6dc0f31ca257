//! The shapes of in-toto's statements, as far as cook writes and reads them. The order of the fields is
//! the order in the file.

use crate::judges::Judged;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The type of every statement.
pub(super) const STATEMENT: &str = "https://in-toto.io/Statement/v1";
/// What a verification found.
pub(super) const SVR: &str = "https://in-toto.io/attestation/svr/v0.2";
/// What gates said.
pub(super) const TEST_RESULT: &str = "https://in-toto.io/attestation/test-result/v0.1";
/// The rules by which cook verifies; another number where a property comes to mean something else.
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

/// Something that does not change, by its digest.
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
    /// With one digest.
    pub fn new(kind: &str, id: impl Into<String>) -> Self {
        Self {
            digest: BTreeMap::from([(kind.to_owned(), id.into())]),
            ..Self::default()
        }
    }

    /// The same with a name.
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            ..self
        }
    }

    /// The same with its place, where that is known.
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
    /// The log's newest transition: an extension of cook's.
    pub cook_log: Resource,
    /// The commit that was found done, where it is another than the one that is attested: an extension of
    /// cook's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cook_done: Option<Resource>,
    /// What that one was merged into: an extension of cook's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cook_merged_into: Option<Resource>,
    /// Whose word reviews, audits and votes are, and how many planted faults each caught: an extension of
    /// cook's.
    #[serde(skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub cook_judges: Vec<Judged>,
}

/// Who verified, by which contract.
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
