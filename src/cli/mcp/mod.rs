//! `mcp`: a server for coding assistants on standard input and output, by the Model Context Protocol.
//!
//! An assistant convenes a panel, polls numbers, and gets the result after the close. Standard output
//! carries JSON-RPC and nothing else; before the close no answer is part of it. Sessions run as those of
//! `--batch` do; when the assistant goes away they pause, complete on disk.

mod arguments;
mod convene;
mod server;
mod sessions;

use std::io::IsTerminal as _;
use std::sync::{Arc, OnceLock};

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio;
use tokio_util::sync::CancellationToken;

pub use self::arguments::Convene;
pub use self::convene::{id_of, seat_of, step};

use self::server::Server;
use self::sessions::Sessions;
use super::args::McpArgs;
use super::console::{Console, VerbResult};
use super::headless::cancel_on_signal;
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::launch::run::{raise_descriptor_limit, runtime};

/// Serves until standard input ends or a signal comes.
pub fn run(args: McpArgs, output: &Console) -> VerbResult {
    if std::io::stdin().is_terminal() {
        output.note("a coding assistant starts this and speaks JSON-RPC to it; Ctrl-C ends it");
    }
    let runtime = runtime()?;
    raise_descriptor_limit();
    let (interrupt, ended_by) = (CancellationToken::new(), Arc::new(OnceLock::new()));
    runtime.spawn(cancel_on_signal(interrupt.clone(), Arc::clone(&ended_by)));
    let sessions = Arc::new(Sessions::new(runtime.handle().clone(), interrupt.clone()));
    let server = Server::new(args, Arc::clone(&sessions));
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
    // Reading standard input cannot be given up.
    runtime.shutdown_background();
    done?;
    Ok(ended_by.get().copied().unwrap_or(ExitCode::Finished))
}
