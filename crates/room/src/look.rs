//! What the system says of many files, one after another. Where the system lets us, each directory is
//! opened once and its files are asked for by name: a whole path costs a third more.

use crate::manifest::Stat;
use crate::scan::make_path_below;
use std::io;
use std::path::Path;

/// Looks at files below a directory, best in the order of their paths.
pub(crate) struct Look<'a> {
    top: &'a Path,
    #[cfg(target_os = "linux")]
    dir: Option<(Vec<u8>, std::fs::File)>,
}

impl<'a> Look<'a> {
    pub fn below(top: &'a Path) -> Self {
        Self {
            top,
            #[cfg(target_os = "linux")]
            dir: None,
        }
    }

    /// A file or link there; a link in its directory's place is not followed.
    #[cfg(target_os = "linux")]
    pub fn at(&mut self, path: &[u8]) -> io::Result<Stat> {
        use nix::fcntl::AtFlags;
        let end = path.iter().rposition(|byte| *byte == b'/');
        let (at, name) = match end {
            Some(end) => (&path[..end], &path[end + 1..]),
            None => (&path[..0], path),
        };
        let dir = match &mut self.dir {
            Some((open, dir)) if open == at => dir,
            other => {
                let place = make_path_below(self.top, at)?;
                let mut options = std::fs::OpenOptions::new();
                let dir = cook_os::disk::open_no_follow(options.read(true), &place)?;
                &mut other.insert((at.to_vec(), dir)).1
            }
        };
        let found = nix::sys::stat::fstatat(&*dir, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
        Ok(Stat::from(&found))
    }

    #[cfg(not(target_os = "linux"))]
    pub fn at(&mut self, path: &[u8]) -> io::Result<Stat> {
        let found = make_path_below(self.top, path).and_then(std::fs::symlink_metadata)?;
        Ok(Stat::of(&found))
    }
}
