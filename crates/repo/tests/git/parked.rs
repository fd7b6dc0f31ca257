//! What is not committed, parked as a ref and put back: with the index, untracked files and the
//! user's own stash as they were.
