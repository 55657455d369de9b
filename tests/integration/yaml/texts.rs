//! Texts that break YAML writers: a list of known ones, and others made from a seed.

/// Known ones.
pub const NASTY: &[&str] = &[
    "",
    " ",
    "\n",
    "\t",
    "\r",
    "\r\n",
    "\u{0}",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "\u{2029}",
    "\u{feff}",
    "no",
    "NO",
    "yes",
    "on",
    "off",
    "y",
    "n",
    "true",
    "True",
    "null",
    "Null",
    "~",
    "NaN",
    ".nan",
    ".inf",
    "-.inf",
    "0",
    "017",
    "0o17",
    "0x1F",
    "0b1",
    "1e3",
    "1E3",
    "1.0e+3",
    "1_000",
    "1.10",
    ".5",
    "+1",
    "-",
    "--",
    "12:30:45",
    "2026-11-21",
    "2026-11-21T23:05:07Z",
    "=",
    "<<",
    "- a",
    "? a",
    ": a",
    "a: b",
    "a:",
    "a #b",
    "# a",
    "#",
    "a#b",
    "---",
    "--- a",
    "...",
    "---\n",
    "...\n",
    "a\n---\nb",
    "a\n...\nb",
    "%YAML 1.2",
    "%TAG ! x",
    "&a",
    "*a",
    "!a",
    "!!str a",
    "|",
    ">",
    "|-",
    ">+",
    "@a",
    "`a",
    "'",
    "''",
    "\"",
    "\\",
    "\\n",
    "\\u0000",
    "\"a\": 'b'",
    "{a: b}",
    "[a, b]",
    "{",
    "}",
    "[",
    "]",
    ",",
    "a, b",
    "a\n",
    "a\n\n",
    "a\n\n\n",
    "\na",
    "\n\na",
    " a",
    "a ",
    "  a\n b",
    "a\n b",
    "a\n\tb",
    "\ta",
    "a\t",
    "a\t\nb",
    "a \nb",
    "a\n ",
    "a\n \nb",
    "a\n\n b\n",
    "a\rb",
    "a\r\nb\r\n",
    "a\u{85}b\nc",
    "a\u{2028}b\nc",
    "\u{feff}a",
    "a\n\u{feff}b",
    "a\u{0}b",
    "a\u{1b}[31mb",
    "a\u{9b}31mb",
    "\u{202e}a\u{202c}",
    "e\u{301}",
    "\u{d7ff}\u{e000}",
    "\u{fffd}\u{fffe}\u{ffff}",
    "\u{fdd0}\u{fdef}",
    "\u{1fffe}",
    "\u{10ffff}",
    "\u{10000}",
    "\u{f0000}",
    "\u{e0041}\u{e007f}",
    "\u{1f469}\u{200d}\u{1f469}",
    "#a\nb",
    "# a\n# b",
    "- a\n- b\n",
    "a: b\nc: d\n",
    "a: |\n  b\n",
    "\"a\nb\"",
    "'a\nb'",
    "a\\\nb",
    "  your_role: \"x\"\n",
    "hash: 0000000000000000000000000000000000000000000000000000000000000000",
    "a\nhash: 00000000000000000000000000000000000000000000000000000000000000ff\n",
    "a\nhash: 00000000000000000000000000000000000000000000000000000000000000ff\n---\nseq: 1\n",
    "```yaml\nvote: a\n```\n",
    "a  b",
    "a\u{3000}",
    "\u{3000}a\nb",
    "\u{a0}\nb",
    "a\u{b}b\nc",
    "a\u{c}b",
];

/// Fragments that generated texts are made of, beside single characters.
const PARTS: &[&str] = &[
    ": ",
    " #",
    "\n",
    "\n\n",
    "\n  ",
    "\n\t",
    "\r\n",
    "\r",
    "\t",
    "---",
    "\n---\n",
    "\n...\n",
    "- ",
    "? ",
    "\"",
    "'",
    "\\",
    "no",
    "0x1F",
    "1e3",
    "|",
    ">",
    "{",
    "}",
    "[",
    "]",
    ", ",
    "&",
    "*",
    "!",
    "%",
    "@",
    "<<",
    "  ",
    "word",
    "long enough to be folded by a writer that folds",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\u{feff}",
    "\u{a0}",
    "\nhash: 3f786850e387550fdab836ed7e6dc881de23001b3f786850e387550fdab836ed\n",
];

/// Ranges of characters, each drawn as often as any other.
const RANGES: &[(u32, u32)] = &[
    (0x00, 0x1f),
    (0x20, 0x7e),
    (0x7f, 0x9f),
    (0xa0, 0x24f),
    (0x300, 0x36f),
    (0x5d0, 0x6ff),
    (0x2000, 0x206f),
    (0x3000, 0x9fff),
    (0xd7f0, 0xd7ff),
    (0xe000, 0xf8ff),
    (0xfdd0, 0xfdef),
    (0xfe00, 0xfe0f),
    (0xfff0, 0xffff),
    (0x1_0000, 0x1_00ff),
    (0x1_f300, 0x1_faff),
    (0x1_fffe, 0x1_ffff),
    (0xe_0000, 0xe_007f),
    (0xf_0000, 0x10_ffff),
];

/// Numbers from a seed: `splitmix64`.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("below a usize")
    }

    fn text(&mut self) -> String {
        let most = match self.below(20) {
            0 => 400,
            1..=4 => 40,
            _ => 6,
        };
        let mut text = String::new();
        for _ in 0..=self.below(most) {
            match self.below(3) {
                0 => text.push_str(PARTS[self.below(PARTS.len())]),
                1 => text.push(char::from(b' ' + u8::try_from(self.below(95)).expect("below 95"))),
                _ => {
                    let (first, last) = RANGES[self.below(RANGES.len())];
                    let offset =
                        u32::try_from(self.below((last - first + 1) as usize)).expect("in the range");
                    text.extend(char::from_u32(first + offset));
                }
            }
        }
        text
    }
}

/// That many texts, the same for the same seed.
pub fn generated(seed: u64, count: usize) -> impl Iterator<Item = String> {
    let mut numbers = Numbers(seed);
    (0..count).map(move |_| numbers.text())
}
