//! An agent's access to its session: address, token, and requests.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::cli::args::InboxArgs;
use crate::config::read_file::{read_text, unreadable};
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::launch::error::RunError;
use crate::participants::http::link::{LinkClient, LinkReply};
use crate::sanitize::harmless;

const URL: &str = "ROUNDTABLE_URL";
const TOKEN: &str = "ROUNDTABLE_TOKEN";
/// The longest that the session lets one request wait for work, in seconds.
pub const LONGEST_WAIT: u64 = 30;
const TRIES: u32 = 40;
const PAUSE: Duration = Duration::from_secs(1);

pub struct Access {
    client: LinkClient,
}

impl Access {
    pub fn of(args: &InboxArgs) -> Result<Self, Diagnostic> {
        let said = args.access.as_deref().map(private_text).transpose()?;
        let of = |name: &str| match &said {
            Some(text) => text.split_whitespace().find_map(|word| {
                let value = word.strip_prefix(name)?.strip_prefix('=')?;
                Some(value.to_owned())
            }),
            None => std::env::var(name).ok().filter(|value| !value.is_empty()),
        };
        if said.as_ref().is_some_and(|text| text.matches(TOKEN).count() > 1) {
            let problem = Diagnostic::new("the file holds the tokens of several agents");
            return Err(problem.hint("put the line of this agent into a file for it alone"));
        }
        let missing = |name: &str| {
            Diagnostic::new(format!("`{name}` is not set"))
                .hint("`roundtable serve` prints it; set it, or name a file that holds it with --access")
        };
        let (url, secret) = (of(URL).ok_or_else(|| missing(URL))?, of(TOKEN).ok_or_else(|| missing(TOKEN))?);
        // The second part is for links.
        let token = secret.split_once('.').map_or(&*secret, |(token, _)| token);
        let root = args.cert.as_deref().map(|file| read_text(file, 1 << 20)).transpose()?;
        Ok(Self { client: LinkClient::new(&url, token, root.as_deref())? })
    }

    /// Open work, waited for up to so many seconds; and whether the session is over.
    pub async fn poll(&self, wait: u64) -> Result<(Vec<Value>, bool), RunError> {
        let path = format!("/v1/inbox?wait={}", wait.min(LONGEST_WAIT));
        let found = done(&answered(|| self.client.get(&path)).await?)?;
        let items = found["items"].as_array().cloned().unwrap_or_default();
        Ok((items, found["over"] == true))
    }

    pub async fn post_item(&self, item: &str, verb: &str, value: &Value) -> Result<LinkReply, RunError> {
        let (path, bytes) = (format!("/v1/items/{}/{verb}", in_path(item)), value.to_string().into_bytes());
        answered(|| self.client.post(&path, bytes.clone())).await
    }
}

/// A text of the session's JSON, made harmless for a terminal.
pub fn text(value: &Value, key: &str) -> String {
    harmless(value[key].as_str().unwrap_or_default()).into_owned()
}

pub fn done(reply: &LinkReply) -> Result<Value, RunError> {
    if reply.status >= 300 {
        return Err(Diagnostic::new(refusal(reply)).into());
    }
    Ok(serde_json::from_slice(&reply.body).unwrap_or_default())
}

pub fn refusal(reply: &LinkReply) -> String {
    let said: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    match said["reason"].as_str() {
        Some(reason) => format!("{}: {reason}", reply.word()),
        None => reply.word(),
    }
}

fn in_path(item: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    item.bytes().map(encoded).collect()
}

/// A file that nobody else may read: it holds a token.
fn private_text(path: &Path) -> Result<String, Diagnostic> {
    #[cfg(unix)]
    {
        let meta = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        if std::os::unix::fs::MetadataExt::mode(&meta) & 0o077 != 0 {
            let problem = Diagnostic::new("others may read this file, which holds a token");
            let path = path.display().to_string();
            return Err(problem.hint(format!("chmod 600 {path}")).with_file(&path));
        }
    }
    read_text(path, 64 * 1024)
}

/// Sends a request until the reply says something of it.
async fn answered<F>(send: impl Fn() -> F) -> Result<LinkReply, RunError>
where
    F: Future<Output = Result<LinkReply, String>>,
{
    let mut why = String::new();
    for _ in 0..TRIES {
        match send().await {
            Ok(reply) if !reply.is_passing() => return Ok(reply),
            Ok(reply) => why = reply.word(),
            Err(cause) => why = cause,
        }
        tokio::time::sleep(PAUSE).await;
    }
    let hint = if why.contains("UnknownIssuer") {
        "its certificate is made by itself: give the file of it with --cert"
    } else {
        "run the same command again"
    };
    let problem = Diagnostic::new(format!("the session cannot be reached: {why}")).hint(hint);
    Err(RunError { problems: vec![problem], exit: ExitCode::Unreachable })
}
