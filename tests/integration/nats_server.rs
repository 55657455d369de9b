//! NATS server on a free port, for tests and benchmarks.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::patience::mortal;

pub struct NatsServer {
    binary: PathBuf,
    pub process: Child,
    pub port: u16,
    pub folder: tempfile::TempDir,
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl NatsServer {
    /// Starts a server in `within` that syncs each message, with `more` configuration.
    /// Returns `None`, and prints a message, if no server is installed.
    pub fn start(within: &Path, more: &str) -> Option<Self> {
        let binary = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools/nats/bin/nats-server");
        if !binary.exists() {
            assert!(std::env::var_os("ROUNDTABLE_NEED_NATS").is_none(), "no {}", binary.display());
            println!("skipped: no {}; tests/nats/run.sh installs it", binary.display());
            return None;
        }
        let folder = tempfile::tempdir_in(within).expect("a folder");
        let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let port = free.expect("a free port").port();
        let store = folder.path().join("js").display().to_string();
        let config = format!(
            "listen: \"127.0.0.1:{port}\"\n{more}\n\
             jetstream {{store_dir: {store:?}, sync_interval: always, max_file_store: 2GB}}\n"
        );
        fs::write(folder.path().join("nats.conf"), config).expect("written");
        let process = serve(&binary, folder.path(), port);
        Some(Self { binary, process, port, folder })
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub fn kill(&mut self) {
        self.process.kill().expect("killed");
        self.process.wait().expect("gone");
    }

    pub fn restart(&mut self) {
        self.process = serve(&self.binary, self.folder.path(), self.port);
    }
}

/// Starts the server, and waits until it listens.
fn serve(binary: &Path, folder: &Path, port: u16) -> Child {
    let mut command = Command::new(binary);
    command.arg("-c").arg(folder.join("nats.conf")).stdout(Stdio::null()).stderr(Stdio::null());
    let server = command.spawn().expect("starts");
    mortal(server.id());
    let end = Instant::now() + Duration::from_secs(45);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < end, "the server does not listen");
        std::thread::park_timeout(Duration::from_millis(20));
    }
    server
}
