//! Animation of the README: a real run in a real terminal.
//!
//! `UPDATE_PICTURE=1` rewrites `docs/demo.svg`. Otherwise it is compared with a new run, without times and
//! numbers.

use std::fmt::Write as _;
use std::fs;

use vt100::{Cell, Color, Parser};

use crate::program::Desk;
use crate::pty::{Screen, cells};

const COLUMNS: u16 = 80;
const ROWS: u16 = 24;
const CELL: (f32, f32) = (9.0, 18.0);
const FONT: f32 = 15.0;

/// Content of the terminal as escape sequences, and its duration in seconds.
struct Frame {
    drawn: String,
    seconds: u32,
}

fn run() -> Vec<Frame> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/sessions/context-passing.yaml");
    let text = fs::read_to_string(path).expect("the example");
    let desk = Desk::new();
    desk.write("context.yaml", text.replace("    type: round\n", "    type: round\n    close: manual\n"));
    let mut frames = Vec::new();
    for typed in ["", "roundtable", "roundtable context.yaml"] {
        frames.push(Frame { drawn: format!("\x1b[H\x1b[J$ {typed}\u{2588}"), seconds: 1 });
    }
    let mut screen = Screen::open(&desk, (COLUMNS, ROWS), &["context.yaml"]);
    screen.wait_for(&["DRAFT", "scripted: 5 of 5 seats"]);
    screen.press("j", &["o open"]);
    frames.push(Frame { drawn: screen.drawn(), seconds: 4 });
    screen.press("o", &["5 of 5"]);
    frames.push(Frame { drawn: screen.drawn(), seconds: 4 });
    screen.press("c", &["REVEAL", "Decision"]);
    frames.push(Frame { drawn: screen.drawn(), seconds: 5 });
    screen.press("l", &["mpion · "]);
    frames.push(Frame { drawn: screen.drawn(), seconds: 4 });
    screen.kill();
    frames
}

#[test]
fn the_moving_picture_shows_what_a_run_shows() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/demo.svg");
    let now = svg(&run());
    if std::env::var_os("UPDATE_PICTURE").is_some() {
        fs::write(path, &now).expect("written");
    }
    let kept = fs::read_to_string(path).expect("the picture");
    assert_eq!(words(&kept), words(&now), "UPDATE_PICTURE=1 makes the picture anew");
}

fn words(svg: &str) -> Vec<&str> {
    let texts = svg.split("</text>").filter_map(|piece| piece.rsplit_once('>'));
    let words = texts.flat_map(|(_, text)| text.split_whitespace());
    words.filter(|word| !word.contains(|c: char| c.is_ascii_digit())).collect()
}

fn shown(drawn: &str) -> Parser {
    let mut parser = Parser::new(cells(ROWS), cells(COLUMNS), 0);
    parser.process(drawn.as_bytes());
    parser
}

/// Returns an animation of the frames in a loop; with reduced motion, the last but one is shown.
fn svg(frames: &[Frame]) -> String {
    let total: u32 = frames.iter().map(|frame| frame.seconds).sum();
    let (width, height) = (f32::from(COLUMNS) * CELL.0 + 20.0, f32::from(ROWS) * CELL.1 + 20.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"A round in the terminal: draft, sealed seats, reveal, another answer\">\n\
         <style>text{{font:{FONT}px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}}\
         .f{{visibility:hidden;animation:{total}s step-end infinite}}\n"
    );
    let mut at = 0;
    for (index, frame) in frames.iter().enumerate() {
        let share = |seconds: u32| f64::from(seconds) * 100.0 / f64::from(total);
        let (from, to) = (share(at), share(at + frame.seconds));
        let _ = writeln!(
            out,
            "@keyframes k{index}{{0%{{visibility:hidden}}{from:.3}%{{visibility:visible}}{to:.3}%{{visibility:{}}}}}",
            if to >= 100.0 { "visible" } else { "hidden" }
        );
        at += frame.seconds;
    }
    let still = frames.len() - 2;
    let _ = writeln!(
        out,
        "@media(prefers-reduced-motion:reduce){{.f{{animation:none!important}}.f:nth-of-type({}){{visibility:visible}}}}\n\
         </style>\n<rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#16181d\"/>",
        still + 1
    );
    for (index, frame) in frames.iter().enumerate() {
        let _ =
            writeln!(out, "<g class=\"f\" style=\"animation-name:k{index}\" transform=\"translate(10,10)\">");
        draw(shown(&frame.drawn).screen(), &mut out);
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

/// Returns a cell's text color, its background unless it is the terminal's, and whether it is bold.
fn look(cell: &Cell) -> (String, Option<String>, bool) {
    let usual = if cell.dim() { "#8b919c" } else { "#dfe3ea" };
    let (ink, ground) = (hex(cell.fgcolor()).unwrap_or_else(|| usual.to_owned()), hex(cell.bgcolor()));
    if cell.inverse() {
        return (ground.unwrap_or_else(|| "#16181d".to_owned()), Some(ink), cell.bold());
    }
    (ink, ground, cell.bold())
}

fn draw(screen: &vt100::Screen, out: &mut String) {
    for row in 0..ROWS {
        let mut column = 0;
        while let Some(first) = screen.cell(row, column) {
            let (start, as_first) = (column, look(first));
            let mut text = String::new();
            while let Some(cell) = screen.cell(row, column).filter(|cell| look(cell) == as_first) {
                if !cell.is_wide_continuation() {
                    text.push_str(if cell.has_contents() { cell.contents() } else { " " });
                }
                column += 1;
            }
            let (ink, ground, is_bold) = as_first;
            let (x, y) = (f32::from(start) * CELL.0, f32::from(row) * CELL.1);
            let (width, height) = (f32::from(column - start) * CELL.0, CELL.1);
            if let Some(ground) = ground {
                let _ = writeln!(
                    out,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{ground}\"/>"
                );
            }
            if !text.trim().is_empty() {
                let text = text.replace('&', "&amp;").replace('<', "&lt;");
                let (y, bold) = (y + FONT, if is_bold { " font-weight=\"bold\"" } else { "" });
                let _ = writeln!(
                    out,
                    "<text x=\"{x}\" y=\"{y}\" textLength=\"{width}\" lengthAdjust=\"spacingAndGlyphs\" \
                     fill=\"{ink}\"{bold}>{text}</text>"
                );
            }
        }
    }
}

/// Returns a color, or `None` for the terminal's default; the first sixteen are those of a dark terminal.
fn hex(color: Color) -> Option<String> {
    const FIRST: [&str; 16] = [
        "#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#dfe3ea", "#7d8490",
        "#ef8b93", "#b5e08d", "#f2d58f", "#8cc8ff", "#dc9cf0", "#7fd8e2", "#ffffff",
    ];
    let rgb = match color {
        Color::Default => return None,
        Color::Rgb(red, green, blue) => [red, green, blue],
        Color::Idx(index @ 0..=15) => return Some(FIRST[usize::from(index)].to_owned()),
        Color::Idx(index @ 16..=231) => {
            let step = |part: u8| if part == 0 { 0 } else { 55 + 40 * part };
            let index = index - 16;
            [step(index / 36), step(index / 6 % 6), step(index % 6)]
        }
        Color::Idx(index) => [8 + 10 * (index - 232); 3],
    };
    Some(format!("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]))
}
