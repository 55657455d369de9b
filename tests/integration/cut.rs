//! A session file cut at every byte: what is whole is read, the rest is kept aside, and it goes on.

use std::path::Path;

use roundtable::core::ExitCode;
use roundtable::history::Event;
use roundtable::journal::{Disk, Journal, OpenJournalError, read_log, verify};

use crate::cases;
use crate::seats::{ONE_ROUND, Place, TWO_ROUNDS, outcome};

fn ends(bytes: &[u8]) -> Vec<usize> {
    let log = read_log(bytes).expect("whole");
    let mut ends = Vec::new();
    let mut at = 0;
    for line in &log.lines {
        let tail = format!("\nhash: {}\n", line.hash);
        let found = bytes[at..].windows(tail.len()).position(|window| window == tail.as_bytes());
        at += found.expect("every document has its hash") + tail.len();
        ends.push(at);
    }
    assert_eq!(at, bytes.len());
    ends
}

fn cut_to(dir: &Path, bytes: &[u8]) -> Place {
    let place = Place::new(Disk::default(), dir);
    std::fs::create_dir_all(place.file().parent().expect("a folder")).expect("made");
    std::fs::write(place.file(), bytes).expect("written");
    place
}

/// Reads the file cut at each of these bytes: everything up to the last whole document, no more.
fn reads_cut(bytes: &[u8], cuts: impl Iterator<Item = usize>) {
    let all = read_log(bytes).expect("whole");
    let ends = ends(bytes);
    for cut in cuts {
        let log = read_log(&bytes[..cut]).unwrap_or_else(|damage| panic!("cut at {cut}: {damage}"));
        let whole = ends.iter().filter(|end| **end <= cut).count();
        let good = whole.checked_sub(1).map_or(0, |last| ends[last]);
        assert_eq!((log.good, log.torn), (good, cut - good), "cut at {cut}");
        assert_eq!(log.lines, all.lines[..whole], "cut at {cut}");
    }
}

#[test]
fn a_file_cut_at_every_byte_reads_up_to_its_last_whole_document() {
    let bytes = Place::finished(ONE_ROUND).bytes();
    let ends = ends(&bytes);
    // A sample takes every 31st byte, and all around the ends of documents.
    let is_sampled = |cut: &usize| cut.is_multiple_of(31) || ends.iter().any(|end| end.abs_diff(*cut) < 3);
    reads_cut(&bytes, (0..=bytes.len()).filter(|cut| cases(is_sampled(cut), true)));
}

#[test]
fn a_cut_file_is_mended_and_comes_to_the_same_end() {
    let dir = tempfile::tempdir().expect("a folder");
    let place = Place::finished(TWO_ROUNDS);
    let (bytes, expected) = (place.bytes(), outcome(&place.session()));
    let ends = ends(&bytes);
    // Every document's end, and two places inside of every second document.
    let mut cuts: Vec<usize> = ends.clone();
    cuts.extend(ends.windows(2).step_by(2).flat_map(|pair| [pair[0] + 1, usize::midpoint(pair[0], pair[1])]));
    assert!(cuts.len() > 40, "{}", cuts.len());
    let mut lost_once = 0;
    for cut in cuts.into_iter().step_by(cases(4, 1)) {
        let place = cut_to(&dir.path().join(cut.to_string()), &bytes[..cut]);
        let good = ends.iter().copied().filter(|end| *end <= cut).max().expect("the header is whole");
        let before = place.session();
        let ran = place.go_on(false);
        if cut > good {
            let aside = place.file().with_file_name(format!("s.s2s.torn-{good}"));
            assert_eq!(std::fs::read(aside).expect("kept aside"), bytes[good..cut], "cut at {cut}");
        }
        let sealed = before.open_round().map_or(0, roundtable::history::RoundRun::sealed);
        if sealed > 0 {
            // The round had closed in the run that was cut back: its key is gone.
            lost_once += 1;
            assert_eq!(ran.done, Ok(ExitCode::Waiting), "cut at {cut}");
            let lost = place.session().open_round().expect("still open").key_lost.clone();
            assert_eq!(lost.len(), sealed);
            assert_eq!(place.go_on(true).done, Ok(ExitCode::Finished), "cut at {cut}");
            let found = verify(&place.bytes(), None);
            let names = |note: &&String| lost.iter().all(|name| note.contains(name.as_str()));
            assert!(found.notes.iter().any(|note| names(&note)), "{:?}", found.notes);
        } else {
            assert_eq!(ran.done, Ok(ExitCode::Finished), "cut at {cut}");
        }
        let after = place.bytes();
        assert_eq!(after[..good], bytes[..good], "cut at {cut}: whole documents never change");
        assert_eq!(outcome(&place.session()), expected, "cut at {cut}");
        assert_eq!(verify(&after, None).findings, [], "cut at {cut}");
        let closed = read_log(&after).expect("whole").lines.pop().expect("an end");
        assert!(matches!(closed.stamped.event, Event::SessionClosed(_)));
    }
    assert!(lost_once > cases(0, 3));
}

