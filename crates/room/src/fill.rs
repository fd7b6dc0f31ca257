//! Making a directory hold what a commit holds.

use crate::RoomError;
use crate::attributes::{Attributes, Form, with_crlf};
use crate::filled::{Filled, Lacking};
use crate::forms::{form_name, is_form};
use crate::git_dir;
use crate::index::{Of, encode_index};
use crate::lfs::Pointer;
use crate::links::{find_leading_out, make_link};
use crate::list::{Kind, Leaf, List};
use crate::manifest::{Draft, Manifest, Stat, Written};
use crate::modes::{set_file_mode, set_mode};
use crate::objects::Objects;
use crate::part::{Part, Places};
use crate::scan::{CachePaths, Stands, make_path_below, scan};
use crate::shown::Shown;
use crate::source;
use crate::space::require_space;
use crate::submodule::{self, Origin};
use cook_os::disk::{self, Durable, Links, NewFile};
use git2::{ObjectType, Oid};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Bytes of a manifest, at most.
const MAX_MANIFEST: u64 = 1 << 30;
/// Bytes of a `.gitmodules`, at most.
const MAX_GITMODULES: u64 = 4 << 20;
/// Within this time a second change of a file may leave its times as they are.
const CLOCK_STEP: Duration = Duration::from_millis(10);
/// How far ahead of now the time of a file may be before it is waited for.
const AHEAD: Duration = Duration::from_secs(2);

/// A commit, and what is made of it.
pub(crate) struct Filling<'a> {
    /// The room's own directory, with the manifest.
    dir: &'a Path,
    /// Where the files go.
    top: &'a Path,
    commit: &'a str,
    /// Where a submodule's repository may lie.
    from: Places<'a>,
    /// Where git is found.
    path: &'a OsStr,
    /// What else will be written beside the files.
    beside: u64,
    parts: Vec<Part>,
    list: List,
    attributes: Vec<Attributes>,
    /// The time of files that are written; none = now.
    stamp: Option<SystemTime>,
    filled: Filled,
}

impl<'a> Filling<'a> {
    /// Reads what the commit holds.
    pub fn of(
        dir: &'a Path,
        top: &'a Path,
        source: &source::Source<'a>,
        objects: Objects,
    ) -> Result<Self, RoomError> {
        let mut filling = Self {
            dir,
            top,
            commit: source.commit,
            from: Places {
                worktree: source.worktree,
                git_dir: source.git_dir,
            },
            path: source.path,
            beside: 0,
            parts: vec![Part::of_repository(source, objects)],
            list: List::default(),
            attributes: Vec::new(),
            stamp: None,
            filled: Filled::default(),
        };
        filling
            .read()
            .map_err(|why| filling.not_reproducible(why))?;
        if !source.history {
            filling.list.roots.clear();
        }
        Ok(filling)
    }

    fn not_reproducible(&self, why: String) -> RoomError {
        RoomError::NotReproducible {
            commit: self.commit.to_owned(),
            why,
        }
    }

    fn read(&mut self) -> Result<(), String> {
        let objects = &self.parts[0].objects;
        let tree = objects.find_tree(objects.id(self.commit)?)?;
        self.filled.tree = tree.to_string();
        self.list.add(objects, 0, tree, b"")?;
        let mut done = BTreeSet::new();
        loop {
            let due = self.list.submodules.iter();
            let due = due.filter(|(path, _)| !done.contains(*path));
            let due: Vec<_> = due.map(|(path, of)| (path.clone(), *of)).collect();
            if due.is_empty() {
                break;
            }
            for (path, (source, id)) in due {
                if let Err(why) = self.add_submodule(&path, source, id) {
                    let path = String::from_utf8_lossy(&path).into_owned();
                    self.filled.lacking.push(Lacking { path, why });
                }
                done.insert(path);
            }
        }
        for (source, part) in self.parts.iter().enumerate() {
            let dir = self.dir.join(format!("attributes-{source}.git"));
            let attributes = Attributes::read(
                dir,
                &self.list,
                source,
                &part.root,
                &part.objects,
                self.path,
            )?;
            self.attributes.push(attributes);
        }
        Ok(())
    }

