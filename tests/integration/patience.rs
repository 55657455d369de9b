//! Time limits of tests: two minutes for every process and every wait.
//!
//! Generous enough for a busy machine, and no test blocks forever.

use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use std::{io, thread};

use rustix::process::{Pid, Signal, kill_process};

/// Limit for everything that a test starts or waits for.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// Longer than "at once" takes on a busy machine, and much shorter than a wait that must not happen.
pub const SOON: Duration = Duration::from_secs(20);
pub const NEVER: Duration = Duration::from_secs(3600);

/// Returns the start time of a process, by the system's clock; `None` if it has ended.
fn born(id: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat.rsplit(") ").next()?.split(' ').nth(19).map(str::to_owned)
}

/// Kills a process of a test if it still runs after two minutes, so that nobody waits for it any longer.
/// Does nothing on systems without start times.
pub fn mortal(id: u32) {
    static REAPER: LazyLock<Sender<(u32, String, Instant)>> = LazyLock::new(|| {
        let (tell, told) = channel::<(u32, String, Instant)>();
        thread::spawn(move || {
            for (id, since, until) in told {
                while let Some(left) = until.checked_duration_since(Instant::now()) {
                    thread::park_timeout(left);
                }
                if born(id) == Some(since) {
                    eprintln!("process {id} has not ended after {PATIENCE:?}: it is killed");
                    let pid = i32::try_from(id).ok().and_then(Pid::from_raw).expect("an id");
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
        });
        tell
    });
    if let Some(since) = born(id) {
        REAPER.send((id, since, Instant::now() + PATIENCE)).expect("the reaper lives");
    }
}

pub trait Patient {
    fn start(&mut self) -> io::Result<Child>;
    fn output_soon(&mut self) -> io::Result<Output>;
}

impl Patient for Command {
    fn start(&mut self) -> io::Result<Child> {
        self.spawn().inspect(|child| mortal(child.id()))
    }

    fn output_soon(&mut self) -> io::Result<Output> {
        self.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).start()?.wait_with_output()
    }
}

/// Polls every few milliseconds until `look` returns something.
#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        pause(Duration::from_millis(5));
    }
}

pub fn pause(time: Duration) {
    thread::park_timeout(time);
}
