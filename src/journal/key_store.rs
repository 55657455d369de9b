//! Keys, invitation tokens and certificates: outside session files, owner-only, synced.
//! A round's key is erased at the close.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use super::storage::{Disk, DiskError, LogFile};
use crate::history::Session;
use crate::round::seal::RoundKey;
use crate::round::seal::sign::SigningKey;

/// Key with which this machine signs as a worker.
pub const WORKER_KEY: &str = "worker.sign";
/// Key by which workers recognize this machine; all its sessions with workers share it.
pub const TABLE_KEY: &str = "lasting.table";

fn round_name(session: &str, round: u32) -> String {
    format!("{session}.{round}.key")
}

fn identity_name(address: IpAddr, kind: &str) -> String {
    // Windows file names cannot contain a colon.
    format!("serve-{}.{kind}", address.to_string().replace(':', "-"))
}

#[derive(Clone)]
pub struct KeyStore {
    disk: Disk,
    dir: PathBuf,
}

/// Exclusive claim of this process to a session, whatever its file; dropping it releases the session.
pub struct SessionClaim(LogFile);

impl SessionClaim {
    /// Removes the lock file, because the session has ended.
    pub fn end(self) {
        self.0.discard();
    }
}

impl KeyStore {
    /// Stores keys under `dir`, which is created with the first key.
    pub fn new(disk: Disk, dir: &Path) -> Self {
        Self { disk, dir: dir.to_owned() }
    }

    /// Claims a session for this process.
    ///
    /// # Errors
    /// Sets [`DiskError::locked`] if another process runs the session.
    pub fn claim(&self, session: &str) -> Result<SessionClaim, DiskError> {
        self.lock(&format!("{session}.lock")).map(SessionClaim)
    }

    fn lock(&self, name: &str) -> Result<LogFile, DiskError> {
        self.disk.make_own_dir(&self.dir)?;
        let path = self.dir.join(name);
        match self.disk.create_log(&path) {
            Err(error) if error.cause.kind() == std::io::ErrorKind::AlreadyExists => {
                self.disk.open_log(&path)
            }
            made => made,
        }
    }

    /// Writes a file of the store atomically; it is on disk when this returns.
    fn write(&self, name: &str, text: &str) -> Result<PathBuf, DiskError> {
        self.disk.make_own_dir(&self.dir)?;
        let path = self.dir.join(name);
        self.disk.write_whole(&path, text.as_bytes())?;
        Ok(path)
    }

    pub fn keep(&self, session: &str, round: u32, key: &RoundKey) -> Result<(), DiskError> {
        self.write(&round_name(session, round), &format!("{}\n", key.publish())).map(drop)
    }

    /// Returns the key; `None` if it is missing or invalid.
    pub fn find(&self, session: &str, round: u32) -> Result<Option<RoundKey>, DiskError> {
        let text = self.text(&round_name(session, round))?;
        Ok(text.and_then(|text| RoundKey::from_hex(text.trim_end())))
    }

    /// Stores the key that signs a session's offers; it stays after the end, for forks.
    pub fn keep_table_key(&self, session: &str, key: &SigningKey) -> Result<(), DiskError> {
        self.write(&format!("{session}.table"), &key.to_hex()).map(drop)
    }

    /// Returns the key that signs a session's offers; `None` if it is missing.
    pub fn table_key(&self, session: &str) -> Result<Option<SigningKey>, DiskError> {
        self.signing_key(&format!("{session}.table"))
    }

    /// Returns [`WORKER_KEY`] or [`TABLE_KEY`], and creates it from `random` if it is missing. Of two programs
    /// at once, only one creates it.
    pub fn lasting_key(&self, name: &str, random: [u8; 32]) -> Result<SigningKey, DiskError> {
        if let Some(key) = self.signing_key(name)? {
            return Ok(key);
        }
        let _locked = self.lock(&format!("{name}.lock"))?;
        if let Some(key) = self.signing_key(name)? {
            return Ok(key);
        }
        let key = SigningKey::new(random);
        self.write(name, &key.to_hex())?;
        Ok(key)
    }

