//! `worker`: what this machine answers for seats of sessions elsewhere.

use std::path::PathBuf;

use crate::diagnostic::Diagnostic;
use crate::round::seal::sign::named_key;
use crate::workflow::Fields;
use crate::yaml::Node;

/// Defaults for the options of `roundtable worker`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkerConfig {
    /// The server: `nats://…` or `tls://…`.
    pub url: Option<String>,
    pub creds_file: Option<PathBuf>,
    /// Public keys, in hex, of the tables that may ask.
    pub table_keys: Vec<String>,
    /// Models that may be asked, the usual one first.
    pub models: Vec<String>,
    /// The most that all answers may cost, in US dollars.
    pub max_usd: Option<f64>,
    pub in_flight: Option<u64>,
}

pub(super) fn worker(node: &Node, file: &str, problems: &mut Vec<Diagnostic>) -> WorkerConfig {
    read(node, file, problems).unwrap_or_else(|problem| {
        problems.push(problem);
        WorkerConfig::default()
    })
}

fn read(node: &Node, file: &str, problems: &mut Vec<Diagnostic>) -> Result<WorkerConfig, Diagnostic> {
    let mut fields = Fields::from_node(node, "`worker`", file)?;
    let mut found = WorkerConfig {
        models: fields.texts("models"),
        max_usd: fields.positive("max_usd"),
        in_flight: fields.whole_number("in_flight", 1).map(|number| number.min(1024)),
        ..WorkerConfig::default()
    };
    for key in fields.texts("table_keys") {
        match named_key(&key) {
            Some(key) => found.table_keys.push(key),
            None => problems.push(
                node.problem(file, "a key of `table_keys` is no public key".to_owned())
                    .hint("`roundtable worker table-key`, where the session runs, prints it: `ed25519:…`"),
            ),
        }
    }
    if let Some(node) = fields.node("nats") {
        let mut fields = Fields::from_node(node, "`nats` of `worker`", file)?;
        found.url = fields.text("url");
        found.creds_file = fields.text("creds_file").map(PathBuf::from);
        problems.extend(fields.finish(&[]));
    }
    problems.extend(fields.finish(&[]));
    Ok(found)
}
