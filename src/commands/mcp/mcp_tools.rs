//! The tools. Each one is a command, whose arguments are words of its command line; one table defines the schemas and
//! the command lines.

use crate::prelude::*;
use cook_repo::process::{Captured, capture_until};
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, JsonObject, Tool, ToolAnnotations};

/// A command that an agent may call; user-only commands are not among them.
pub(super) struct Command {
    pub name: &'static str,
    says: &'static str,
    line: &'static [&'static str],
    takes: &'static [Argument],
    /// The command neither writes nor runs a command of the repository.
    reads: bool,
}

struct Argument {
    name: &'static str,
    kind: Kind,
    says: &'static str,
    required: bool,
}

/// The type of an argument, and its place on the command line.
enum Kind {
    /// `--name`
    Flag,
    /// `--name=TEXT`
    Text,
    /// `--name=N`
    Number,
    /// `--name=TEXT` for each text.
    Texts,
    /// Words without an option.
    Words,
    /// A word without an option that names a role.
    Role,
    /// The command's standard input.
    Input,
}

/// One line per argument: its name, its kind, its description, and whether it is required.
macro_rules! takes {
    (@) => { false };
    (@ required) => { true };
    ($($name:ident $kind:ident $says:literal $($required:ident)?;)*) => {
        &[$(Argument {
            name: stringify!($name),
            kind: Kind::$kind,
            says: $says,
            required: takes!(@ $($required)?),
        },)*]
    };
}

pub(super) const COMMANDS: [Command; 7] = [
    Command {
        name: "next",
        says: "Show which role must work next and why, with the ticket for its report. Call this first. If no role is due, the \
answer names what the work waits for; user-only commands are for the user to type.",
        line: &["next"],
        takes: &[],
        reads: true,
    },
    Command {
        name: "prompt",
        says: "Print the complete prompt of the role that is due: its task, its inputs and the form of its report.",
        line: &["next", "--prompt"],
        takes: &[],
        reads: true,
    },
    Command {
        name: "record",
        says: "Hand in a role's report. cook checks its form, measures the repository, and records it, or refuses it with a \
code and the next command. `check` checks it without recording. Put a question to the user into the report.",
        line: &["record"],
        takes: takes! {
            role Role "Role that was due" required;
            report Input "Complete report, in the form that the prompt asks for" required;
            ticket Text "Ticket that `next` gave";
            session Text "ID of the session that wrote the report";
            check Flag "Check the report without running or writing anything";
            dry_run Flag "Check the report and run its gates, but record nothing";
            repair_prompt Flag "Answer with a prompt that asks to correct the report";
        },
        reads: false,
    },
    Command {
        name: "check",
        says: "Check whether HEAD's commit is what it claims to be: run the gates in a clean room and compare with a base. Works \
in any repository. Needs gates that the user has trusted.",
        line: &["check"],
        takes: takes! {
            base Text "Compare with this commit";
            gate Texts "Run only these gates";
        },
        reads: false,
    },
    Command {
        name: "status",
        says: "Show the state of the work: mission, plan, slice in work, limits, findings.",
        line: &["status"],
        takes: &[],
        reads: true,
    },
    Command {
        name: "gate",
        says: "Run the gates (test commands), and keep receipts of the results. Needs commands that the user has trusted.",
        line: &["gate"],
        takes: takes! {
            names Words "Names of the gates to run; default: all gates of `cook.toml`";
            slice Text "Also run the verification commands of this slice";
            clean Flag "Run in a clean room with HEAD's commit, as for a proof";
            fresh Flag "With `clean`, run with empty caches, even if there is a receipt";
        },
        reads: false,
    },
    Command {
        name: "brief",
        says: "Print the facts that the next session needs, each claim with the result of checking its anchor.",
        line: &["brief"],
        takes: takes! {
            max_bytes Number "Print at most this many bytes; default: 8000";
            all Flag "Print the complete brief, however long it is";
        },
        reads: true,
    },
];

pub(super) fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name)
}

/// The command line and standard input of a call.
pub(super) struct Line {
    pub words: Vec<String>,
    pub input: Vec<u8>,
}

impl Command {
    /// Describes the command as a tool.
    pub(super) fn tool(&self) -> Tool {
        let annotations = ToolAnnotations::new()
            .read_only(self.reads)
            .destructive(false)
            .open_world(false);
        Tool::new(self.name, self.says, self.schema()).with_annotations(annotations)
    }

    fn schema(&self) -> JsonObject {
        let properties: JsonObject = self
            .takes
            .iter()
            .map(|argument| (argument.name.to_owned(), argument.schema()))
            .collect();
        let required = self.takes.iter().filter(|argument| argument.required);
        let required: Vec<Value> = required.map(|argument| argument.name.into()).collect();
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), properties.into());
        schema.insert("required".to_owned(), required.into());
        schema.insert("additionalProperties".to_owned(), false.into());
        schema
    }

    /// Returns the command line of a call, or describes the first invalid argument.
    pub(super) fn line(&self, mut given: JsonObject) -> Result<Line, String> {
        let mut words: Vec<String> = self.line.iter().map(|word| (*word).to_owned()).collect();
        let mut free = Vec::new();
        let mut input = Vec::new();
        for argument in self.takes {
            match given.remove(argument.name) {
                None | Some(Value::Null) if !argument.required => {}
                None | Some(Value::Null) => {
                    return Err(format!("`{}` needs `{}`", self.name, argument.name));
                }
                Some(value) => argument.put(value, &mut words, &mut free, &mut input)?,
            }
        }
        if let Some((unknown, _)) = given.iter().next() {
            let known: Vec<&str> = self.takes.iter().map(|argument| argument.name).collect();
            return Err(match known.is_empty() {
                true => format!("`{}` takes no arguments", self.name),
                false => format!(
                    "unknown argument `{unknown}` of `{}`; it takes {}",
                    self.name,
                    known.join(", ")
                ),
            });
        }
        if !free.is_empty() {
            words.push("--".to_owned());
            words.append(&mut free);
        }
        Ok(Line { words, input })
    }
}

