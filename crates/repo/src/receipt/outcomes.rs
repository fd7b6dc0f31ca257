//! What a run says of each test: gathered where it ran, and kept beside its receipt.

use super::Receipts;
use super::own_files::cannot;
use super::run_place::{HOOKS, RECORDS, RunPlace};
use crate::disk::{self, Durable, Links, NewFile};
use crate::process::Outcome as Ended;
use cook_protocol::diagnostic::Failure;
use cook_protocol::model::Receipt;
use cook_protocol::trials::hooks;
use cook_protocol::trials::{Material, Outcomes, Report};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes of all records, and of a report.
const MAX_RECORDS: u64 = 64 << 20;
const MAX_REPORT: u64 = 8 << 20;
/// Reports that are read, directories that are looked into, and how deep.
const MAX_REPORTS: usize = 2_000;
const MAX_DIRECTORIES: usize = 20_000;
const MAX_DEPTH: usize = 12;

impl RunPlace<'_> {
    /// Lays the hooks down anew, and takes away what an earlier run wrote.
    pub(super) fn lay_hooks(&self) -> Result<(), Failure> {
        let Some(home) = self.home() else {
            return Ok(());
        };
        let own = home.join(".trial");
        let failed = |cause| cannot("write", &own, cause);
        disk::remove_tree(&own).map_err(failed)?;
        for file in hooks::files() {
            let path = home.join(HOOKS).join(file.path);
            if let Some(dir) = path.parent() {
                fs::create_dir_all(dir).map_err(failed)?;
            }
            NewFile::at(&path, Durable::Nothing)
                .write(file.text.as_bytes())
                .map_err(failed)?;
        }
        Ok(())
    }

    /// What a run that began then says of each test.
    pub(super) fn read_outcomes(&self, ended: &Ended, began: SystemTime) -> Outcomes {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&ended.stdout.bytes()), text(&ended.stderr.bytes()));
        let home = self.home();
        let read = |path: &Path, limit| {
            let bytes = disk::read(path, limit, Links::Refuse).ok().flatten();
            bytes.map(|bytes| text(&bytes)).unwrap_or_default()
        };
        let records = home
            .as_ref()
            .map(|home| read(&home.join(RECORDS), MAX_RECORDS))
            .unwrap_or_default();
        let mut reports = Vec::new();
        if let Some(top) = self.top() {
            find_reports(&top, Some(began), &mut reports);
        }
        if let Some(home) = home {
            let records = home.join(RECORDS).to_string_lossy().into_owned();
            for dir in hooks::report_dirs(&records) {
                let place = PathBuf::from(dir.path);
                find_reports(&place, None, &mut reports);
            }
        }
        let root = self.root_inside();
        let root = root.to_string_lossy();
        let texts: Vec<(String, String)> = reports
            .iter()
            .map(|(path, place)| (path.clone(), read(place, MAX_REPORT)))
            .collect();
        let reports: Vec<Report> = texts
            .iter()
            .map(|(path, text)| Report { path, text })
            .collect();
        let mut outcomes = Outcomes::read(&Material {
            root: &root,
            stdout: &stdout,
            stderr: &stderr,
            records: &records,
            reports: &reports,
        });
        // It was ended before it came to its end.
        outcomes.is_partial |= ended.code.is_none();
        outcomes
    }
}

/// Files that runners write below a directory, by the name of their directory or their own, written since
/// then; without a moment all files.
fn find_reports(top: &Path, since: Option<SystemTime>, found: &mut Vec<(String, PathBuf)>) {
    let mut directories = 0;
    let mut due = vec![(top.to_owned(), String::new(), 0)];
    while let Some((dir, below, depth)) = due.pop() {
        directories += 1;
        if directories > MAX_DIRECTORIES || found.len() >= MAX_REPORTS {
            return;
        }
        let Ok(entries) = fs::read_dir(&dir) else {
            continue;
        };
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let path = match below.is_empty() {
                true => name.clone(),
                false => format!("{below}/{name}"),
            };
            if kind.is_dir() {
                if depth < MAX_DEPTH && !PASSED_OVER.contains(&name.as_str()) {
                    due.push((entry.path(), path, depth + 1));
                }
            } else if kind.is_file()
                && (since.is_none() || cook_protocol::trials::outcomes::is_report(&path))
            {
                let is_new = |since: SystemTime| {
                    let changed = entry.metadata().and_then(|found| found.modified());
                    changed.is_ok_and(|at| at >= since)
                };
                if since.is_none_or(is_new) {
                    found.push((path, entry.path()));
                }
            }
        }
    }
}

/// Directories in which no runner writes a report.
const PASSED_OVER: [&str; 5] = [".git", "node_modules", ".venv", "hooks", "site-packages"];

impl Receipts {
    /// What a receipt's run says of each test.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub fn outcomes(&self, receipt: &Receipt) -> Result<Outcomes, Failure> {
        if let Some(digest) = &receipt.outcomes_sha256
            && let Some(bytes) = self.stream(digest)?
            && let Ok(outcomes) = serde_json::from_slice(&bytes)
        {
            return Ok(outcomes);
        }
        let output = self.output(receipt)?;
        let mut outcomes = Outcomes::read(&Material {
            stdout: &output.text,
            ..Material::default()
        });
        outcomes.is_partial |= output.partial;
        Ok(outcomes)
    }
}
