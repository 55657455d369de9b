//! Storage operations, each announced to a fault injector before it runs.
//!
//! The program has no injector. A test's injector makes an operation fail or tears a write after some bytes;
//! nothing else about storage is simulated.

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
    /// Syncs a folder, so that a new or renamed entry survives a crash.
    SyncDir,
    Rename,
    Truncate,
    Remove,
}

#[derive(Debug)]
pub enum InjectedFault {
    Fail(io::ErrorKind),
    /// Writes only this many bytes, then fails.
    Tear(usize),
}

/// Called before every operation; returns the fault to inject, if any.
pub type FaultInjector = dyn Fn(StorageOp, &Path) -> Option<InjectedFault> + Send + Sync;

#[derive(Debug, thiserror::Error)]
#[error("cannot {what} `{}`: {cause}", path.display())]
pub struct DiskError {
    pub what: &'static str,
    pub path: PathBuf,
    pub cause: io::Error,
    /// Holder of the file's lock, if that is the cause: `another roundtable (process 1234)`.
    pub locked: Option<String>,
}

/// Operation that fails if the session file was removed, moved or replaced.
const GONE: &str = "go on writing";

impl DiskError {
    /// Checks if the session file was removed, moved or replaced.
    pub fn is_gone(&self) -> bool {
        self.what == GONE
    }
}

#[derive(Clone, Default)]
pub struct Disk {
    injector: Option<Arc<FaultInjector>>,
}

impl Disk {
    pub fn with_injector(injector: Arc<FaultInjector>) -> Self {
        Self { injector: Some(injector) }
    }

    fn announce(&self, op: StorageOp, path: &Path) -> io::Result<()> {
        match self.injector.as_ref().and_then(|injector| injector(op, path)) {
            Some(InjectedFault::Fail(kind)) => Err(kind.into()),
            Some(InjectedFault::Tear(_)) => Err(io::ErrorKind::WriteZero.into()),
            None => Ok(()),
        }
    }

    fn write(&self, file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<()> {
        match self.injector.as_ref().and_then(|injector| injector(StorageOp::Write, path)) {
            None => file.write_all(bytes),
            Some(InjectedFault::Fail(kind)) => Err(kind.into()),
            Some(InjectedFault::Tear(count)) => {
                file.write_all(&bytes[..count.min(bytes.len())])?;
                Err(io::ErrorKind::StorageFull.into())
            }
        }
    }

    /// Creates a folder and its parents, accessible only by their owner; syncs each new entry.
    pub fn make_dir(&self, path: &Path) -> Result<(), DiskError> {
        let made = self.announce(StorageOp::MakeDir, path).and_then(|()| {
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

    /// Creates a folder for this program alone: like [`Disk::make_dir`], but rejects a link and removes other
    /// users' access.
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
        self.announce(StorageOp::SyncDir, parent)?;
        File::open(parent)?.sync_all()
    }

    /// Replaces a small file atomically: temporary file, sync, rename, sync of the folder.
    pub fn write_whole(&self, path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
        self.replace_file(path, bytes, None)
    }

    fn replace_file(
        &self,
        path: &Path,
        bytes: &[u8],
        mode: Option<&fs::Permissions>,
    ) -> Result<(), DiskError> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        // The random name excludes other writers and links planted there.
        let own =
            getrandom::u64().map_err(|error| fail("write", path)(io::Error::other(error.to_string())))?;
        name.push(format!(".{own:016x}.new"));
        let beside = path.with_file_name(name);
        let write = || -> io::Result<()> {
            self.announce(StorageOp::Open, &beside)?;
            let mut file = owner_only().create_new(true).write(true).open(&beside)?;
            self.write(&mut file, &beside, bytes)?;
            if let Some(mode) = mode {
                file.set_permissions(mode.clone())?;
            }
            self.announce(StorageOp::Sync, &beside)?;
            file.sync_all()?;
            self.announce(StorageOp::Rename, path)?;
            fs::rename(&beside, path)?;
            self.sync_parent(path)
        };
        write().map_err(|error| {
            // Leaves no partial file; a failed removal does not matter to the caller.
            let _ = fs::remove_file(&beside);
            fail("write", path)(error)
        })
    }

    pub fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, DiskError> {
        // A shell's pipe, `<(…)`, exists but has no canonical path.
        let of_pipe = |error| if path.metadata().is_ok() { no_file() } else { error };
        let real = path.canonicalize().map_err(of_pipe).map_err(fail("read", path))?;
        self.read_own(&real, limit)
    }

    /// Reads a file that only this program writes; rejects a link.
    pub fn read_own(&self, path: &Path, limit: u64) -> Result<Vec<u8>, DiskError> {
        let read = || -> io::Result<Vec<u8>> {
            self.announce(StorageOp::Read, path)?;
            read_up_to(&unlinked(OpenOptions::new().read(true), path)?, limit)
        };
        read().map_err(fail("read", path))
    }

    /// Removes a file; a missing file is no error.
    pub fn remove(&self, path: &Path) -> Result<(), DiskError> {
        match self.announce(StorageOp::Remove, path).and_then(|()| fs::remove_file(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(fail("remove", path)(error)),
            _ => Ok(()),
        }
    }
}

fn read_up_to(file: &File, limit: u64) -> io::Result<Vec<u8>> {
    // Allocates once, because freed memory is wiped and a file may have 100 MB.
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

/// Opens an existing regular file; rejects links, folders, pipes and devices.
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
