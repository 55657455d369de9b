//! A command that prints a service's key: run when a request is about to be sent, once for all seats.
//!
//! It is started without a shell and without the environment, has 30 seconds and may print 64 KiB;
//! when it is given up, it and everything it started are ended. What it prints is shown nowhere.

use std::process::Stdio;
use std::sync::OnceLock;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Mutex;

use super::external_program::{ProcessGroup, prepared, read, started};

const PATIENCE: Duration = Duration::from_secs(30);
/// How much it may print, in bytes.
const MOST: u64 = 64 * 1024;

#[derive(Debug)]
pub struct KeyCommand {
    command: Vec<String>,
    key: OnceLock<SecretString>,
    /// The tries that gave no key: how many, and why the last of them did not.
    failed: Mutex<(u64, String)>,
}

impl KeyCommand {
    pub fn new(command: Vec<String>) -> Self {
        Self { command, key: OnceLock::new(), failed: Mutex::default() }
    }

    /// The key, if it was printed already.
    pub fn known(&self) -> Option<&str> {
        self.key.get().map(SecretString::expose_secret)
    }

    /// The key; whoever waits while the command runs gets what it gave, also when that was nothing.
    pub async fn key(&self) -> Result<&str, String> {
        let before = self.failed.try_lock().map_or(0, |failed| failed.0);
        let mut failed = self.failed.lock().await;
        if let Some(key) = self.known() {
            return Ok(key);
        }
        if failed.0 > before {
            return Err(failed.1.clone());
        }
        let found = match tokio::time::timeout(PATIENCE, self.run()).await {
            Ok(found) => found,
            Err(_) => Err(format!("it took longer than {} s", PATIENCE.as_secs())),
        };
        match found {
            Ok(key) => Ok(self.key.get_or_init(|| key.into()).expose_secret()),
            Err(why) => {
                let name = self.command.first().map_or("", String::as_str);
                *failed = (failed.0 + 1, format!("the key command `{name}` gives no key: {why}"));
                Err(failed.1.clone())
            }
        }
    }

    async fn run(&self) -> Result<String, String> {
        let mut command = prepared(&self.command, &[])?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = started(command).map_err(|error| error.to_string())?;
        let _group = ProcessGroup::of(&*child);
        let printed = read(child.stdout().take(), MOST + 1).await.map_err(|error| error.to_string())?;
        if printed.len() as u64 > MOST {
            return Err(format!("it printed more than {MOST} bytes"));
        }
        let status = child.wait().await.map_err(|error| error.to_string())?;
        let key = String::from_utf8_lossy(&printed).trim().to_owned();
        if !status.success() {
            return Err(format!("it ended with {status}"));
        }
        if key.is_empty() { Err("it printed nothing".to_owned()) } else { Ok(key) }
    }
}