impl Argument {
    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Text | Kind::Input => json!({"type": "string"}),
            Kind::Number => json!({"type": "integer", "minimum": 0}),
            Kind::Texts | Kind::Words => json!({"type": "array", "items": {"type": "string"}}),
            Kind::Role => {
                let roles: Vec<&str> = Role::ALL.iter().map(|role| role.short()).collect();
                json!({"type": "string", "enum": roles})
            }
        };
        schema["description"] = self.says.into();
        schema
    }

    /// Puts a value in its place on the command line.
    fn put(
        &self,
        value: Value,
        words: &mut Vec<String>,
        free: &mut Vec<String>,
        input: &mut Vec<u8>,
    ) -> Result<(), String> {
        let option = || format!("--{}", self.name.replace('_', "-"));
        match (&self.kind, value) {
            (Kind::Flag, Value::Bool(true)) => words.push(option()),
            (Kind::Flag, Value::Bool(false)) => {}
            (Kind::Text, Value::String(text)) => {
                words.push(format!("{}={}", option(), self.word(text)?));
            }
            (Kind::Number, Value::Number(number)) if number.is_u64() => {
                words.push(format!("{}={number}", option()));
            }
            (Kind::Texts, Value::Array(texts)) => {
                for text in texts {
                    words.push(format!("{}={}", option(), self.text(text)?));
                }
            }
            (Kind::Words, Value::Array(texts)) => {
                for text in texts {
                    free.push(self.text(text)?);
                }
            }
            (Kind::Role, Value::String(text)) => free.push(self.word(text)?),
            (Kind::Input, Value::String(text)) => *input = text.into_bytes(),
            _ => return Err(self.is_wrong()),
        }
        Ok(())
    }

    fn text(&self, value: Value) -> Result<String, String> {
        match value {
            Value::String(text) => self.word(text),
            _ => Err(self.is_wrong()),
        }
    }

    /// Refuses a text with a NUL or more than 4096 bytes, because a command line cannot hold it.
    fn word(&self, text: String) -> Result<String, String> {
        match text.contains('\0') || text.len() > 4096 {
            true => Err(format!(
                "`{}` holds a NUL or more than 4096 bytes",
                self.name
            )),
            false => Ok(text),
        }
    }

    fn is_wrong(&self) -> String {
        let kind = match self.kind {
            Kind::Flag => "true or false",
            Kind::Text | Kind::Role | Kind::Input => "a string",
            Kind::Number => "a whole number that is not negative",
            Kind::Texts | Kind::Words => "a list of strings",
        };
        format!("`{}` must be {kind}", self.name)
    }
}

// A call: runs this program again with `--json` and returns its answer.

/// The time limit for a command that hangs; commands have shorter limits of their own.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// The maximum size of an answer in bytes.
const MAX_ANSWER: usize = 32 << 20;

/// Runs the command of a call in `dir`. `session` is the variable that names the calling session, and its value.
pub(super) fn run(
    dir: &Path,
    line: Line,
    session: Option<(String, String)>,
    is_over: impl FnMut() -> bool,
) -> Result<CallToolResult, ErrorData> {
    let program = program().map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let mut argv = vec![program, "--json".into()];
    argv.extend(line.words.into_iter().map(Into::into));
    let command = Short {
        argv,
        dir,
        env: session
            .iter()
            .map(|(name, id)| (name.as_str(), id.into()))
            .collect(),
        stdin: line.input,
        deadline: LONGEST,
        limit: MAX_ANSWER,
        group: false,
    };
    match capture_until(&command, None, is_over) {
        Ok(captured) => result(&captured),
        Err(ProcessError::Interrupted(_)) => {
            Err(ErrorData::internal_error("the call was cancelled", None))
        }
        Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
    }
}

/// The file of this process, even if another one has replaced it.
fn program() -> std::io::Result<std::ffi::OsString> {
    if cfg!(target_os = "linux") {
        return Ok("/proc/self/exe".into());
    }
    std::env::current_exe().map(Into::into)
}

/// Makes the tool's result from the command's JSON, as a value and as text. A failed check is a normal result; a
/// refusal or a failure is a tool error.
fn result(captured: &Captured) -> Result<CallToolResult, ErrorData> {
    let Ok(answer) = serde_json::from_slice::<Value>(&captured.stdout) else {
        let ending = match captured.code {
            Some(code) => format!("cook ended with {code} and no answer"),
            None => "cook was ended by a signal".to_owned(),
        };
        let said = captured.stderr.lines().next_back().unwrap_or_default();
        let said = clean(said, Lines::Fold);
        return Err(ErrorData::internal_error(format!("{ending}: {said}"), None));
    };
    let text = ["prompt", "text"]
        .iter()
        .find_map(|field| Some(answer.get(field)?.as_str()?.to_owned()))
        .unwrap_or_else(|| answer.to_string());
    let content = vec![ContentBlock::text(text)];
    let mut result = match captured.code {
        Some(0 | 1) => CallToolResult::success(content),
        _ => CallToolResult::error(content),
    };
    result.structured_content = Some(answer);
    Ok(result)
}
