//! `remote`: where remote seats reach a session, and the workers that it knows.

use std::net::SocketAddr;
use std::path::PathBuf;

use indexmap::IndexMap;

use crate::diagnostic::Diagnostic;
use crate::round::seal::sign::named_key;
use crate::workflow::Fields;
use crate::yaml::Node;

/// The address at which `serve` and the screen listen for remote seats, and its encryption.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DoorAddress {
    /// The address to listen at, in place of 127.0.0.1:8700.
    pub bind: Option<SocketAddr>,
    /// Listens at this machine's address in its network.
    pub lan: bool,
    pub self_signed: bool,
    /// The files of a certificate and of its private key.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The https address whose proxy or tunnel leads here.
    pub behind: Option<String>,
}

/// The NATS server of workers, and who they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkersConfig {
    /// `nats://HOST:PORT` or `tls://HOST:PORT`.
    pub url: Option<String>,
    pub creds_file: Option<PathBuf>,
    /// The public key of each worker, in hex.
    pub keys: IndexMap<String, String>,
}

pub(super) fn remote(
    node: &Node,
    file: &str,
    problems: &mut Vec<Diagnostic>,
) -> (DoorAddress, WorkersConfig) {
    let mut workers = WorkersConfig::default();
    let door = Fields::from_node(node, "`remote`", file).and_then(|mut fields| {
        workers = workers_config(&mut fields, file, problems)?;
        Ok(door_address(node, fields, file, problems))
    });
    let door = door.unwrap_or_else(|problem| {
        problems.push(problem);
        DoorAddress::default()
    });
    (door, workers)
}

fn workers_config(
    fields: &mut Fields<'_>,
    file: &str,
    problems: &mut Vec<Diagnostic>,
) -> Result<WorkersConfig, Diagnostic> {
    let mut found = WorkersConfig::default();
    if let Some(node) = fields.node("nats") {
        let mut fields = Fields::from_node(node, "`nats` of `remote`", file)?;
        found.url = fields.text("url");
        found.creds_file = fields.text("creds_file").map(PathBuf::from);
        problems.extend(fields.finish(&[]));
    }
    for (name, node) in fields.entries("workers") {
        let mut fields = Fields::from_node(node, format!("worker `{name}`"), file)?;
        match fields.text("key").as_deref().and_then(named_key) {
            Some(key) => drop(found.keys.insert(name, key)),
            None => problems.push(
                node.problem(file, format!("worker `{name}` has no `key` that is a public key"))
                    .hint("`roundtable worker keygen`, where the worker runs, prints it: `ed25519:…`"),
            ),
        }
        problems.extend(fields.finish(&[]));
    }
    Ok(found)
}

fn door_address(
    node: &Node,
    mut fields: Fields<'_>,
    file: &str,
    problems: &mut Vec<Diagnostic>,
) -> DoorAddress {
    let bind = fields.text("bind");
    let certificate = (fields.text("cert_file"), fields.text("key_file"));
    let found = DoorAddress {
        bind: bind.as_ref().and_then(|address| address.parse().ok()),
        lan: fields.flag("lan").unwrap_or(false),
        self_signed: fields.flag("self_signed").unwrap_or(false),
        behind: fields.text("behind"),
        certificate: None,
    };
    problems.extend(fields.finish(&[]));
    let mut wrong = |message: &str| problems.push(node.problem(file, message.to_owned()));
    if bind.is_some() && found.bind.is_none() {
        wrong("`bind` of `remote` is an address with a port, such as `127.0.0.1:8700`");
    }
    if found.lan && bind.is_some() {
        wrong("`remote` has either `lan` or `bind`");
    }
    match certificate {
        (Some(_), Some(_)) if found.self_signed => wrong("`remote` has either `self_signed` or `cert_file`"),
        (Some(certificate), Some(key)) => {
            return DoorAddress { certificate: Some((certificate.into(), key.into())), ..found };
        }
        (None, None) => {}
        _ => wrong("`remote` needs both `cert_file` and `key_file`"),
    }
    found
}
