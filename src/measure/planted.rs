//! Plants defects in a change, one at a time, in a clean room at its last commit, and runs its gates on each.
//!
//! Invariant: no defect is ever written into the user's worktree, and defects that were not tried do not count.

use super::world::{World, deciding};
use crate::prelude::*;
use cook_mutants::{
    Class, Edited, Language, Mutant, Outcome, Planting, Subject, Tally, classify_texts,
    is_in_tests, plant, subject, with_comment, without_change,
};
use cook_protocol::diagnostic::{begin, last_line, list_with_verb};
use cook_protocol::model::{StrengthNote, StrengthRule, UnnoticedDefect};
use cook_protocol::question::GateQuestion;
use cook_repo::git::{ChangeKind, Entry, MAX_EDITS, MAX_TEXT};
use cook_repo::receipt::TakenBack;

/// Tries at most the given number of defects in a change whose gates are green, and starts none after the given number
/// of minutes.
///
/// # Errors
/// A gate that cannot be run, or an interruption.
pub(crate) fn plant_defects(field: &Field, (most, minutes): (usize, u64)) -> Result<Planted> {
    let started = Instant::now();
    let limit = Duration::from_secs(minutes.saturating_mul(60).min(MOST_SECONDS));
    let mut trial = Trial {
        field,
        greens: field.greens.to_vec(),
        deadline: started + limit,
    };
    let mut planted = Planted::default();
    let texts = texts(field.edits, field.commands);
    trial.leave_out_readers(&texts, &mut planted)?;
    if planted.problem.is_some() {
        return Ok(planted);
    }
    // The time limit begins with the first defect.
    trial.deadline = Instant::now() + limit;
    trial.take_back(&mut planted)?;
    let planting = planting(&texts, (field.head, most), &mut planted);
    trial.plant(planting, &mut planted)?;
    planted.seconds = started.elapsed().as_secs_f64();
    Ok(planted)
}

/// A year: adding a longer time to an `Instant` may overflow.
const MOST_SECONDS: u64 = 365 * 24 * 60 * 60;

/// The texts of the edited files.
pub(crate) fn texts<'e>(edits: &'e [Edit], commands: &[String]) -> Vec<Edited<'e>> {
    edits
        .iter()
        .filter_map(|edit| {
            let (before, after) = edit.texts.as_ref()?;
            Some(Edited {
                path: &edit.change.path,
                class: find_class(edit, commands),
                before: before.as_deref(),
                after: after.as_deref(),
            })
        })
        .collect()
}

/// Why no defect can be planted; `None` if one can.
pub(crate) fn why_not(texts: &[Edited]) -> Option<String> {
    let why = match subject(texts) {
        Subject::Code => return None,
        Subject::NoSource => "the change touches no text of source",
        Subject::Comments => "the change edits comments and blanks alone",
        Subject::Moves => "the change moves code and brings none",
        Subject::Deletions => "the change takes code away and brings none",
    };
    Some(why.to_owned())
}

/// Plants defects in the files whose language is known.
fn planting(texts: &[Edited], (head, most): (&str, usize), planted: &mut Planted) -> Planting {
    let is_known = |edit: &Edited| {
        let text = edit.after.or(edit.before).unwrap_or_default();
        Language::of(edit.path, text) != Language::Other
    };
    let sources = texts.iter().filter(|edit| edit.class == Class::Source);
    let (known, unknown): (Vec<Edited>, Vec<Edited>) = sources.copied().partition(is_known);
    if let Some(first) = unknown.first() {
        let others = match unknown.len() {
            1 => String::new(),
            more => format!(" and {} more", more - 1),
        };
        planted.checked.push(format!(
            "no defect is planted in `{}`{others}: the language is not known here",
            first.path
        ));
    }
    plant(&known, head, most)
}

/// The trial of defects in a change, until a deadline.
struct Trial<'a> {
    field: &'a Field<'a>,
    greens: Vec<Green>,
    deadline: Instant,
}

