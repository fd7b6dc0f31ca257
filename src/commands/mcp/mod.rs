//! `cook mcp`: a Model Context Protocol server on standard input and output ([docs/mcp.md]).
//!
//! A tool call runs this program with `--json` and returns the command's answer or refusal. Only protocol messages go
//! to stdout.
//!
//! [docs/mcp.md]: ../../../docs/mcp.md

use super::context::{Answer, Context, PromptAnswer, answer};
use crate::prelude::*;
use crate::service::{self, DEFAULT_BYTES};
use crate::view::{ColorChoice, Format, Screen};
use cook_protocol::model::KnownAgent;
use pipe::Pipe;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Implementation, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ServerHandler, ServiceExt};
use tokio::sync::Semaphore;

mod mcp_tools;
mod pipe;

/// How long running calls may take to end after the client has gone.
const END: Duration = Duration::from_secs(10);

/// Serves until stdin ends.
pub(super) fn serve(context: &Context) -> Answer {
    let failed = |error: &dyn std::error::Error| {
        Failure::state(Code::InputUnreadable, "standard input cannot be served").with_cause(error)
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| failed(&error))?;
    let pipe = Pipe::open().map_err(|error| failed(&error))?;
    let server = Server::new(context.dir.clone());
    let calls = Arc::clone(&server.calls);
    runtime.block_on(async {
        // An error here means that the client went away before it introduced itself.
        if let Ok(service) = server.serve(pipe).await {
            let _ = service.waiting().await;
        }
        let _ = tokio::time::timeout(END, calls.acquire_many(AT_ONCE)).await;
    });
    // A thread may still wait for a child process that does not end.
    runtime.shutdown_background();
    // The server has written everything already.
    answer(PromptAnswer(String::new()))
}

// The server's description, its lists, and its calls.

/// How many commands may run at the same time.
const AT_ONCE: u32 = 4;
/// The maximum size of a session's id in bytes.
const MAX_SESSION: usize = 200;

const INSTRUCTIONS: &str = "cook decides from the repository whose turn it is and when the work is done. Call `next` for the role \
that is due, `prompt` for what it has to do, do exactly that, and hand the report in with `record`. Repeat until `next` names no \
role. A refusal has a code and the exact next command. Never edit `.agent/*.json`; a command that is the user's alone is for \
the user to type: say so and stop.";

pub(super) struct Server {
    dir: PathBuf,
    calls: Arc<Semaphore>,
}

impl Server {
    pub(super) fn new(dir: PathBuf) -> Self {
        let calls = Arc::new(Semaphore::new(AT_ONCE as usize));
        Self { dir, calls }
    }