    /// A submodule's files, where its commit is here; its directory stays empty otherwise.
    fn add_submodule(&mut self, path: &[u8], source: usize, id: Oid) -> Result<(), String> {
        let above = &self.parts[source];
        let file = crate::list::join(&above.root, b".gitmodules");
        let leaf = self.list.file(&file);
        let leaf = leaf.ok_or("no `.gitmodules` says where it comes from")?;
        above.objects.require_small(leaf.id, MAX_GITMODULES)?;
        let text = above.objects.read(leaf.id, ObjectType::Blob)?;
        let modules = submodule::modules(text, self.dir, self.path)?;
        let own = match above.root.is_empty() {
            true => path,
            false => &path[above.root.len() + 1..],
        };
        let module = modules
            .get(own)
            .ok_or("no `.gitmodules` says where it comes from, or it says `update = none`")?;
        let address = module.address.as_deref();
        let address = address.ok_or("`.gitmodules` names no address for it")?;
        let mut others = above.modules.iter();
        if let Some(other) = others.find(|other| submodule::lies_within(&module.name, other)) {
            return Err(format!(
                "its name `{}` and that of another, `{other}`, lie in each other, which `git clone --recurse-submodules` refuses: give it another name in `.gitmodules`",
                module.name
            ));
        }
        let (mut part, tree) = above.find_submodule(self.from, module, path, id)?;
        let origin = Origin {
            address,
            above: &above.git_dir,
            git_dir: &part.git_dir,
            commit: id,
        };
        let remark = origin.check(part.objects.format(), self.path)?;
        let place = origin.place(self.path);
        let is_cut = module.is_cut && !origin.ignores_depth(self.path);
        let path_text = String::from_utf8_lossy(path);
        let remark = remark.map(|remark| format!("`{path_text}` {remark}"));
        self.filled.remarks.extend(remark);
        let mut list = List::default();
        let number = self.parts.len();
        list.add(&part.objects, number, tree, path)?;
        self.list.append(list);
        part.is_cut = is_cut;
        part.place = place.filter(|_| !is_cut);
        if part.below.is_some() {
            self.list.roots.insert(path.to_vec());
            self.parts[source].modules.push(module.name.clone());
        }
        self.filled.submodules.push(part.git_dir.join("objects"));
        self.parts.push(part);
        Ok(())
    }