impl Trial<'_> {
    /// Leaves out gates that are red if only a comment is added: they read the text of the code, so noticing a defect
    /// proves nothing. The time of this run, which rebuilds what a green run may have found built, is taken as the
    /// usual time of a run with a defect.
    fn leave_out_readers(&mut self, texts: &[Edited], planted: &mut Planted) -> Result<()> {
        let sources = texts.iter().filter(|edit| edit.class == Class::Source);
        let mut files = Vec::new();
        for edit in sources {
            if let Some(text) = edit.after.and_then(|text| with_comment(edit.path, text)) {
                files.push(self.file(edit.path, text)?);
            }
        }
        if files.is_empty() {
            return Ok(());
        }
        (self.field.tell)("once with nothing but a comment added");
        let (mut looking, mut last) = (Vec::new(), Vec::new());
        for mut green in std::mem::take(&mut self.greens) {
            let (begun, one) = (Instant::now(), std::slice::from_ref(&green));
            let tried = try_files(self.field, one, &files, self.deadline, limit_to_own)?;
            let took = begun.elapsed().as_millis() as u64;
            match tried {
                Tried::Told {
                    outcome: Outcome::Killed | Outcome::Unbuildable,
                    timed_out,
                    said,
                } => {
                    looking.push(format!("`{}`", green.gate.run));
                    last.push(match timed_out {
                        true => format!("no end within {} s", took / 1000),
                        false => said,
                    });
                }
                _ => {
                    green.ms = green.ms.max(took);
                    self.greens.push(green);
                }
            }
        }
        self.greens.sort_by_key(|green| green.ms);
        if looking.is_empty() {
            return Ok(());
        }
        let what = format!(
            "{} red where nothing but comments was added to what changed (last: {}): what looks at the text, or is red by chance, notices no defect",
            list_with_verb(&looking),
            last.join("; ")
        );
        if self.greens.is_empty() {
            planted.problem = Some(what.clone());
        }
        planted.checked.push(what);
        Ok(())
    }

    fn take_back(&self, planted: &mut Planted) -> Result<()> {
        let sources = sources(self.field.edits, self.field.commands);
        let span = (self.field.base, self.field.head);
        let files = match read_files_before(self.field.repo, &sources, span)? {
            Ok(files) => files,
            Err(why) => {
                planted.checked.push(format!(
                    "whether a gate notices the change as a whole cannot be told: {why}"
                ));
                return Ok(());
            }
        };
        (self.field.tell)("once with the whole change taken back");
        planted.reverted = match try_files(
            self.field,
            &self.greens,
            &files,
            self.deadline,
            limit_to_usual,
        )? {
            Tried::OutOfTime => {
                let what = "the whole change was not taken back: the time was over";
                planted.checked.push(what.to_owned());
                Reverted::Unknown
            }
            Tried::Told {
                outcome: Outcome::Survived,
                ..
            } => Reverted::Unnoticed,
            Tried::Told { .. } => Reverted::Noticed,
        };
        Ok(())
    }

    fn plant(&self, planting: Planting, planted: &mut Planted) -> Result<()> {
        let all = planting.mutants.len();
        let mut outcomes = Vec::new();
        for (at, mutant) in planting.mutants.into_iter().enumerate() {
            (self.field.tell)(&format!(
                "defect {} of {all}, {} noticed: {}:{}",
                at + 1,
                outcomes
                    .iter()
                    .filter(|outcome| **outcome == Outcome::Killed)
                    .count(),
                mutant.path,
                mutant.line
            ));
            let file = self.file(&mutant.path, mutant.text.clone())?;
            match try_files(
                self.field,
                &self.greens,
                &[file],
                self.deadline,
                limit_to_usual,
            )? {
                Tried::OutOfTime => break,
                Tried::Told {
                    outcome, timed_out, ..
                } => {
                    outcomes.push(outcome);
                    planted.timed_out += usize::from(timed_out && outcome == Outcome::Killed);
                    if outcome == Outcome::Survived {
                        planted.survivors.push(Survivor::from(mutant));
                    }
                }
            }
        }
        planted.left_out = planting.possible.saturating_sub(outcomes.len());
        if outcomes.len() < all {
            let what = format!(
                "{} not tried: the time was over",
                count_noun(all - outcomes.len(), "defect")
            );
            planted.checked.push(what);
        }
        if planting.possible > all {
            let what = format!(
                "{} sampled of {} that could be planted, by the commit's id",
                count_noun(all, "defect"),
                planting.possible
            );
            planted.checked.push(what);
        }
        planted.tally = Tally::of(outcomes);
        Ok(())
    }

    /// The file with a defect, executable if the original is.
    fn file(&self, path: &str, text: String) -> Result<TakenBack> {
        let entry = self.field.repo.tree_entry(self.field.head, path)?;
        Ok(TakenBack {
            path: path.to_owned(),
            bytes: Some(text.into_bytes()),
            runs: entry.is_some_and(|entry| entry.mode == "100755"),
        })
    }
}