    /// Runs blocking work on its own thread when a permit is free.
    async fn run<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let room = Arc::clone(&self.calls).acquire_owned();
        let cancelled = || ErrorData::internal_error("the call was cancelled", None);
        let permit = tokio::select! {
            permit = room => permit.map_err(|_| cancelled())?,
            () = context.ct.cancelled() => return Err(cancelled()),
        };
        let work = move || {
            // The permit is held until the work ends, even if the caller no longer waits.
            let _permit = permit;
            work()
        };
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("cook", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        mcp_tools::find(name).map(mcp_tools::Command::tool)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = mcp_tools::COMMANDS.iter().map(mcp_tools::Command::tool);
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(command) = mcp_tools::find(&request.name) else {
            let known: Vec<&str> = mcp_tools::COMMANDS
                .iter()
                .map(|command| command.name)
                .collect();
            let what = format!("unknown tool; the tools are {}", known.join(", "));
            return Err(ErrorData::invalid_params(what, None));
        };
        let line = command
            .line(request.arguments.unwrap_or_default())
            .map_err(|what| ErrorData::invalid_params(what, None))?;
        let dir = self.dir.clone();
        let over = context.ct.clone();
        let session = find_session(&context);
        let work = move || mcp_tools::run(&dir, line, session, || over.is_cancelled());
        let mut said = self.run(&context, work).await??;
        if knows_text_alone(&context) {
            said.structured_content = None;
        }
        Ok(said.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(list_documents()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let dir = self.dir.clone();
        let work = move || {
            let quiet = Screen::new(Format::Json, true, false, ColorChoice::Never);
            let here = Context {
                dir,
                dir_is_named: true,
                screen: quiet,
            };
            read_document(&here, &request.uri)
        };
        match self.run(&context, work).await? {
            Ok(Some(contents)) => Ok(ReadResourceResult::new(vec![contents]).into()),
            Ok(None) => {
                let known: Vec<String> = list_documents().into_iter().map(|one| one.uri).collect();
                let what = format!("unknown resource; the resources are {}", known.join(", "));
                Err(ErrorData::resource_not_found(what, None))
            }
            Err(failure) => Err(unreadable(&failure)),
        }
    }
}

/// Whether the client's protocol version lacks structured answers. Such a client may pass both forms of an answer to
/// its model and cut them at a length.
fn knows_text_alone(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version < ProtocolVersion::V_2025_06_18)
}

/// Returns the calling session, as a variable and its value, if the agent names the session in the call instead of the
/// server's environment.
fn find_session(context: &RequestContext<RoleServer>) -> Option<(String, String)> {
    let client = context.client_info()?.name;
    let markers = KnownAgent::all().map(|known| &known.markers);
    let (variable, marker) = markers
        .filter_map(|markers| markers.session.as_ref().zip(markers.mcp.as_ref()))
        .find(|(_, marker)| marker.client == client)?;
    let id = context.meta.get(&marker.session)?.as_str()?;
    let is_id =
        !id.is_empty() && id.len() <= MAX_SESSION && id.chars().all(|c| c.is_ascii_graphic());
    is_id.then(|| (variable.clone(), id.to_owned()))
}

/// Returns a failure as a command prints it: its code, message, hints and causes.
fn unreadable(failure: &Failure) -> ErrorData {
    let data = json!({"code": failure.code, "hints": failure.hints, "causes": failure.causes});
    ErrorData::internal_error(failure.message.clone(), Some(data))
}

// The resources: read-only documents of the log and the repository.

/// The maximum size of a mission in bytes.
const MAX_MISSION: u64 = 1 << 20;

/// URI, name, media type and description.
const DOCUMENTS: [(&str, &str, &str, &str); 4] = [
    (
        "cook://mission",
        "mission",
        "text/markdown",
        "What the project is to become, in the user's words",
    ),
    (
        "cook://plan",
        "plan",
        "application/json",
        "The plan as the log holds it: slices, their order and where they stand",
    ),
    (
        "cook://criteria",
        "criteria",
        "application/json",
        "The acceptance criteria of every slice, with the evidence that they have",
    ),
    (
        "cook://brief",
        "brief",
        "text/markdown",
        "What the next session must know",
    ),
];

/// Describes the documents as resources.
pub(super) fn list_documents() -> Vec<Resource> {
    let listed = DOCUMENTS.iter().map(|(uri, name, kind, says)| {
        Resource::new(*uri, *name)
            .with_description(*says)
            .with_mime_type(*kind)
    });
    listed.collect()
}

/// Reads a document; `None` if the URI is unknown.
pub(super) fn read_document(context: &Context, uri: &str) -> Result<Option<ResourceContents>> {
    let Some((uri, name, kind, _)) = DOCUMENTS.iter().find(|(known, ..)| *known == uri) else {
        return Ok(None);
    };
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.require()?;
    let text = match *name {
        "mission" => {
            let path = workspace.repo.root().join(".agent/mission.md");
            let text = disk::read_text(&path, MAX_MISSION, Links::Refuse);
            text.or_fail(Code::InputUnreadable, "`.agent/mission.md` cannot be read")?
                .unwrap_or_default()
        }
        "plan" => pretty(&snapshot.plan),
        "criteria" => {
            let slices = snapshot.plan.candidate_slices.iter().map(|slice| {
                json!({
                    "slice_id": slice.slice_id,
                    "status": slice.status,
                    "acceptance_criteria": slice.acceptance_criteria,
                    "evidence": slice.evidence,
                })
            });
            pretty(&slices.collect::<Vec<_>>())
        }
        _ => {
            service::assemble(&workspace)?
                .within(Some(DEFAULT_BYTES))
                .text
        }
    };
    Ok(Some(
        ResourceContents::text(text, *uri).with_mime_type(*kind),
    ))
}

fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
