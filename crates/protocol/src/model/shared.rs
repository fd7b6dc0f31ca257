//! Parts of documents that successive snapshots share.

use serde::{Deserialize, Serialize, Serializer};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A part of a document, copied on write: clones share one allocation until one of them changes. Comparing
/// clones that still share it is cheap, because `Arc` compares pointers first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "T", bound(deserialize = "T: Deserialize<'de>"))]
pub struct Shared<T>(Arc<T>);

impl<T> From<T> for Shared<T> {
    fn from(part: T) -> Self {
        Self(Arc::new(part))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
