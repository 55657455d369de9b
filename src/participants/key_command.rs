//! Command that prints a service's API key.
//!
//! Runs just before the first request, once for all seats, and again after the service refused the key. It has
//! no shell, only the usual variables, 30 seconds and 64 KiB of output. When it is given up, it and all that it
//! started are killed. Its output is never shown.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Mutex;

use super::external_program::{prepare_command, run};
use super::lock;

const PATIENCE: Duration = Duration::from_secs(30);
/// Output limit in bytes.
const MOST: u64 = 64 * 1024;

#[derive(Debug)]
pub struct KeyCommand {
    command: Vec<String>,
    /// Number of refused keys, and the current key once it is printed.
    key: std::sync::Mutex<(u64, Option<SecretString>)>,
    /// Number of failed runs, and the reason of the latest.
    failed: Mutex<(u64, String)>,
}

impl KeyCommand {
    pub fn new(command: Vec<String>) -> Self {
        Self { command, key: std::sync::Mutex::default(), failed: Mutex::default() }
    }

    /// Returns the key if the command has printed it already.
    pub fn known(&self) -> Option<String> {
        lock(&self.key).1.as_ref().map(|key| key.expose_secret().to_owned())
    }

    pub fn refusals(&self) -> u64 {
        lock(&self.key).0
    }

    /// Discards a refused key, so that the next request runs the command again.
    ///
    /// `seen` is the refusal count when the key was sent. If it has grown, another request has already discarded
    /// that key.
    pub fn forget(&self, seen: u64) {
        let mut held = lock(&self.key);
        if held.0 == seen {
            *held = (seen + 1, None);
        }
    }

    /// Returns the key; runs the command if none is known. Concurrent callers share one run and its failure.
    pub async fn key(&self) -> Result<String, String> {
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
            Ok(key) => {
                lock(&self.key).1 = Some(key.clone().into());
                Ok(key)
            }
            Err(why) => {
                let name = self.command.first().map_or("", String::as_str);
                *failed = (failed.0 + 1, format!("the key command `{name}` gives no key: {why}"));
                Err(failed.1.clone())
            }
        }
    }

    async fn run(&self) -> Result<String, String> {
        let (program, arguments) = self.command.split_first().ok_or("there is no program to run")?;
        let command = prepare_command(program.as_ref(), arguments, &[]);
        let ran = run(command, String::new(), MOST, None, &|_| false).await?;
        if ran.stdout.len() as u64 > MOST {
            return Err(format!("it printed more than {MOST} bytes"));
        }
        if let Some(status) = ran.status.filter(|status| !status.success()) {
            return Err(format!("it ended with {status}"));
        }
        let key = String::from_utf8_lossy(&ran.stdout).trim().to_owned();
        if key.is_empty() { Err("it printed nothing".to_owned()) } else { Ok(key) }
    }
}
