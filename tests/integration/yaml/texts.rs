//! Texts that break YAML writers: known and generated ones.

use crate::oracle::Dice;

const NASTY: &str = "§ §\n§\t§\r§\r\n§\u{0}§\u{7f}§\u{85}§\u{a0}§\u{2028}§\u{2029}§\u{feff}§no§NO§yes§on§off§y§n§true§True\
    §null§Null§~§NaN§.nan§.inf§-.inf§0§017§0o17§0x1F§0b1§1e3§1E3§1.0e+3§1_000§1.10§.5§+1§-§--§12:30:45\
    §2026-11-21§2026-11-21T23:05:07Z§=§<<§- a§? a§: a§a: b§a:§a #b§# a§#§a#b§---§--- a§...§---\n§...\n\
    §a\n---\nb§a\n...\nb§%YAML 1.2§%TAG ! x§&a§*a§!a§!!str a§|§>§|-§>+§@a§`a§'§''§\"§\\§\\n§\\u0000\
    §\"a\": 'b'§{a: b}§[a, b]§{§}§[§]§,§a, b§a\n§a\n\n§a\n\n\n§\na§\n\na§ a§a §  a\n b§a\n b§a\n\tb§\ta§a\t\
    §a\t\nb§a \nb§a\n §a\n \nb§a\n\n b\n§a\rb§a\r\nb\r\n§a\u{85}b\nc§a\u{2028}b\nc§\u{feff}a§a\n\u{feff}b\
    §a\u{0}b§a\u{1b}[31mb§a\u{9b}31mb§\u{202e}a\u{202c}§e\u{301}§\u{d7ff}\u{e000}§\u{fffd}\u{fffe}\u{ffff}\
    §\u{fdd0}\u{fdef}§\u{1fffe}§\u{10ffff}§\u{10000}§\u{f0000}§\u{e0041}\u{e007f}§\u{1f469}\u{200d}\u{1f469}\
    §#a\nb§# a\n# b§- a\n- b\n§a: b\nc: d\n§a: |\n  b\n§\"a\nb\"§'a\nb'§a\\\nb§  your_role: \"x\"\n\
    §hash: 0000000000000000000000000000000000000000000000000000000000000000\
    §a\nhash: 00000000000000000000000000000000000000000000000000000000000000ff\n\
    §a\nhash: 00000000000000000000000000000000000000000000000000000000000000ff\n---\nseq: 1\n\
    §```yaml\nvote: a\n```\n§a  b§a\u{3000}§\u{3000}a\nb§\u{a0}\nb§a\u{b}b\nc§a\u{c}b";

/// Fragments of generated texts, mixed with single characters.
const PARTS: &str = ": § #§\n§\n\n§\n  §\n\t§\r\n§\r§\t§---§\n---\n§\n...\n§- §? §\"§'§\\§no§0x1F§1e3§|§>§{§}§[§]§, §&§*§!§%\
    §@§<<§  §word§long enough to be folded by a writer that folds§\u{85}§\u{2028}§\u{2029}§\u{feff}§\u{a0}\
    §\nhash: 3f786850e387550fdab836ed7e6dc881de23001b3f786850e387550fdab836ed\n";

/// Character ranges with equal probability.
const RANGES: &str = "0-1f 20-7e 7f-9f a0-24f 300-36f 5d0-6ff 2000-206f 3000-9fff d7f0-d7ff e000-f8ff fdd0-fdef \
    fe00-fe0f fff0-ffff 10000-100ff 1f300-1faff 1fffe-1ffff e0000-e007f f0000-10ffff";

pub fn nasty() -> impl Iterator<Item = &'static str> {
    NASTY.split('§')
}

/// Returns `count` texts that depend only on the seed.
pub fn generated(seed: u64, count: usize) -> impl Iterator<Item = String> {
    let mut dice = Dice(seed);
    let parts: Vec<&str> = PARTS.split('§').collect();
    let number = |hex: &str| u32::from_str_radix(hex, 16).expect("hex");
    let range = |range: &str| range.split_once('-').map(|(first, last)| (number(first), number(last)));
    let ranges: Vec<(u32, u32)> = RANGES.split(' ').filter_map(range).collect();
    (0..count).map(move |_| {
        let most = match dice.below(20) {
            0 => 400,
            1..=4 => 40,
            _ => 6,
        };
        let mut text = String::new();
        for _ in 0..=dice.below(most) {
            match dice.below(3) {
                0 => text.push_str(parts[dice.below(parts.len())]),
                1 => text.push(char::from(b' ' + dice.below(95) as u8)),
                _ => {
                    let (first, last) = ranges[dice.below(ranges.len())];
                    text.extend(char::from_u32(first + dice.below((last - first + 1) as usize) as u32));
                }
            }
        }
        text
    })
}