// Source files as they were before a change, with the tests as they are now.

/// The edits of source files; `commands` are those that decide whether a change passes.
pub(crate) fn sources<'e>(edits: &'e [Edit], commands: &[String]) -> Vec<&'e Edit> {
    edits
        .iter()
        .filter(|edit| find_class(edit, commands) == Class::Source)
        .collect()
}

/// The class of an edited file; by its path if its text was not read.
pub(super) fn find_class(edit: &Edit, commands: &[String]) -> Class {
    let texts = edit.texts.as_ref();
    let texts = texts.map_or([None, None], |(before, after)| {
        [before.as_deref(), after.as_deref()]
    });
    classify_texts(&edit.change.path, commands, texts)
}

/// New or changed code that was not read, because it is not text or is too large.
pub(crate) fn list_unread(edits: &[Edit], commands: &[String]) -> Vec<String> {
    let is_code = |edit: &&Edit| {
        let path = &edit.change.path;
        edit.texts.is_none()
            && edit.change.kind != ChangeKind::Deleted
            && Language::of(path, "") != Language::Other
            // Outside of these the path does not identify tests.
            && !is_in_tests(path)
            && find_class(edit, commands) != Class::Gate
    };
    let unread = edits.iter().filter(is_code);
    unread
        .map(|edit| clean(&edit.change.path, Lines::Fold))
        .collect()
}

/// Why the strength is unknown if code was not read.
pub(crate) fn tell_unread(unread: &[String]) -> Option<String> {
    /// Maximum number of files that are named.
    const NAMED: usize = 5;
    if unread.is_empty() {
        return None;
    }
    let named = &unread[..unread.len().min(NAMED)];
    let more = and_more(unread.len() - named.len());
    Some(format!(
        "nobody could plant a defect in `{}`{more}: what is not UTF-8, has more than {} KiB, or comes after {MAX_EDITS} other files or 64 MiB of them, is not read",
        named.join("`, `"),
        MAX_TEXT / 1024
    ))
}

/// These files as they were at the first commit, with the tests of the second one; or the reason why they cannot be
/// separated.
pub(crate) fn read_files_before(
    repo: &Repo,
    sources: &[&Edit],
    span: (&str, &str),
) -> Result<Result<Vec<TakenBack>, String>> {
    let mut files = Vec::new();
    for edit in sources {
        let path = edit.change.path.as_str();
        match read_file_before(repo, edit, span)? {
            Some(file) => files.push(file),
            None => return Ok(Err(format!("`{path}` holds tests of its own, or no text"))),
        }
    }
    Ok(Ok(files))
}

fn read_file_before(
    repo: &Repo,
    edit: &Edit,
    (base, head): (&str, &str),
) -> Result<Option<TakenBack>> {
    let path = &edit.change.path;
    let entry = repo.tree_entry(base, path)?;
    let runs = entry.as_ref().is_some_and(|entry| entry.mode == "100755");
    // A link or a submodule has no text that could be restored.
    let now = repo.tree_entry(head, path)?;
    let mut sides = entry.iter().chain(&now);
    let is_file = sides.all(|entry| entry.mode.starts_with("100"));
    let bytes = match &edit.texts {
        Some((before, after)) => match without_change(path, before.as_deref(), after.as_deref()) {
            Some(text) => text.map(String::into_bytes),
            None => return Ok(None),
        },
        None => match repo.entry(base, path)? {
            Entry::Nothing => None,
            Entry::File { bytes, .. } => Some(bytes),
            _ => return Ok(None),
        },
    };
    let file = TakenBack {
        path: path.clone(),
        bytes,
        runs,
    };
    Ok(is_file.then_some(file))
}

// Whether the output of a red gate shows that a file does not build.

/// Messages of compilers and interpreters about a text that is not valid in the language.
fn marks(language: Language) -> &'static [&'static str] {
    use Language::*;
    match language {
        Rust => &["error[E", "error: could not compile"],
        Python => &["SyntaxError:", "IndentationError:", "TabError:"],
        JavaScript => &["SyntaxError:", "error TS", "Transform failed"],
        Go => &["syntax error:", "[build failed]", "[setup failed]"],
        Shell => &["syntax error", "Syntax error"],
        Java => &["COMPILATION ERROR", "error: "],
        Kotlin => &["e: ", "Compilation error"],
        Ruby => &["SyntaxError", "syntax error"],
        C | Swift => &["error: "],
        CSharp => &["error CS"],
        Php => &["Parse error:"],
        Elixir => &["SyntaxError", "TokenMissingError", "CompileError"],
        Other => &[],
    }
}

