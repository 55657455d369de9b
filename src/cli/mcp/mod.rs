//! The `mcp` command: an MCP server for coding assistants on stdio.
//!
//! An assistant convenes a panel, polls numbers, and gets the result after the close. Standard output contains
//! only JSON-RPC, and no answer before the close. Sessions run as with `--batch`; when the assistant
//! disconnects, they pause.
//!
//! Refusals and invalid arguments are results with `isError`, which the assistant reads. Only an unknown tool
//! is a protocol error.

mod arguments;
mod convene;
mod sessions;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::schemars::JsonSchema;
use rmcp::schemars::generate::SchemaSettings;
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::transport::stdio;
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use self::arguments::Convene;
pub use self::convene::{id_of, seat_of, step};

use self::arguments::{Numbers, OfSession, OfStatus, normalized, plain};
use self::convene::{convene, problem_text};
use self::sessions::{Sessions, numbers_elsewhere};
use super::args::McpArgs;
use super::browse::saved;
use super::console::{Console, VerbResult};
use super::files::source;
use super::headless::cancel_on_signal;
use crate::config::dirs::Dirs;
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::journal::fold;
use crate::launch::error::RunError;
use crate::launch::run::{raise_descriptor_limit, runtime};
use crate::launch::session_file::read_session;
use crate::report::{self, Document};

/// Instructions for the assistant, sent on connection.
const INSTRUCTIONS: &str = "\
roundtable asks a panel of models one question, blind: every seat gets the same material, and nobody, you \
included, sees an answer before the round closes. Use it for decisions that deserve more than one opinion.\n\
1. Build the evidence pack: the files, logs and facts that the question turns on, word for word. Seats have no \
tools and know nothing else. Keep your own opinion out of question and evidence.\n\
2. `convene`, then `status` until the state is `closed`. Before the close there are only numbers: do not guess \
or summarise what the panel thinks.\n\
3. `result`, and report decision, count and `dissent`, word for word, to the user.";

const LONGEST_WAIT: u64 = 30;
/// Keys left out of a round's result, because callers pay for each word.
const LEFT_OUT: [&str; 6] = ["snapshot", "rules", "held", "counted", "chart", "tables"];

/// Serves until standard input ends or a signal arrives.
pub fn run(args: McpArgs, output: &Console) -> VerbResult {
    if std::io::stdin().is_terminal() {
        output.note("a coding assistant starts this and speaks JSON-RPC to it; Ctrl-C ends it");
    }
    let runtime = runtime()?;
    raise_descriptor_limit();
    let (interrupt, ended_by) = (CancellationToken::new(), Arc::new(OnceLock::new()));
    runtime.spawn(cancel_on_signal(interrupt.clone(), Arc::clone(&ended_by)));
    let sessions = Arc::new(Sessions::new(runtime.handle().clone(), interrupt.clone()));
    let server = Server { args: Arc::new(args), sessions: Arc::clone(&sessions) };
    let done = runtime.block_on(async {
        match server.serve_with_ct(stdio(), interrupt.clone()).await {
            Ok(service) => drop(service.waiting().await),
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {}
            Err(error) => return Err(Diagnostic::new(format!("the client cannot be served: {error}"))),
        }
        Ok(())
    });
    interrupt.cancel();
    sessions.wait();
    // A blocked read of standard input cannot be cancelled.
    runtime.shutdown_background();
    done?;
    Ok(ended_by.get().copied().unwrap_or(ExitCode::Finished))
}

/// Request handler for one assistant.
#[derive(Clone)]
struct Server {
    args: Arc<McpArgs>,
    sessions: Arc<Sessions>,
}

type Answered<T> = Result<T, RunError>;

impl Server {
    async fn answer(&self, tool: &str, given: JsonObject) -> Option<CallToolResult> {
        Some(match tool {
            "convene" => {
                self.blocking(given, |server, asked: &Convene| convene(asked, &server.args, &server.sessions))
                    .await
            }
            "status" => self.blocking(given, Self::status).await,
            "result" => self.blocking(given, Self::result).await,
            _ => return None,
        })
    }

    /// Answers on a thread that may block on disks and programs.
    async fn blocking<A, T>(&self, given: JsonObject, answer: fn(&Self, &A) -> Answered<T>) -> CallToolResult
    where
        A: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
    {
        let asked = match read_arguments(given) {
            Ok(asked) => asked,
            Err(problem) => return refused(&problem.into()),
        };
        let server = self.clone();
        match tokio::task::spawn_blocking(move || answer(&server, &asked)).await {
            Ok(Ok(answer)) => CallToolResult::structured(serde_json::to_value(answer).unwrap_or_default()),
            Ok(Err(error)) => refused(&error),
            Err(_) => refused(&Diagnostic::new("internal error; recorded events are safe").into()),
        }
    }

