//! The list of packed refs, where it is written so that git does not find what stands in it: a line
//! out of order hides refs from a look-up, HEAD's among them, and a line that is none ends every git.

use super::super::RepoError;
use super::super::error::AtPath;
use super::super::special::find_common_dir;
use super::deviation::Difference;
use super::stand::Baseline;
use crate::disk::{self, Durable, Links, NewFile};
use cook_protocol::digest::sha256;
use std::collections::BTreeMap;
use std::path::Path;

/// Bytes of the list, at most.
const MAX_LIST: u64 = 1 << 30;

impl Baseline {
    /// Writes the list anew where git cannot look things up in it; what was found is copied first.
    /// Refs that it then names and that were not there are put back like any other.
    pub(super) fn mend_packed_refs(&self, copies: &Path) -> Result<Option<Difference>, RepoError> {
        let path = find_common_dir(&self.stand.git_dir).join("packed-refs");
        let read = disk::read_if_plain(&path, MAX_LIST, Links::Refuse);
        let Some(found) = read.at("read", &path)? else {
            return Ok(None);
        };
        let Some(mended) = mend(&found) else {
            return Ok(None);
        };
        let copy = copies.join(sha256(&found));
        std::fs::write(&copy, &found).at("write", &copy)?;
        let later = self.is_later(&path);
        NewFile::at(&path, Durable::Content)
            .write(&mended)
            .at("put back", &path)?;
        Ok(Some(Difference::Steering {
            name: "packed-refs".to_owned(),
            found: Some(copy),
            later,
        }))
    }
}

/// The list as git can read it; none where it can read it as it stands. What tags stand for is
/// left out: git finds that itself.
fn mend(list: &[u8]) -> Option<Vec<u8>> {
    let mut is_sound = list.is_empty() || list.ends_with(b"\n");
    let mut is_sorted = false;
    let mut last: Option<&[u8]> = None;
    let mut refs: BTreeMap<&[u8], &[u8]> = BTreeMap::new();
    let lines = list.split(|byte| *byte == b'\n');
    for (number, line) in lines.enumerate().filter(|(_, line)| !line.is_empty()) {
        if number == 0 && line.starts_with(b"# ") {
            is_sorted = line
                .split(|byte| *byte == b' ')
                .any(|word| word == b"sorted");
        } else if let Some((id, name)) = read_line(line) {
            is_sound &= !is_sorted || last.is_none_or(|last| last < name);
            last = Some(name);
            refs.entry(name).or_insert(id);
        } else {
            is_sound &= last.is_some() && line.strip_prefix(b"^").is_some_and(is_id);
        }
    }
    if is_sound {
        return None;
    }
    let mut mended = b"# pack-refs with: sorted \n".to_vec();
    for (name, id) in refs {
        for part in [id, b" ", name, b"\n"] {
            mended.extend_from_slice(part);
        }
    }
    Some(mended)
}

fn read_line(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = line.iter().position(|byte| *byte == b' ')?;
    let (id, name) = (&line[..space], &line[space + 1..]);
    let forbidden = |byte: &u8| *byte <= b' ' || *byte == 0x7f || b"~^:?*[\\".contains(byte);
    let is_name = name.starts_with(b"refs/") && !name.iter().any(forbidden);
    (is_id(id) && is_name).then_some((id, name))
}

fn is_id(text: &[u8]) -> bool {
    matches!(text.len(), 40 | 64) && text.iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_list_that_git_cannot_read_is_written_anew() {
        let [one, two] = ["1", "2"].map(|digit| digit.repeat(40));
        let sound = [
            String::new(),
            format!(
                "# pack-refs with: peeled fully-peeled sorted \n{one} refs/heads/a\n{two} refs/tags/t\n^{one}\n"
            ),
            format!("# pack-refs with: peeled \n{one} refs/heads/b\n{two} refs/heads/a\n"),
        ];
        for list in sound {
            assert_eq!(mend(list.as_bytes()), None, "{list}");
        }
        let expected =
            format!("# pack-refs with: sorted \n{one} refs/heads/a\n{two} refs/heads/b\n");
        for list in [
            format!("# pack-refs with: sorted \n{two} refs/heads/b\n{one} refs/heads/a\n"),
            format!(
                "# pack-refs with: sorted \n{one} refs/heads/a\n{two} refs/heads/b\n{two} refs/heads/b\n"
            ),
            format!("# pack-refs with: sorted \nrubbish\n{one} refs/heads/a\n{two} refs/heads/b\n"),
            format!("{one} refs/heads/a\n{two} refs/heads/b\n{one} refs/heads/a b\n"),
            format!("{one} refs/heads/a\n{two} refs/heads/b"),
        ] {
            let mended = mend(list.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(mended).unwrap(), expected, "{list}");
        }
    }
}