/// Whether a red gate's output names the file and has a mark of its language that the green run's output lacks. If the
/// gate does not print it, it is not recognized.
pub(super) fn does_not_build(path: &str, text: &str, green: &str, red: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (green, red) = (without_escapes(green), without_escapes(red));
    let mut marks = marks(Language::of(path, text)).iter();
    red.contains(name) && marks.any(|mark| red.contains(mark) && !green.contains(mark))
}

// Where defects are planted, and the results.

/// A green gate and the time that it took.
#[derive(Debug, Clone)]
pub(crate) struct Green {
    pub gate: GateSpec,
    pub ms: u64,
    /// The end of its output.
    pub tail: String,
}

/// Runs a gate at the change's last commit, with these files replaced.
pub(crate) type RunGate<'a> = dyn Fn(&[TakenBack], &GateSpec) -> Result<Vec<GateRun>> + 'a;

/// A change, and how defects in it are tried.
pub(crate) struct Field<'a> {
    pub repo: &'a Repo,
    /// The commit before the change, and its last commit.
    pub base: &'a str,
    pub head: &'a str,
    pub edits: &'a [Edit],
    /// The commands that decide whether a change passes.
    pub commands: &'a [String],
    /// Fastest first.
    pub greens: &'a [Green],
    pub run: &'a RunGate<'a>,
    /// Receives a description of each trial.
    pub tell: &'a dyn Fn(&str),
}

/// The results of planting.
#[derive(Debug)]
pub(crate) struct Planted {
    pub reverted: Reverted,
    /// Why nothing was tried; `None` if something was.
    pub problem: Option<String>,
    /// Number of defects by outcome.
    pub tally: Tally,
    /// Number of noticed defects with which a gate timed out.
    pub timed_out: usize,
    pub survivors: Vec<Survivor>,
    /// Number of defects that were not tried.
    pub left_out: usize,
    /// Time in seconds.
    pub seconds: f64,
    /// One line for each thing that was checked or could not be checked.
    pub checked: Vec<String>,
}

impl Default for Planted {
    fn default() -> Self {
        Self {
            reverted: Reverted::Unknown,
            problem: None,
            tally: Tally::default(),
            timed_out: 0,
            survivors: Vec::new(),
            left_out: 0,
            seconds: 0.0,
            checked: Vec::new(),
        }
    }
}

/// Whether a gate notices that the whole change is reverted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reverted {
    /// A gate is red without it.
    Noticed,
    /// Every gate passes without it: they prove nothing of it.
    Unnoticed,
    /// It was not tried, or cannot be told.
    #[default]
    Unknown,
}

/// A defect with which every gate passes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Survivor {
    /// ID of the defect. The ID of a defect that cook planted does not depend on line numbers.
    pub id: String,
    pub path: String,
    /// Line of the defect in the last commit of the change, from 1.
    pub line: usize,
    /// Description of the defect.
    pub what: String,
    /// The defect as a unified diff; null if unknown.
    pub diff: Option<String>,
}

impl From<Mutant> for Survivor {
    fn from(mutant: Mutant) -> Self {
        Self {
            what: mutant.operator.words().to_owned(),
            id: mutant.id,
            path: mutant.path,
            line: mutant.line,
            diff: Some(mutant.diff),
        }
    }
}

// The strength of a slice's gates, measured once all of them are green at its commit.

/// Maximum number of defects that are named, and of bytes of each diff.
const NAMED: usize = 40;
const DIFF: usize = 600;

