//! What models take of a request's parameters, kept in the user's state: a file for each model.

use std::path::PathBuf;

use crate::journal::Disk;
use crate::participants::http::ParameterStore;

/// A larger file is not read, in bytes.
const MAX_FILE: u64 = 64 * 1024;

/// The folder of these files.
#[derive(Debug)]
pub struct Remembered(pub PathBuf);

impl ParameterStore for Remembered {
    fn read(&self, name: &str) -> Option<Vec<u8>> {
        Disk::default().read_own(&self.0.join(name), MAX_FILE).ok()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let disk = Disk::default();
        let kept = disk.make_own_dir(&self.0).and_then(|()| disk.write_whole(&self.0.join(name), bytes));
        kept.map_err(|error| error.to_string())
    }
}
