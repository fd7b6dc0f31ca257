//! What somebody else writes, or has a program write.

use super::world::{By, SLICES, SLOTS, World};

impl World {
    /// One of them; sooner the library.
    fn pick_path(&mut self, paths: &[String]) -> Option<String> {
        let path = self.rng.pick(paths)?;
        Some(match self.rng.chance(60) {
            true => self.library().unwrap_or(path),
            false => path,
        })
    }

    pub fn format(&mut self) {
        let paths = self.paths();
        let Some(path) = self.pick_path(&paths) else {
            return;
        };
        let text = self.read(&path);
        if text.is_empty() {
            return self.say("nothing to format");
        }
        let lines: Vec<&str> = text.lines().collect();
        let joined = |lines: Vec<String>, end: &str| {
            lines
                .iter()
                .map(|line| format!("{line}{end}"))
                .collect::<String>()
        };
        let each =
            |of: &dyn Fn(&str) -> String| lines.iter().map(|line| of(line)).collect::<Vec<_>>();
        let how = self.rng.below(4);
        let new = match how {
            0 => joined(each(&|line| format!("    {line}")), "\n"),
            1 => joined(each(&|line| line.trim_start().to_owned()), "\n"),
            2 => joined(
                each(&|line| line.to_owned()),
                if text.contains("\r\n") { "\n" } else { "\r\n" },
            ),
            _ => joined(each(&|line| line.replace(" wrote", "\n    wrote")), "\n"),
        };
        self.repo.write(&path, new);
        self.commit("Format", None);
        self.say(format!(
            "format {path} ({})",
            ["indent", "no indent", "line ends", "wrap"][how]
        ));
    }

    /// The file that has most of the library.
    pub fn library(&self) -> Option<String> {
        let spots = self.lines_now().into_iter();
        let mut paths: Vec<String> = spots
            .filter(|spot| self.lines[spot.line].slot.starts_with("between"))
            .map(|spot| spot.path)
            .collect();
        paths.sort();
        let counted = |path: &String| paths.iter().filter(|other| *other == path).count();
        paths.iter().max_by_key(|path| counted(path)).cloned()
    }

    pub fn rename(&mut self) {
        let paths: Vec<String> = self
            .paths()
            .into_iter()
            .filter(|path| !path.starts_with("drop"))
            .collect();
        let Some(path) = self.pick_path(&paths) else {
            return;
        };
        let new = format!("new{}-{path}", self.count % 10);
        self.git(&["mv", "-f", &path, &new]);
        let on_top = self.rng.chance(50);
        if on_top && !self.read(&new).is_empty() {
            let line = self.line("top", By::Foreign);
            let text = self.read(&new);
            self.repo.write(&new, format!("{line}\n{text}"));
        }
        self.commit("Rename", None);
        self.say(format!(
            "rename {path} to {new}, with a line on top: {on_top}"
        ));
    }

    pub fn shift(&mut self) {
        let slot = self.any_slot();
        let spots = self.at_slot(&slot);
        let Some(spot) = spots.first() else {
            return self.say("nothing to move");
        };
        let text = self.read(&spot.path);
        let block: Vec<&str> = text
            .lines()
            .skip(spot.first - 1)
            .take(spot.last + 1 - spot.first)
            .collect();
        let block = block.join("\n") + "\n";
        self.put(spot, &[]);
        let to = if self.rng.chance(50) {
            "moved.txt".to_owned()
        } else {
            format!("moved{}.txt", self.count)
        };
        let there = self.read(&to);
        self.repo.write(&to, there + &block);
        self.commit("Move", None);
        self.say(format!("move {slot} to {to}"));
    }

    pub fn any_slot(&mut self) -> String {
        let written: Vec<String> = self
            .lines_now()
            .iter()
            .map(|spot| &self.lines[spot.line])
            .filter(|line| matches!(line.by, By::Slice(_)))
            .map(|line| line.slot.clone())
            .collect();
        match self
            .rng
            .chance(70)
            .then(|| self.rng.pick(&written))
            .flatten()
        {
            Some(slot) => slot,
            None => format!("lib-{}", self.rng.below(SLOTS)),
        }
    }

    /// Another text at some place; false when there is no such place.
    pub fn rewrite_one(&mut self) -> bool {
        let slot = self.any_slot();
        let spots = self.at_slot(&slot);
        let Some(spot) = self.rng.pick(&spots) else {
            return false;
        };
        let mut with = vec![self.line(&slot, By::Foreign)];
        if self.rng.chance(30) {
            with.push(self.line(&slot, By::Foreign));
        }
        self.put(&spot, &with);
        true
    }

    pub fn rewrite(&mut self) {
        let first = self.lines.len();
        if self.rewrite_one() {
            self.commit("Rewrite", None);
        }
        let slots: Vec<&str> = self.lines[first..].iter().map(|line| &*line.slot).collect();
        self.say(format!("foreign rewrite at {slots:?}"));
    }

    pub fn overwrite_all(&mut self) {
        let first = self.lines.len();
        for _ in 0..4 {
            self.rewrite_one();
        }
        if self.lines.len() > first {
            self.commit("Rewrite", None);
        }
        self.say("several foreign rewrites");
    }

    pub fn put_back(&mut self) {
        let is_changed = |id: &&str| {
            !self.paths().contains(&format!("drop-{id}.txt"))
                || self.at_slot(&format!("line-{id}")).is_empty()
        };
        let changed: Vec<&str> = SLICES.into_iter().filter(is_changed).collect();
        let Some(id) = self.rng.pick(&changed) else {
            return self.say("nothing to put back");
        };
        let path = format!("drop-{id}.txt");
        let slot = format!("line-{id}");
        let stands = !self.at_slot(&slot).is_empty();
        if !self.paths().contains(&path) && (stands || self.rng.chance(50)) {
            self.git(&["checkout", "-q", &self.base, "--", &path]);
            self.commit("Put back", None);
        } else if !stands && let Some(spot) = self.at_slot(&format!("between-{id}")).first() {
            let here = self
                .lines
                .iter()
                .find(|line| line.slot == slot)
                .unwrap()
                .text
                .clone();
            let same = self.lines[spot.line].text.clone();
            self.put(spot, &[same, here]);
            self.commit("Put back", None);
        }
        self.say(format!("put back what {id} took away"));
    }

    pub fn change_entry(&mut self) {
        let path = "bin-b.bin";
        if self.rng.chance(30) {
            self.git(&["checkout", "-q", &self.base, "--", path]);
        } else {
            self.count += 1;
            self.repo
                .write(path, format!("\0{} by somebody\n", self.count));
            let blob = self.hash_blob(path);
            self.blobs.insert(blob, By::Foreign);
        }
        self.commit("Entry", None);
        self.say("change bin-b.bin");
    }

    pub fn delete(&mut self) {
        let slot = self.any_slot();
        let spots = self.at_slot(&slot);
        if let Some(spot) = self.rng.pick(&spots) {
            self.put(&spot, &[]);
            self.commit("Delete", None);
        }
        self.say(format!("delete at {slot}"));
    }

    pub fn make_binary(&mut self) {
        let paths = self.paths();
        if let Some(path) = self.rng.pick(&paths) {
            self.repo.write(&path, "\0not a text any more\n");
            self.commit("Binary", None);
            self.say(format!("{path} is no text any more"));
        }
    }
}
