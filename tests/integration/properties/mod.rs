//! Properties of any bytes, one topic per file.
//!
//! The fuzz targets of `fuzz/` call these functions; `fuzzed.rs` replays the corpus through them. They panic if
//! a property fails.

#![allow(clippy::missing_panics_doc)]

mod ballots;
mod definition;
mod drive;
mod grammar;
mod persona;
mod remote;
mod reply;
mod seal;
mod session;
mod stream;
mod yaml;

pub use ballots::ballots;
pub use definition::definition;
pub use grammar::grammar;
pub use persona::persona;
pub use remote::remote;
pub use reply::reply;
pub use seal::seal;
pub use session::session;
pub use stream::stream;
pub use yaml::yaml;

pub type Target = (&'static str, fn(&[u8]));

pub const TARGETS: [Target; 10] = [
    ("definition", definition),
    ("persona", persona),
    ("session", session),
    ("reply", reply),
    ("grammar", grammar),
    ("stream", stream),
    ("yaml", yaml),
    ("ballots", ballots),
    ("seal", seal),
    ("remote", remote),
];

fn text(data: &[u8]) -> &str {
    match std::str::from_utf8(data) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&data[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// Returns whether a problem's place is in this text of this file.
fn is_within(place: Option<&roundtable::diagnostic::SourceLocation>, text: &str, file: &str) -> bool {
    let lines = text.matches(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count() as u64 + 2;
    place.is_some_and(|place| place.file == file && place.line <= lines)
}

fn choose(data: &[u8]) -> (usize, &[u8]) {
    data.split_first().map_or((0, data), |(first, rest)| (usize::from(*first), rest))
}