impl World<'_> {
    /// Measures the strength of the gates of these runs; `None` if it is not requested or one of them is red.
    pub(in crate::measure) fn strength(
        &self,
        question: &GateQuestion,
        runs: &[GateRun],
    ) -> Result<Option<StrengthNote>> {
        let is_red = |run: &GateRun| run.gate.required && !run.has_passed();
        let rule = self.config.rules.strength;
        if rule == StrengthRule::Off || runs.iter().any(is_red) {
            return Ok(None);
        }
        let ends = (
            self.repo.resolve(&question.basis)?,
            self.repo.resolve(&question.commit)?,
        );
        let (Some(base), Some(head)) = ends else {
            return Ok(None);
        };
        let mut note = StrengthNote {
            commit: head.clone(),
            required: self.config.find_required_strength(),
            ..StrengthNote::default()
        };
        let edits = self.repo.edits(&base, &head)?;
        let mut commands = deciding((self.repo, self.config), &edits, &base)?;
        commands.extend(question.commands.iter().cloned());
        let texts = texts(&edits, &commands);
        note.untried = list_untried(&texts);
        note.not_applicable = why_not(&texts);
        // Defects in the remaining code may be noticed, but that tells nothing about the code that was not read.
        if let Some(why) = tell_unread(&list_unread(&edits, &commands)) {
            note.not_applicable = None;
            note.problem = Some(why);
            return Ok(Some(note));
        }
        if note.not_applicable.is_some() && note.untried.is_empty() {
            return Ok(Some(note));
        }
        if note.not_applicable.take().is_some() {
            note.problem = Some("nothing is planted in files that the gates name".to_owned());
            return Ok(Some(note));
        }
        let greens = list_green(runs);
        if greens.is_empty() {
            note.problem = Some("no gate ran".to_owned());
            return Ok(Some(note));
        }
        let runner = self.runner()?;
        let run = |files: &[TakenBack], gate: &_| {
            runner.run_without(
                &head,
                files,
                std::slice::from_ref(gate),
                self.workspace.caches,
            )
        };
        let field = Field {
            repo: self.repo,
            base: &base,
            head: &head,
            edits: &edits,
            commands: &commands,
            greens: &greens,
            run: &run,
            tell: &|_| {},
        };
        let budget = &self.config.strength;
        if budget.mutants == 0 || budget.minutes == 0 {
            note.problem = Some("`[strength]` leaves no defect or no time".to_owned());
            return Ok(Some(note));
        }
        match plant_defects(&field, (budget.mutants as usize, budget.minutes.into())) {
            Ok(planted) => write_down(planted, &mut note),
            // A gate was green, but does not run any more.
            Err(failure) if failure.code == Code::GatesNotGreen => {
                note.problem = Some(failure.message);
            }
            Err(failure) => return Err(failure),
        }
        Ok(Some(note))
    }
}

/// Changed code in which nothing is planted: files that a command names, which may be tests, and files in an unknown
/// language.
fn list_untried(texts: &[Edited]) -> Vec<String> {
    let is_untried = |edit: &&Edited| {
        let Some(text) = edit.after else {
            return false;
        };
        let is_known = Language::of(edit.path, text) != Language::Other;
        match edit.class {
            Class::Gate => is_known && edit.before != edit.after,
            Class::Source => !is_known,
            _ => false,
        }
    };
    let untried = texts.iter().filter(is_untried).take(NAMED);
    untried.map(|edit| clean(edit.path, Lines::Fold)).collect()
}

/// Gates that passed, fastest first.
fn list_green(runs: &[GateRun]) -> Vec<Green> {
    let passed = runs.iter().filter(|run| run.has_passed());
    let mut greens: Vec<Green> = passed
        .filter_map(|run| {
            let receipt = run.receipt.as_ref()?;
            Some(Green {
                gate: run.gate.clone(),
                ms: receipt.duration_ms.0,
                tail: receipt.tail.clone(),
            })
        })
        .collect();
    greens.sort_by_key(|green| green.ms);
    greens
}

fn write_down(planted: Planted, note: &mut StrengthNote) {
    note.proves_nothing = planted.reverted == Reverted::Unnoticed;
    note.noticed = Count(planted.tally.killed as u64);
    note.unnoticed = Count(planted.survivors.len() as u64);
    note.left_out = Count(planted.left_out as u64);
    note.unbuildable = Count(planted.tally.unbuildable as u64);
    note.problem = planted.problem;
    let defects = planted.survivors.into_iter().take(NAMED);
    note.defects = defects
        .map(|defect| UnnoticedDefect {
            id: defect.id,
            // Anyone may have chosen the name, and it goes into prompts.
            path: clean(&defect.path, Lines::Fold),
            line: Count(defect.line as u64),
            what: defect.what,
            diff: cut_diff(defect.diff.unwrap_or_default()),
        })
        .collect();
    if note.problem.is_some() || note.noticed.0 + note.unnoticed.0 > 0 {
        return;
    }
    // A gate may print a compiler's words itself, so this alone does not prove that nothing builds.
    if note.unbuildable.0 > 0 {
        note.problem = Some(format!(
            "according to the gates' output, none of the {} planted defects builds",
            note.unbuildable.0
        ));
    } else if planted.left_out > 0 {
        note.problem = Some("the time was over before a defect was tried".to_owned());
    }
}