#[test]
fn two_torn_writes_at_one_place_are_both_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    let bytes = Place::finished(ONE_ROUND).bytes();
    let end = ends(&bytes)[1];
    let place = cut_to(&dir.path().join("s"), &[&bytes[..end], b"---\none"].concat());
    let torn = |bytes: &[u8]| {
        std::fs::write(place.file(), [&bytes[..end], b"---\nanother"].concat()).expect("written");
        Journal::open(&place.disk, &place.file()).expect("opens").torn.expect("torn")
    };
    let first = Journal::open(&place.disk, &place.file()).expect("opens").torn.expect("torn");
    let (second, again) = (torn(&bytes), torn(&bytes));
    assert_eq!(std::fs::read(first).expect("kept"), b"---\none");
    assert_eq!(std::fs::read(&second).expect("kept"), b"---\nanother");
    assert_eq!(second, again);
    assert_eq!(place.bytes(), bytes[..end]);
}

/// What no document of this program ends with, as a power cut or a full disk leaves it.
#[test]
fn what_holds_no_whole_hash_line_is_torn_whatever_its_bytes() {
    let dir = tempfile::tempdir().expect("a folder");
    let bytes = Place::finished(ONE_ROUND).bytes();
    let hash = format!("hash: {}", "0".repeat(64));
    let begun = &bytes[bytes.len() - 200..bytes.len() - 71];
    let tails: [&[u8]; 15] = [
        b"\0",
        &[0; 4096],
        b"\n",
        b"\n\n---\n",
        b"\r\n",
        b"-",
        b"x",
        b"\xff\xfe",
        b"hash: 00\n",
        hash.as_bytes(),
        &[b"---\nseq: 9\n".as_slice(), hash.as_bytes()].concat(),
        &[b"\0\0".as_slice(), hash.as_bytes(), b"\r\n"].concat(),
        begun,
        &[b"\0".as_slice(), begun].concat(),
        b" ",
    ];
    for (number, tail) in tails.iter().enumerate() {
        for end in [*ends(&bytes).last().expect("an end"), ends(&bytes)[2]] {
            let place = cut_to(&dir.path().join(format!("{number}-{end}")), &[&bytes[..end], *tail].concat());
            let log = read_log(&place.bytes()).expect("torn, not damaged");
            assert_eq!((log.good, log.torn), (end, tail.len()), "tail {number}");
            let opened = Journal::open(&place.disk, &place.file()).expect("opens");
            let kept = std::fs::read(opened.torn.expect("kept beside")).expect("kept");
            assert_eq!((kept.as_slice(), opened.log.torn), (*tail, tail.len()), "tail {number}");
            // What the last decision called for is there again, in the same bytes.
            let mended = place.bytes();
            assert!(mended.len() >= end && bytes.starts_with(&mended), "tail {number}");
        }
    }
}

#[test]
fn a_whole_document_that_does_not_fit_is_damage_wherever_it_stands() {
    let dir = tempfile::tempdir().expect("a folder");
    let bytes = Place::finished(ONE_ROUND).bytes();
    let ends = ends(&bytes);
    let last = &bytes[ends[ends.len() - 2]..];
    let hash = format!("hash: {}\n", "0".repeat(64)).into_bytes();
    let mut flipped = bytes.clone();
    flipped[ends[ends.len() - 2] + 20] ^= 1;
    let files = [
        [&bytes[..], last].concat(),
        [&bytes[..], &hash].concat(),
        [&bytes[..], b"\n", &hash].concat(),
        [&bytes[..], &[0; 100], b"\n", &hash].concat(),
        [&bytes[..], b"\0", last].concat(),
        [&bytes[..ends[1]], &bytes[ends[2]..]].concat(),
        [&bytes[..ends[1]], b"\n", &bytes[ends[1]..]].concat(),
        flipped,
    ];
    for (number, file) in files.iter().enumerate() {
        let place = cut_to(&dir.path().join(number.to_string()), file);
        assert!(read_log(file).is_err(), "file {number}");
        assert!(
            matches!(Journal::open(&place.disk, &place.file()), Err(OpenJournalError::Damage(_))),
            "file {number}"
        );
        assert_eq!(place.bytes(), *file, "file {number}: nothing is cut");
        assert_eq!(std::fs::read_dir(place.file().parent().expect("a folder")).expect("listed").count(), 1);
    }
}
