//! Connection to the NATS server.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event};

use super::{QueueError, Tell, Trouble, debug_duration};
use crate::participants::http::is_this_machine;

const BACK: &str = "the NATS server is back";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// `nats://HOST:PORT` or `tls://HOST:PORT`.
    pub url: String,
    /// File that only its owner can read: credentials of `nsc`, the seed of a key, or `NAME:PASSWORD`.
    pub creds_file: Option<PathBuf>,
    /// Name for the reply subject, as in `_INBOX_NAME`.
    pub name: String,
}

/// Connects within a minute. Later, a lost connection is restored without a time limit. Problems are reported to
/// `tell`.
///
/// # Errors
/// The address or the credentials are unusable, or the server does not answer.
pub async fn connect(address: &Address, tell: &Tell) -> Result<Client, QueueError> {
    check(&address.url)?;
    if is_open_to_others(&address.url) {
        let read = "others in the network can read questions and a password";
        tell(&format!("warning: {} is not encrypted; {read}", address.url));
    }
    let credentials = address.creds_file.as_deref().map(read_credentials).transpose()?;
    let end = Instant::now() + debug_duration("ROUNDTABLE_CONNECT_MS", Duration::from_secs(60));
    let trouble = Arc::new(Trouble::new(tell, BACK));
    loop {
        let trouble = Arc::clone(&trouble);
        let options = options(credentials.as_deref())?
            .custom_inbox_prefix(format!("_INBOX_{}", address.name))
            .name(format!("roundtable {}", address.name))
            .event_callback(move |event| {
                if let Some(news) = news(&event) {
                    trouble.say(&news);
                }
                async {}
            });
        match options.connect(&address.url).await {
            Ok(client) => return Ok(client),
            Err(error) if is_final(error.kind()) => {
                let url = &address.url;
                return Err(QueueError::Refused(format!("the NATS server {url} cannot be used: {error}")));
            }
            Err(error) if Instant::now() > end => {
                return Err(QueueError::Unreachable(address.url.clone(), error.to_string()));
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(500)).await,
        }
    }
}

fn news(event: &Event) -> Option<String> {
    match event {
        Event::Disconnected => Some("the NATS server cannot be reached; trying again".to_owned()),
        Event::Connected => Some(BACK.to_owned()),
        Event::ServerError(error) => Some(format!("the NATS server: {error}")),
        Event::LameDuckMode
        | Event::Draining
        | Event::Closed
        | Event::SlowConsumer(_)
        | Event::ClientError(_) => None,
    }
}

/// Returns true if messages cross a network unencrypted.
fn is_open_to_others(url: &str) -> bool {
    url.starts_with("nats://") && !is_this_machine(url)
}

fn check(url: &str) -> Result<(), QueueError> {
    let refuse = |what: &str| Err(QueueError::Refused(what.to_owned()));
    let host = url.strip_prefix("nats://").or_else(|| url.strip_prefix("tls://"));
    match host {
        None | Some("") => refuse("the address of a NATS server is `nats://HOST:PORT` or `tls://HOST:PORT`"),
        Some(host) if host.contains('@') => {
            refuse("the address of a NATS server contains a password: put it into a file as NAME:PASSWORD")
        }
        Some(_) => Ok(()),
    }
}

fn read_credentials(file: &Path) -> Result<String, QueueError> {
    let refuse = |why: String| QueueError::Refused(format!("{}: {why}", file.display()));
    let found = std::fs::metadata(file).map_err(|error| refuse(error.to_string()))?;
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o077 != 0 {
        return Err(refuse("others can read it; `chmod 600` it".to_owned()));
    }
    if !found.is_file() || found.len() > 64 * 1024 {
        return Err(refuse("expected a file of at most 64 KiB with credentials".to_owned()));
    }
    std::fs::read_to_string(file).map_err(|error| refuse(error.to_string()))
}

fn options(credentials: Option<&str>) -> Result<ConnectOptions, QueueError> {
    let Some(text) = credentials.map(str::trim) else { return Ok(ConnectOptions::new()) };
    if text.contains("BEGIN NATS USER JWT") {
        let wrong = |error: std::io::Error| QueueError::Refused(format!("the credentials: {error}"));
        return ConnectOptions::with_credentials(text).map_err(wrong);
    }
    match text.split_once(':') {
        Some((name, password)) => {
            Ok(ConnectOptions::with_user_and_password(name.to_owned(), password.to_owned()))
        }
        None => Ok(ConnectOptions::with_nkey(text.to_owned())),
    }
}

/// Returns true if a retry is pointless.
fn is_final(kind: ConnectErrorKind) -> bool {
    use ConnectErrorKind::{Authentication, AuthorizationViolation, ServerParse, Tls};
    matches!(kind, ServerParse | Authentication | AuthorizationViolation | Tls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_server_addresses_are_accepted() {
        for url in ["nats://127.0.0.1:4222", "tls://queue.example"] {
            assert_eq!(check(url), Ok(()), "{url}");
        }
        for url in ["127.0.0.1:4222", "http://queue.example", "nats://", "nats://ann:secret@queue.example"] {
            let said = check(url).expect_err(url).to_string();
            assert!(!said.contains("secret"), "{said}");
        }
    }

    #[test]
    fn only_other_machines_cause_a_warning() {
        for url in ["nats://127.0.0.1:4222", "nats://localhost", "nats://[::1]:4222", "tls://queue.example"] {
            assert!(!is_open_to_others(url), "{url}");
        }
        assert!(is_open_to_others("nats://queue.example:4222") && is_open_to_others("nats://10.0.0.7"));
    }

    #[test]
    fn trouble_and_its_end_are_reported_once() {
        let said = Arc::new(std::sync::Mutex::new(Vec::new()));
        let heard = Arc::clone(&said);
        let tell: Tell = Arc::new(move |line: &str| heard.lock().unwrap().push(line.to_owned()));
        let trouble = Trouble::new(&tell, BACK);
        for event in [Event::Connected, Event::Disconnected, Event::Disconnected, Event::Connected] {
            trouble.say(&news(&event).unwrap());
        }
        assert_eq!(*said.lock().unwrap(), ["the NATS server cannot be reached; trying again", BACK]);
    }

    #[cfg(unix)]
    #[test]
    fn credentials_that_others_can_read_are_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "fleet:secret").expect("written");
        let mode = |mode| {
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).expect("set");
            read_credentials(file.path())
        };
        assert_eq!(mode(0o600), Ok("fleet:secret".to_owned()));
        let said = mode(0o640).expect_err("refused").to_string();
        assert!(said.ends_with("others can read it; `chmod 600` it"), "{said}");
    }
}
