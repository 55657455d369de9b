//! No test waits for ever, and none gives up early on a busy machine: what a test starts is ended after two
//! minutes, and what it waits for must come within as long.

use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use std::{io, thread};

use rustix::process::{Pid, Signal, kill_process};

/// Nothing that a test starts or waits for may take longer.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// Longer than "at once" takes on a busy machine, and much shorter than what must not be waited for.
pub const SOON: Duration = Duration::from_secs(20);
pub const NEVER: Duration = Duration::from_secs(3600);

/// When a process was started, by the system's clock; none once it is gone.
fn born(id: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat.rsplit(") ").next()?.split(' ').nth(19).map(str::to_owned)
}

/// Ends a process that a test has started, if it still runs after two minutes: whoever waits for it or reads
/// from it waits no longer. Where the system does not tell processes apart nothing is ended.
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

/// Looks every few milliseconds until there is something.
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