    /// The `.git` of the room, and that of each submodule in it.
    pub fn list_shown<'s>(
        &self,
        source: &source::Source<'s>,
        caches: &'s [String],
    ) -> Result<Vec<Shown<'s>>, RoomError> {
        let parts = self.parts.iter().enumerate();
        let shown = parts.map(|(number, part)| part.show(number, self.top, source, caches));
        shown.filter_map(Result::transpose).collect()
    }

    /// So many bytes will be written beside the files.
    pub fn leave_space(&mut self, bytes: u64) {
        self.beside = bytes;
    }

    /// Makes the directory hold it, and the caches that are there. Files that are there as the
    /// commit has them are looked at where that is asked, and else taken for what was written. There
    /// is an index where it is asked for, and where a file was written.
    pub fn fill(
        mut self,
        caches: &[String],
        look: bool,
        with_index: bool,
    ) -> Result<Filled, RoomError> {
        let place = self.dir.join("manifest");
        let bytes = disk::read(&place, MAX_MANIFEST, Links::Refuse);
        let bytes = bytes.map_err(|cause| RoomError::io("read", &place, cause))?;
        let bytes = bytes.unwrap_or_default();
        let before = Manifest::parse(&bytes).unwrap_or_default();
        let forms = self.forms(&before)?;
        let found = scan(self.top, &self.list, &CachePaths::of(caches), look)?;
        let mut had = before.in_order();
        let mut kept = Vec::with_capacity(self.list.files.len());
        let mut due = Vec::new();
        for (number, (path, leaf)) in self.list.files.iter().enumerate() {
            let had = had.find(path).filter(|had| {
                let stands = match found.files[number] {
                    Stands::Nothing => false,
                    Stands::Unseen => true,
                    Stands::Seen(stat) => stat == had.stat,
                };
                stands
                    && had.id == leaf.id.as_bytes()
                    && is_form(had.form, leaf.kind, forms.get(path))
            });
            kept.push(had.map(|had| had.stat));
            if had.is_none() {
                due.push(number);
            }
        }
        let due_files = due.iter().map(|number| &self.list.files[*number]);
        require_space(self.dir, self.beside, due_files, &self.parts, &forms)?;
        let is_same = due.is_empty()
            && before.len() == kept.len()
            && before.attributes == self.attributes_digest();
        if !is_same {
            // From here on the manifest of before does not hold.
            match fs::remove_file(&place) {
                Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                    return Err(RoomError::io("remove", &place, cause));
                }
                _ => {}
            }
        }
        for path in &found.strange {
            self.remove(path)?;
        }
        for number in &due {
            if found.files[*number] != Stands::Nothing {
                self.remove(&self.place(&self.list.files[*number].0)?)?;
            }
        }
        self.make_dirs(&found.dirs)?;
        self.stamp = later_than(before.newest());
        for number in &due {
            let (path, leaf) = self.list.files[*number].clone();
            let form = forms.get(&path).unwrap_or(&Form::Plain);
            kept[*number] = Some(self.write(&path, leaf, form)?);
        }
        for part in &self.parts {
            if let Some(way) = part.describe_way_to_git_dir()
                && self.list.roots.contains(&part.root)
            {
                git_dir::write_link(&self.place(&part.root)?.join(".git"), &way)?;
            }
        }
        let written = Instant::now();
        self.filled.written = due.len();
        self.filled.files = self.list.files.len();
        self.filled.unseen = !look;
        self.filled.leading_out = find_leading_out(self.top, &self.list)?;
        let kept: Vec<Stat> = kept.into_iter().flatten().collect();
        if !is_same {
            let mut manifest = Draft::new(&self.attributes_digest());
            for ((path, leaf), stat) in self.list.files.iter().zip(&kept) {
                manifest.add(Written {
                    path,
                    id: leaf.id.as_bytes(),
                    form: &form_name(leaf.kind, forms.get(path)),
                    stat: *stat,
                });
            }
            NewFile::at(&place, Durable::Nothing)
                .write(manifest.bytes())
                .map_err(|cause| RoomError::io("write", &place, cause))?;
        }
        if with_index || self.filled.written > 0 {
            self.filled.indexes = self.indexes(&kept);
        }
        let files = std::mem::take(&mut self.list.files);
        let paths = files.into_iter().map(|(path, _)| path);
        self.filled.stats = paths.zip(kept).collect();
        if self.filled.written > 0 {
            // A change right after this has other times then.
            std::thread::sleep(CLOCK_STEP.saturating_sub(written.elapsed()));
        }
        Ok(self.filled)
    }

    /// Of the room's `.git` and of each submodule's.
    fn indexes(&self, stats: &[Stat]) -> Vec<Vec<u8>> {
        let parts = self.parts.iter().enumerate();
        let shown = parts.filter(|(_, part)| part.below.is_some());
        let indexes = shown.map(|(number, part)| {
            let of = Of {
                source: number,
                root: &part.root,
                id_bytes: self.commit.len() / 2,
            };
            encode_index(&self.list, stats, &of)
        });
        indexes.collect()
    }

    fn attributes_digest(&self) -> String {
        let digests: Vec<&str> = self
            .attributes
            .iter()
            .map(|attributes| attributes.digest.as_str())
            .collect();
        digests.join(" ")
    }

    /// What is made of files, where it is something. What the same content was made into under the
    /// same attributes is not asked again.
    fn forms(&self, before: &Manifest) -> Result<BTreeMap<Vec<u8>, Form>, RoomError> {
        if self.attributes.iter().all(Attributes::is_empty) {
            return Ok(BTreeMap::new());
        }
        let same = before.attributes == self.attributes_digest();
        let mut before = before.in_order();
        let asked = self.list.files.iter().filter(|(path, leaf)| {
            let had = before.find(path).filter(|_| same);
            had.is_none_or(|had| had.id != leaf.id.as_bytes() || had.form.len() > 1)
        });
        let asked: Vec<&(Vec<u8>, Leaf)> = asked.collect();
        let mut forms = BTreeMap::new();
        for attributes in &self.attributes {
            forms.append(&mut attributes.forms(&asked)?);
        }
        Ok(forms)
    }

    fn place(&self, path: &[u8]) -> Result<PathBuf, RoomError> {
        make_path_below(self.top, path)
            .map_err(|cause| RoomError::io("name a file in", self.top, cause))
    }

    fn remove(&mut self, path: &Path) -> Result<(), RoomError> {
        self.filled.removed += 1;
        let removed = match fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => disk::remove_tree(path),
            Ok(_) => fs::remove_file(path),
            Err(cause) => Err(cause),
        };
        removed.map_err(|cause| RoomError::io("remove", path, cause))
    }

    fn make_dirs(&self, there: &BTreeSet<Vec<u8>>) -> Result<(), RoomError> {
        for dir in &self.list.dirs {
            let path = self.place(dir)?;
            let made = match there.contains(dir) {
                true => Ok(()),
                false => fs::create_dir(&path),
            };
            made.and_then(|()| set_mode(&path, 0o755))
                .map_err(|cause| RoomError::io("make", &path, cause))?;
        }
        Ok(())
    }

    /// One file, made anew.
    fn write(&mut self, path: &[u8], leaf: Leaf, form: &Form) -> Result<Stat, RoomError> {
        let place = self.place(path)?;
        let part = &self.parts[leaf.source];
        let bytes = part.objects.read(leaf.id, ObjectType::Blob);
        let bytes = bytes.map_err(|why| {
            self.not_reproducible(format!("`{}`: {why}", String::from_utf8_lossy(path)))
        })?;
        let failed = |cause| RoomError::io("write", &place, cause);
        if leaf.kind == Kind::Link {
            make_link(&bytes, &place).map_err(|cause| match cause.kind() {
                // No clone can make it either.
                io::ErrorKind::NotFound
                | io::ErrorKind::InvalidInput
                | io::ErrorKind::InvalidFilename => {
                    let path = String::from_utf8_lossy(path);
                    self.not_reproducible(format!("`{path}` is a link that leads nowhere: {cause}"))
                }
                _ => failed(cause),
            })?;
        } else {
            let (is_large, form) = match form {
                Form::Lfs(form) => (true, &**form),
                form => (false, form),
            };
            let bytes = match form {
                Form::Plain | Form::Lfs(_) => bytes,
                Form::Crlf { auto } => with_crlf(bytes, *auto),
                Form::Git(_) => self.attributes[leaf.source].convert(path, &bytes)?,
            };
            let mut options = OpenOptions::new();
            let mut file = disk::open_no_follow(options.write(true).create_new(true), &place)
                .map_err(failed)?;
            let pointer = Pointer::parse(&bytes).filter(|_| is_large);
            let wrong = match pointer {
                Some(pointer) => pointer
                    .write(&part.git_dir, &mut file)
                    .map_err(failed)?
                    .err(),
                None => {
                    file.write_all(&bytes).map_err(failed)?;
                    None
                }
            };
            if let Some(why) = wrong {
                let path = String::from_utf8_lossy(path).into_owned();
                self.filled.lacking.push(Lacking { path, why });
            }
            let mode = match leaf.kind {
                Kind::Program => 0o755,
                _ => 0o644,
            };
            set_file_mode(&file, mode).map_err(failed)?;
            if let Some(stamp) = self.stamp {
                file.set_modified(stamp).map_err(failed)?;
            }
        }
        fs::symlink_metadata(&place)
            .map(|found| Stat::of(&found))
            .map_err(failed)
    }
}

/// A whole second after all that was written there or built from it: a program that goes by whole seconds
/// and sizes takes a new version for the one of before otherwise. In a new room any time will do.
fn later_than(newest: Option<u64>) -> Option<SystemTime> {
    let newest = newest?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let stamp = Duration::from_secs(now.as_secs().max(newest) + 1);
    let ahead = stamp.saturating_sub(now);
    std::thread::sleep(ahead.saturating_sub(AHEAD));
    Some(UNIX_EPOCH + stamp)
}