    pub fn signing_key(&self, name: &str) -> Result<Option<SigningKey>, DiskError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let cause = || std::io::Error::other("it contains no key");
        let damaged = || DiskError { what: "read", path: self.dir.join(name), cause: cause(), locked: None };
        SigningKey::from_hex(text.trim_end()).map(Some).ok_or_else(damaged)
    }

    pub fn keep_tokens(&self, session: &str, tokens: &IndexMap<String, String>) -> Result<(), DiskError> {
        let text = serde_json::to_string(tokens).unwrap_or_default();
        self.write(&format!("{session}.links"), &text).map(drop)
    }

    /// Returns the tokens of a session's invitations by seat; empty if they are missing.
    pub fn tokens(&self, session: &str) -> Result<IndexMap<String, String>, DiskError> {
        let text = self.text(&format!("{session}.links"))?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    /// Stores the certificate of an address with its key; returns the certificate's file.
    pub fn keep_identity(&self, address: IpAddr, certificate: &str, key: &str) -> Result<PathBuf, DiskError> {
        self.write(&identity_name(address, "tls"), key)?;
        self.write(&identity_name(address, "cert"), certificate)
    }

    /// Returns the certificate's file, the certificate and its key; `None` if one of them is missing.
    pub fn identity(&self, address: IpAddr) -> Result<Option<(PathBuf, String, String)>, DiskError> {
        let name = identity_name(address, "cert");
        let certificate = self.text(&name)?;
        let key = self.text(&identity_name(address, "tls"))?;
        Ok(certificate.zip(key).map(|(certificate, key)| (self.dir.join(name), certificate, key)))
    }

    fn text(&self, name: &str) -> Result<Option<String>, DiskError> {
        let path = self.dir.join(name);
        match self.disk.read_own(&path, 1 << 20) {
            Ok(bytes) => Ok(String::from_utf8(bytes).ok()),
            Err(error) if error.cause.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(_) if std::fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_file()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Erases the keys and tokens of an ended session. The key that signs offers stays, because forks use it.
    pub fn erase_all(&self, session: &Session) {
        session.rounds.iter().for_each(|round| self.erase(&session.id, round.opened.number));
        let _ = self.disk.remove(&self.dir.join(format!("{}.links", session.id)));
    }

    /// Erases a key that is published by now. A failed removal is harmless; the next opening of the session
    /// retries it.
    pub fn erase(&self, session: &str, round: u32) {
        let _ = self.disk.remove(&self.dir.join(round_name(session, round)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_sessions_keep_the_key_that_signs_offers() {
        let dir = tempfile::tempdir().expect("a folder");
        let keys = KeyStore::new(Disk::default(), dir.path());
        keys.keep_tokens("s-1", &IndexMap::from([("ann".to_owned(), "secret".to_owned())])).expect("kept");
        keys.keep_table_key("s-1", &SigningKey::new([1; 32])).expect("kept");
        keys.erase_all(&Session { id: "s-1".to_owned(), ..Session::default() });
        assert!(!dir.path().join("s-1.links").exists());
        assert!(keys.table_key("s-1").expect("read").is_some(), "a fork has the same");
    }

    #[test]
    fn concurrent_programs_create_one_lasting_key() {
        for _ in 0..20 {
            let dir = tempfile::tempdir().expect("a folder");
            let made = |number: u8| {
                let keys = KeyStore::new(Disk::default(), &dir.path().join("keys"));
                keys.lasting_key(TABLE_KEY, [number; 32]).expect("a key").public()
            };
            let made: Vec<String> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|number| scope.spawn(move || made(number))).collect();
                threads.into_iter().map(|thread| thread.join().expect("ends")).collect()
            });
            assert!(made.iter().all(|key| *key == made[0]), "{made:?}");
        }
    }
}
