//! SSH signatures: whose one is by a list of allowed signers, and how one is made. `ssh-keygen` does both.

mod blob;
mod keygen;

pub(crate) use blob::{Blob, decode, encode, to_armor};
pub(crate) use keygen::{Key, Signer, find_signer, sign, signing_key};

/// What a signature of cook's is for: git's own are for `git`.
pub(crate) const NAMESPACE: &str = "cook";