    fn file_of(&self, id: &str) -> Result<PathBuf, Diagnostic> {
        let is_it = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == id);
        let found = saved(&Dirs::find(self.args.trust.trust)?).into_iter().find(is_it);
        found.ok_or_else(|| {
            Diagnostic::new(format!("no session `{id}`")).hint("`convene` gives the id of a new one")
        })
    }

    fn result(&self, asked: &OfSession) -> Answered<Value> {
        if self.sessions.is_open(&asked.session) {
            return Err(not_over().into());
        }
        outcome(&self.file_of(&asked.session)?)
    }

    fn status(&self, asked: &OfStatus) -> Answered<Numbers> {
        let wait = Duration::from_secs(asked.wait_s.min(LONGEST_WAIT));
        let numbers = self.sessions.numbers(&asked.session, wait);
        if let Some(numbers) = tokio::runtime::Handle::current().block_on(numbers) {
            return Ok(numbers);
        }
        Ok(numbers_elsewhere(&fold(&read_session(&self.file_of(&asked.session)?)?)))
    }
}

fn read_arguments<A: DeserializeOwned>(given: JsonObject) -> Result<A, Diagnostic> {
    serde_path_to_error::deserialize(normalized(given)).map_err(|error| {
        let (path, why) = (error.path().to_string(), error.inner());
        let key = if path == "." { String::new() } else { format!("`{path}`: ") };
        Diagnostic::new(format!("the arguments do not fit: {key}{why}"))
            .hint("the tool's input schema lists them")
    })
}

/// Returns all problems as a refusal that the assistant reads.
fn refused(error: &RunError) -> CallToolResult {
    let problems: Vec<String> = error.problems.iter().map(problem_text).collect();
    CallToolResult::error(vec![ContentBlock::text(problems.join("\n"))])
}

fn tool<A: JsonSchema + 'static>(
    name: &'static str,
    description: &'static str,
    annotations: ToolAnnotations,
) -> Tool {
    Tool::new(name, description, schema::<A>()).with_annotations(annotations)
}

/// Returns the schema of a type, with all parts inlined.
fn schema<A: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    plain(&mut schema);
    let Value::Object(schema) = schema else { unreachable!("the schema of a struct is an object") };
    schema
}

fn tools() -> Vec<Tool> {
    let reads = || ToolAnnotations::new().read_only(true).open_world(false);
    let asks = ToolAnnotations::new().read_only(false).destructive(false).open_world(true);
    vec![
        tool::<Convene>(
            "convene",
            "Puts a question to a panel of models, blind, and returns at once. Use it when a decision deserves \
             several independent opinions: designs, trade-offs, risky changes, reviews, estimates. Put everything \
             the seats need into `evidence`. Then poll `status`.",
            asks,
        ),
        tool::<OfStatus>(
            "status",
            "Says how many answers of a session are sealed, and whether it is closed; nothing of what is in them. \
             Use it after `convene` until the state is `closed`; `wait_s` saves calls.",
            reads(),
        ),
        tool::<OfSession>(
            "result",
            "Shows decision, count, dissent and answers of a session that is closed. Use it once, after `status` \
             said `closed`; before, it is refused. Tell the user what `dissent` says, too.",
            reads(),
        ),
    ]
}

fn not_over() -> Diagnostic {
    let problem = Diagnostic::new("the session is not over: nothing can be shown before it closes");
    problem.hint("ask `status` until its state is `closed`")
}

/// Returns the result of a finished session: its `--json=result` line, plus the answers of each seat.
fn outcome(path: &Path) -> Result<Value, RunError> {
    let log = read_session(path)?;
    let session = fold(&log);
    if session.closed.is_none() {
        return Err(not_over().into());
    }
    let document = Document::new(&session, source(path, &log));
    let mut result = report::result(&document, 0, &path.display().to_string());
    let whole = serde_json::to_value(&document).unwrap_or_default();
    for key in ["rounds", "pseudonyms"] {
        result[key] = whole[key].clone();
    }
    let rounds = result["rounds"].as_array_mut().into_iter().flatten();
    for round in rounds.filter_map(Value::as_object_mut) {
        round.retain(|key, _| !LEFT_OUT.contains(&key.as_str()));
    }
    Ok(result)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let name = Implementation::new("roundtable", env!("CARGO_PKG_VERSION")).with_title("roundtable");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(name)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answered = self.answer(&request.name, request.arguments.unwrap_or_default()).await;
        let unknown = || ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None);
        answered.map(Into::into).ok_or_else(unknown)
    }
}
