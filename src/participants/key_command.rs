//! A command that prints a service's key: run when a request is about to be sent, once for all seats, and
//! again where its key is refused.
//!
//! It is started without a shell and without the environment, has 30 seconds and may print 64 KiB;
//! when it is given up, it and everything it started are ended. What it prints is shown nowhere.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Mutex;

use super::external_program::{prepared, run};
use super::lock;

const PATIENCE: Duration = Duration::from_secs(30);
/// The most it may print, in bytes.
const MOST: u64 = 64 * 1024;

#[derive(Debug)]
pub struct KeyCommand {
    command: Vec<String>,
    /// How many keys were refused, and the key, once it is printed.
    key: std::sync::Mutex<(u64, Option<SecretString>)>,
    /// The tries that gave no key: how many, and why the last of them did not.
    failed: Mutex<(u64, String)>,
}

impl KeyCommand {
    pub fn new(command: Vec<String>) -> Self {
        Self { command, key: std::sync::Mutex::default(), failed: Mutex::default() }
    }

    /// The key, if it was printed already.
    pub fn known(&self) -> Option<String> {
        lock(&self.key).1.as_ref().map(|key| key.expose_secret().to_owned())
    }

    pub fn refusals(&self) -> u64 {
        lock(&self.key).0
    }

    /// The key that was sent is no good: the next request has the command run again, unless another one that
    /// was sent since this count has seen to it.
    pub fn forget(&self, seen: u64) {
        let mut held = lock(&self.key);
        if held.0 == seen {
            *held = (seen + 1, None);
        }
    }

    /// The key; whoever waits while the command runs gets what it gave, also when that was nothing.
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
        let command = prepared(program.as_ref(), arguments, &[]);
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
