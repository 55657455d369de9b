//! Who holds the lock of a file, as far as the system tells.
//!
//! Linux lists the locks of all programs it can see; nothing is written down for it that could grow
//! stale. Elsewhere, and across machines, nobody is named.

use std::fs::File;

pub fn holder(file: &File) -> Option<u32> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt as _;
        let meta = file.metadata().ok()?;
        named(&std::fs::read_to_string("/proc/locks").ok()?, meta.dev(), meta.ino())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        None
    }
}

/// The process of the line about a device's file: `1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF`.
#[cfg(any(target_os = "linux", test))]
fn named(locks: &str, device: u64, inode: u64) -> Option<u32> {
    let major = ((device >> 8) & 0xfff) | ((device >> 32) & !0xfff);
    let minor = (device & 0xff) | ((device >> 12) & !0xff);
    let file = format!("{major:02x}:{minor:02x}:{inode}");
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let place = words.iter().position(|word| *word == file)?;
        // A process of another namespace goes by 0.
        words.get(place.checked_sub(1)?)?.parse().ok().filter(|process| *process > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_process_of_a_lock() {
        let locks = "1: POSIX  ADVISORY  WRITE 77 fe:00:131 0 EOF\n2: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 99 fe:00:5678 0 EOF\n3: FLOCK  ADVISORY  WRITE 0 08:11:9 0 EOF\n";
        assert_eq!(named(locks, 0xfe00, 5678), Some(1234));
        assert_eq!(named(locks, 0xfe00, 131), Some(77));
        for (device, inode) in [(0x0811, 9), (0x0811, 131), (0xfe00, 567)] {
            assert_eq!(named(locks, device, inode), None);
        }
        assert_eq!(named("a b", 0, 0), None);
    }
}
