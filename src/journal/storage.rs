//! The storage seam: every primitive that can fail, each announced to a gate before it is done.
//!
//! In the program the gate is absent. A test's gate makes any write, sync, rename or lock fail, or
//! tears a write after some bytes; nothing else about storage is simulated.

mod log;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use log::LogFile;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StorageOp {
    MakeDir,
    Open,
    Lock,
    Read,
    Write,
    Sync,
    /// Sync a folder, so that a new or renamed entry survives.
    SyncDir,
    Rename,
    /// Cut a file's end off.
    Truncate,
    Remove,
}

#[derive(Debug)]
pub enum InjectedFault {
    Fail(io::ErrorKind),
    /// Of a write, only this many bytes get through; then it fails.
    Tear(usize),
}

/// Sees every operation before it is done.
pub type FaultInjector = dyn Fn(StorageOp, &Path) -> Option<InjectedFault> + Send + Sync;

#[derive(Debug, thiserror::Error)]
#[error("cannot {what} `{}`: {cause}", path.display())]
pub struct DiskError {
    pub what: &'static str,
    pub path: PathBuf,
    /// The operating system's word.
    pub cause: io::Error,
    /// The holder of the file's lock, when that is the cause: `another roundtable (process 1234)`.
    pub locked: Option<String>,
}

/// The operation that fails on a session file that was removed, moved or replaced.
const GONE: &str = "go on writing";

impl DiskError {
    /// The session file is not where it was any more.
    pub fn is_gone(&self) -> bool {
        self.what == GONE
    }
}

#[derive(Clone, Default)]
pub struct Disk {
    gate: Option<Arc<FaultInjector>>,
}

impl Disk {
    pub fn with_gate(gate: Arc<FaultInjector>) -> Self {
        Self { gate: Some(gate) }
    }

    fn pass(&self, op: StorageOp, path: &Path) -> io::Result<()> {
        match self.gate.as_ref().and_then(|gate| gate(op, path)) {
            Some(InjectedFault::Fail(kind)) => Err(kind.into()),
            Some(InjectedFault::Tear(_)) => Err(io::ErrorKind::WriteZero.into()),
            None => Ok(()),
        }
    }

    fn write(&self, file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<()> {
        match self.gate.as_ref().and_then(|gate| gate(StorageOp::Write, path)) {
            None => file.write_all(bytes),
            Some(InjectedFault::Fail(kind)) => Err(kind.into()),
            Some(InjectedFault::Tear(count)) => {
                file.write_all(&bytes[..count.min(bytes.len())])?;
                Err(io::ErrorKind::StorageFull.into())
            }
        }
    }

    /// Makes a folder and its parents, readable by their owner only; each new entry is synced.
    pub fn make_dir(&self, path: &Path) -> Result<(), DiskError> {
        let made = self.pass(StorageOp::MakeDir, path).and_then(|()| {
            let mut builder = fs::DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            let new: Vec<&Path> = path.ancestors().take_while(|dir| !dir.exists()).collect();
            builder.create(path)?;
            new.into_iter().try_for_each(|dir| self.sync_parent(dir))
        });
        made.map_err(fail("make the folder", path))
    }

    /// As [`Disk::make_dir`], of a folder that is this program's own: it is no link, and nobody else may
    /// look into it, whoever made it.
    pub fn make_own_dir(&self, path: &Path) -> Result<(), DiskError> {
        self.make_dir(path)?;
        let own = || -> io::Result<()> {
            let meta = fs::symlink_metadata(path)?;
            if meta.file_type().is_symlink() {
                return Err(a_link());
            }
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                if meta.permissions().mode() & 0o077 != 0 {
                    fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
                }
            }
            Ok(())
        };
        own().map_err(fail("use the folder", path))
    }

    fn sync_parent(&self, path: &Path) -> io::Result<()> {
        let Some(parent) = path.parent() else { return Ok(()) };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        self.pass(StorageOp::SyncDir, parent)?;
        File::open(parent)?.sync_all()
    }

    /// Writes a small file whole or not at all: beside it, synced, renamed, folder synced.
    pub fn write_whole(&self, path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
        self.write_beside(path, bytes, None)
    }

    fn write_beside(
        &self,
        path: &Path,
        bytes: &[u8],
        mode: Option<&fs::Permissions>,
    ) -> Result<(), DiskError> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        // Nobody else writes to it, and nobody can have put a link there.
        let own =
            getrandom::u64().map_err(|error| fail("write", path)(io::Error::other(error.to_string())))?;
        name.push(format!(".{own:016x}.new"));
        let beside = path.with_file_name(name);
        let write = || -> io::Result<()> {
            self.pass(StorageOp::Open, &beside)?;
            let mut file = owner_only().create_new(true).write(true).open(&beside)?;
            self.write(&mut file, &beside, bytes)?;
            if let Some(mode) = mode {
                file.set_permissions(mode.clone())?;
            }
            self.pass(StorageOp::Sync, &beside)?;
            file.sync_all()?;
            self.pass(StorageOp::Rename, path)?;
            fs::rename(&beside, path)?;
            self.sync_parent(path)
        };
        write().map_err(|error| {
            // Nothing half-written is left. What cannot be removed either is not the file that was asked for.
            let _ = fs::remove_file(&beside);
            fail("write", path)(error)
        })
    }

    pub fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, DiskError> {
        // A pipe of the shell, `<(…)`, is there and leads to no path.
        let of_pipe = |error| if path.metadata().is_ok() { no_file() } else { error };
        let real = path.canonicalize().map_err(of_pipe).map_err(fail("read", path))?;
        self.read_own(&real, limit)
    }

    /// As [`Disk::read`], of a file that only this program writes: never through a link.
    pub fn read_own(&self, path: &Path, limit: u64) -> Result<Vec<u8>, DiskError> {
        let read = || -> io::Result<Vec<u8>> {
            self.pass(StorageOp::Read, path)?;
            read_up_to(&unlinked(OpenOptions::new().read(true), path)?, limit)
        };
        read().map_err(fail("read", path))
    }

    /// Removes a file; one that is gone already is fine.
    pub fn remove(&self, path: &Path) -> Result<(), DiskError> {
        match self.pass(StorageOp::Remove, path).and_then(|()| fs::remove_file(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(fail("remove", path)(error)),
            _ => Ok(()),
        }
    }
}

fn read_up_to(file: &File, limit: u64) -> io::Result<Vec<u8>> {
    // Room for all of it at once: memory that is given back is wiped, and a file may have 100 MB.
    let length = file.metadata().map_or(0, |meta| meta.len().min(limit));
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Opens a file that is there, and not through a link in its place.
fn unlinked(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    let is_link = || fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_symlink());
    let file = match options.open(path) {
        Err(_) if is_link() => return Err(a_link()),
        opened => opened?,
    };
    match file.metadata()? {
        meta if meta.is_file() => Ok(file),
        meta if meta.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(no_file()),
    }
}

fn no_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe, a device or a socket, not a file")
}

fn a_link() -> io::Error {
    io::Error::other("it is a link; give what it leads to")
}

fn fail<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> DiskError + 'a {
    move |cause| DiskError { what, path: path.to_owned(), cause, locked: None }
}
