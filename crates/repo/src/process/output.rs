//! What is kept of a stream that may be endless: its digest, its beginning and its end.

use cook_protocol::digest::hex;
use sha2::{Digest, Sha256};
use std::collections::VecDeque;

/// Bytes kept of one stream, half of them its beginning, half its end.
pub const KEPT_PER_STREAM: usize = 2 * 1024 * 1024;

/// One stream, as far as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// SHA-256 of everything that was written, hexadecimal.
    pub sha256: String,
    /// How many bytes were written.
    pub total: u64,
    /// The first bytes.
    pub head: Vec<u8>,
    /// The last bytes, where they are not in `head`.
    pub tail: Vec<u8>,
}

impl Kept {
    /// Bytes between `head` and `tail` that were let go.
    pub fn count_left_out(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// Beginning and end as one text of bytes; a line of its own says what is left out.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head.clone();
        if self.count_left_out() > 0 {
            let gap = format!("\n[cook: {} bytes left out]\n", self.count_left_out());
            bytes.extend_from_slice(gap.as_bytes());
        }
        bytes.extend_from_slice(&self.tail);
        bytes
    }

    /// The last lines, at most `limit` bytes, cut at a line where there is one.
    pub fn last_lines(&self, limit: usize) -> String {
        let bytes = self.bytes();
        let from = bytes.len().saturating_sub(limit);
        let cut = &bytes[from..];
        let cut = match cut.iter().position(|byte| *byte == b'\n') {
            Some(at) if from > 0 && at + 1 < cut.len() => &cut[at + 1..],
            _ => cut,
        };
        String::from_utf8_lossy(cut).into_owned()
    }
}

/// Takes a stream in, piece by piece.
#[derive(Debug)]
pub(super) struct Keeper {
    digest: Sha256,
    total: u64,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    at_head: usize,
    at_tail: usize,
}

impl Keeper {
    /// Keeps that many bytes of the beginning and of the end.
    pub(super) fn of(at_head: usize, at_tail: usize) -> Self {
        Self {
            digest: Sha256::default(),
            total: 0,
            head: Vec::new(),
            tail: VecDeque::new(),
            at_head,
            at_tail,
        }
    }

    pub(super) fn take(&mut self, mut piece: &[u8]) {
        self.digest.update(piece);
        self.total += piece.len() as u64;
        let room = (self.at_head - self.head.len()).min(piece.len());
        self.head.extend_from_slice(&piece[..room]);
        piece = &piece[room..];
        if piece.len() > self.at_tail {
            piece = &piece[piece.len() - self.at_tail..];
        }
        let excess = (self.tail.len() + piece.len()).saturating_sub(self.at_tail);
        self.tail.drain(..excess);
        self.tail.extend(piece);
    }

    pub(super) fn to_kept(&self) -> Kept {
        Kept {
            sha256: hex(&self.digest.clone().finalize()),
            total: self.total,
            head: self.head.clone(),
            tail: self.tail.iter().copied().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_stream_is_kept_whole() {
        let mut keeper = Keeper::of(KEPT_PER_STREAM / 2, KEPT_PER_STREAM / 2);
        keeper.take(b"one\n");
        keeper.take(b"two\n");
        let kept = keeper.to_kept();
        assert_eq!(kept.bytes(), b"one\ntwo\n");
        assert_eq!(kept.count_left_out(), 0);
        assert_eq!(kept.sha256, hex(&Sha256::digest(b"one\ntwo\n")));
        assert_eq!(kept.last_lines(6), "two\n");
    }

    #[test]
    fn a_long_stream_keeps_both_ends_and_the_digest_of_all() {
        let mut keeper = Keeper::of(KEPT_PER_STREAM / 2, KEPT_PER_STREAM / 2);
        let mut whole = Sha256::new();
        for number in 0..900_000u32 {
            let line = format!("line {number}\n");
            keeper.take(line.as_bytes());
            whole.update(line.as_bytes());
        }
        let kept = keeper.to_kept();
        assert_eq!(kept.head.len() + kept.tail.len(), KEPT_PER_STREAM);
        assert!(kept.bytes().starts_with(b"line 0\n"));
        assert!(kept.bytes().ends_with(b"line 899999\n"));
        assert!(kept.count_left_out() > 0);
        assert_eq!(kept.sha256, hex(&whole.finalize()));
    }

    #[test]
    fn pieces_of_any_size_make_the_same_record() {
        let data: Vec<u8> = (0..KEPT_PER_STREAM * 2).map(|n| (n % 251) as u8).collect();
        let mut whole = Keeper::of(KEPT_PER_STREAM / 2, KEPT_PER_STREAM / 2);
        whole.take(&data);
        let mut pieces = Keeper::of(KEPT_PER_STREAM / 2, KEPT_PER_STREAM / 2);
        for piece in data.chunks(65_521) {
            pieces.take(piece);
        }
        assert_eq!(whole.to_kept(), pieces.to_kept());
    }
}