/// The diff, cut to [`DIFF`] bytes.
fn cut_diff(diff: String) -> String {
    match diff.len() > DIFF {
        true => format!("{}…\n", begin(&diff, DIFF)),
        false => diff,
    }
}

// One change of a commit, and the results of its gates.

/// Time that a gate may take in addition to three times its green run.
const BESIDE: Duration = Duration::from_secs(10);

/// The result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tried {
    /// The outcome according to the gates; whether one timed out; and the last line of the red one's output.
    Told {
        outcome: Outcome,
        timed_out: bool,
        said: String,
    },
    /// The time for all changes was over before the result was known.
    OutOfTime,
}

/// Runs gates, fastest first, until one is red with these files in the commit. `limit` gives the time limit of each.
pub(super) fn try_files(
    field: &Field,
    greens: &[Green],
    files: &[TakenBack],
    deadline: Instant,
    limit: fn(&Green) -> Duration,
) -> Result<Tried> {
    for green in greens {
        let left = deadline.saturating_duration_since(Instant::now());
        let limit = limit(green);
        // The run must end because of the defect, and not because the remaining time is short.
        let given = limit.min(left);
        if given < Duration::from_millis(green.ms) {
            return Ok(Tried::OutOfTime);
        }
        let mut gate = green.gate.clone();
        gate.timeout_ms = given.as_millis() as u64;
        let runs = (field.run)(files, &gate)?;
        for run in runs {
            let Some(receipt) = &run.receipt else {
                let why = run.problem.unwrap_or_default();
                let what = format!("`{}` could not be run: {why}", gate.run);
                return Err(Refusal::new(Code::GatesNotGreen, what).into());
            };
            if receipt.timed_out && given < limit {
                return Ok(Tried::OutOfTime);
            }
            if !receipt.has_passed() {
                return Ok(Tried::Told {
                    outcome: find_outcome(files, green, &receipt.tail),
                    timed_out: receipt.timed_out,
                    said: clean(last_line(&receipt.tail).unwrap_or("nothing"), Lines::Fold),
                });
            }
        }
    }
    Ok(Tried::Told {
        outcome: Outcome::Survived,
        timed_out: false,
        said: String::new(),
    })
}

/// The time limit of a gate with a defect: its own, but not much more than its usual time.
pub(super) fn limit_to_usual(green: &Green) -> Duration {
    let usual = Duration::from_millis(green.ms.saturating_mul(3)) + BESIDE;
    usual.min(limit_to_own(green))
}

/// The time limit of a gate in its settings.
pub(super) fn limit_to_own(green: &Green) -> Duration {
    Duration::from_millis(green.gate.timeout_ms)
}

fn find_outcome(files: &[TakenBack], green: &Green, red: &str) -> Outcome {
    let broken = files.iter().any(|file| {
        let text = String::from_utf8_lossy(file.bytes.as_deref().unwrap_or_default());
        does_not_build(&file.path, &text, &green.tail, red)
    });
    match broken {
        true => Outcome::Unbuildable,
        false => Outcome::Killed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_build_is_told_by_the_words_of_its_compiler() {
        for (path, green, red, expected) in [
            (
                "cart.py",
                "ok",
                "  File \"/r/cart.py\", line 3\nSyntaxError: invalid syntax",
                true,
            ),
            (
                "cart.py",
                "ok",
                "  File \"/r/cart.py\", line 3\nAssertionError",
                false,
            ),
            (
                "cart.py",
                "ok",
                "  File \"/r/other.py\", line 3\nSyntaxError: invalid syntax",
                false,
            ),
            (
                "cart.py",
                "cart.py\nSyntaxError: as expected",
                "cart.py\nSyntaxError: as expected\nFAILED",
                false,
            ),
            (
                "src/lib.rs",
                "",
                " --> src/lib.rs:3:5\nerror: could not compile `calc` (lib)",
                true,
            ),
            (
                "src/lib.rs",
                "",
                "thread 'a' panicked at src/lib.rs:3:5",
                false,
            ),
            (
                "a.go",
                "",
                "./a.go:3:2: declared and not used: x\nFAIL calc [build failed]",
                true,
            ),
            (
                "bin/a.sh",
                "",
                "a.sh: 3: Syntax error: \"fi\" unexpected",
                true,
            ),
            ("a.zig", "", "a.zig: error", false),
        ] {
            assert_eq!(
                does_not_build(path, "", green, red),
                expected,
                "{path}: {red}"
            );
        }
    }
}
