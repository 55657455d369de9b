//! Memory for hostile session files: bounded by their size.

use std::process::Child;
use std::time::Duration;

use crate::bad_input::forged;
use crate::cases;
use crate::patience::pause;
use crate::program::{Desk, Ran, ran, sha256};
use crate::pty::Screen;

/// Runs to the end; returns the output and the peak memory in bytes.
pub fn peak(mut child: Child) -> (Ran, u64) {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().expect("it can be asked").is_none() {
        let now = std::fs::read_to_string(&status).unwrap_or_default();
        let high = now.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
        peak = peak.max(high.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10);
        pause(Duration::from_millis(1));
    }
    (ran(child.wait_with_output().expect("it ended")), peak)
}

fn session(desk: &Desk, body: &str) -> String {
    let head = forged(desk, str::to_owned);
    let hash = head.trim_end().rsplit(' ').next().expect("a hash");
    let of = head.lines().find(|line| line.starts_with("session: ")).expect("a session");
    let at = "2026-11-22T00:00:00.000Z";
    let next = format!(
        "---\nseq: 1\nprev: \"{hash}\"\nat: \"{at}\"\nevent: step_finished\n{of}\nstep: s\nstepId: s\nsuccess: true\n\
        {body}\nstartTime: \"{at}\"\nendTime: \"{at}\"\nduration: 1\n"
    );
    format!("{head}{next}hash: {}\n", sha256(&next))
}

fn flow(item: &str, size: usize) -> String {
    format!("data: [{}]", vec![item; size / (item.len() + 1)].join(","))
}

fn aliases(size: usize) -> String {
    let nested = (0..30).fold("x,".repeat(200), |inner, n| format!("&a{n} [{inner}],"));
    format!("data: [{nested}{}]", vec!["*a29"; (size - nested.len()) / 5].join(","))
}

#[test]
fn no_session_file_unfolds_into_more_memory_than_its_size_allows() {
    let bombs = [
        ("aliases-400", aliases(400_000)),
        ("aliases-800", aliases(800_000)),
        ("an-anchor", "data: &a 1".to_owned()),
        ("lists-400", flow("[[]]", 400_000)),
        ("maps-800", flow("{a}", 800_000)),
        ("numbers-800", flow("1", 800_000)),
        ("lines-400", format!("data:\n{}", "  - x\n".repeat(66_000))),
    ];
    let bombs = bombs.map(|(name, body)| (name, session(&Desk::new(), &body)));
    let (desk, mut most, mut all) = (Desk::new(), 0, 0);
    for (number, (name, file)) in bombs.into_iter().enumerate() {
        desk.write(&format!(".s2s/sessions/{name}.s2s"), &file);
        let path = format!(".s2s/sessions/{name}.s2s");
        all += file.len();
        let verbs = [&["verify", &path][..], &["replay", "--text", &path], &["report", &path], &["sessions"]];
        // A sample runs every command on the worst bomb, and one command on each other.
        let is_sampled = |at: &usize| name == "aliases-800" || *at == number % verbs.len();
        for (_, verb) in verbs.into_iter().enumerate().filter(|(at, _)| cases(is_sampled(at), true)) {
            let (ran, peak) = peak(desk.start(verb));
            // A list of sessions reads all files so far.
            let size = if verb == ["sessions"] { all } else { file.len() };
            assert!(peak <= (64 << 20) + 16 * size as u64, "{name} {verb:?}: {} KiB", peak >> 10);
            most = most.max(peak);
            assert!(!ran.err.contains("panicked"), "{verb:?}: {}", ran.err);
            if name.starts_with('a') {
                assert_eq!(ran.code, if verb == ["sessions"] { 0 } else { 6 }, "{verb:?}: {}", ran.err);
                ran.says("an anchor or an alias");
            }
        }
    }
    // A program that ends before the first look has no peak.
    assert!(most > 0, "no memory was ever seen");
    let mut screen = Screen::open(&desk, (120, 40), &[]);
    screen.wait_for(&["aliases-800", "an anchor", "numbers-800", "begin"]);
    let raw = screen.quits();
    assert!(raw.ends_with("\x1b[?25h") || raw.contains("\u{1b}[?1049l"));
}
