//! Heat maps of plain text, for scores and for pairs of options.
//!
//! Pictures only: places and shades are rounded, the numbers beside them are not, and nothing is decided
//! by either. Names are cut to their column and safe for a terminal.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::ballot::BallotForm;
use crate::sanitize::harmless_line;
use crate::tally::{Decimal, IndexedBallot, Profile, Score, Verdict};

/// From little to much; nothing is blank.
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];

/// How wide the name of a row may be, in columns.
const NAME: usize = 24;

/// How many different scores have a column each; with more, each ballot has one row.
const GRADES: usize = 12;

/// One cell: how dark it is, from 0 to 1, and its number.
type Cell = (f64, String);

/// A ballot's voter, scores and worth.
type ScoreRow<'a> = (&'a str, Vec<Option<Decimal>>, Decimal);

/// Scores as a heat map: how many ballots gave an option each score, or with many scores every ballot.
pub fn scores(ballots: &Profile, form: &BallotForm, width: usize) -> Vec<String> {
    let scores_of = |mark: &IndexedBallot| {
        if let IndexedBallot::Scores(scores) = mark { Some(scores.clone()) } else { None }
    };
    let rows: Vec<ScoreRow<'_>> = ballots
        .ballots
        .iter()
        .filter_map(|cast| Some((cast.voter.as_str(), scores_of(&cast.mark)?, cast.total_weight())))
        .collect();
    let mut given: Vec<Decimal> =
        rows.iter().flat_map(|(_, scores, _)| scores.iter().flatten().copied()).collect();
    given.sort_unstable();
    given.dedup();
    let mut grades = [scale(form), given.clone()].concat();
    grades.sort_unstable();
    grades.dedup();
    let grades = if grades.len() > GRADES { given } else { grades };
    match grades.len() {
        _ if rows.is_empty() => Vec::new(),
        ..=GRADES => by_grade(&ballots.options, &rows, &grades, width),
        _ => by_ballot(ballots, &rows, width),
    }
}

/// Every whole score of a form whose scale has few of them.
fn scale(form: &BallotForm) -> Vec<Decimal> {
    let (Some(min), Some(max)) =
        (form.min.as_ref().and_then(Decimal::from_json), form.max.as_ref().and_then(Decimal::from_json))
    else {
        return Vec::new();
    };
    let steps = (max - min).units() / Decimal::ONE.units();
    if steps < 0 || steps >= GRADES as i128 {
        return Vec::new();
    }
    (0..=steps as u64).map(|step| min + Decimal::whole(step)).collect()
}

fn by_grade(options: &[String], rows: &[ScoreRow<'_>], grades: &[Decimal], width: usize) -> Vec<String> {
    let worth = |option: usize, grade: Decimal| {
        let gave = rows.iter().filter(|(_, scores, _)| scores.get(option) == Some(&Some(grade)));
        gave.map(|(.., worth)| *worth).sum::<Decimal>()
    };
    let counts: Vec<Vec<Decimal>> =
        (0..options.len()).map(|option| grades.iter().map(|grade| worth(option, *grade)).collect()).collect();
    let most = counts.iter().flatten().max().map_or(0.0, |most| Score::from(*most).as_f64());
    let shown = |count: &Decimal| match *count {
        Decimal::ZERO => (0.0, String::new()),
        count => (Score::from(count).as_f64() / most, count.to_string()),
    };
    let named =
        options.iter().zip(&counts).map(|(name, row)| (name.clone(), row.iter().map(shown).collect()));
    let columns: Vec<String> = grades.iter().map(Decimal::to_string).collect();
    let mut lines = vec!["How many ballots gave each score, darker where more:".to_owned()];
    lines.extend(heat_map(&columns, &named.collect::<Vec<_>>(), width));
    lines
}

fn by_ballot(ballots: &Profile, rows: &[ScoreRow<'_>], width: usize) -> Vec<String> {
    let all = || rows.iter().flat_map(|(_, scores, _)| scores.iter().flatten().copied());
    let number = |amount: Decimal| Score::from(amount).as_f64();
    let (low, high) = (all().min().map_or(0.0, number), all().max().map_or(0.0, number));
    let shown = |score: &Option<Decimal>| match score {
        None => (0.0, String::new()),
        Some(score) => ((number(*score) - low) / (high - low), score.to_string()),
    };
    let named: Vec<(String, Vec<Cell>)> = rows
        .iter()
        .map(|(voter, scores, _)| ((*voter).to_owned(), scores.iter().map(shown).collect()))
        .collect();
    let columns: Vec<String> = (1..=ballots.options.len()).map(|at| at.to_string()).collect();
    let options =
        ballots.options.iter().zip(&columns).map(|(name, at)| format!("{at} {}", harmless_line(name)));
    let options: Vec<String> = options.collect();
    let mut lines = vec![format!("The scores of each ballot, darker where higher ({}):", options.join(", "))];
    lines.extend(heat_map(&columns, &named, width));
    lines
}

/// The pairwise matrix of a count as a heat map.
pub fn pairs(verdict: &Verdict, width: usize) -> Vec<String> {
    let Some(trace) = &verdict.trace else { return Vec::new() };
    let (matrix, names) = (&trace.pairwise, &verdict.scores);
    if matrix.is_empty() || matrix.len() != names.len() {
        return Vec::new();
    }
    let most = matrix.iter().flatten().map(Score::as_f64).fold(0.0, f64::max);
    let shown = |a: usize, b: usize, score: &Score| {
        if a == b {
            return (0.0, "·".to_owned());
        }
        (if most > 0.0 { score.as_f64() / most } else { 0.0 }, score.to_string())
    };
    let row = |(a, name): (usize, &String)| {
        let cells = matrix[a].iter().enumerate().map(|(b, score)| shown(a, b, score)).collect();
        (format!("{} {name}", a + 1), cells)
    };
    let rows: Vec<(String, Vec<Cell>)> = names.keys().enumerate().map(row).collect();
    let columns: Vec<String> = (1..=rows.len()).map(|at| at.to_string()).collect();
    let mut lines = vec!["How many ballots prefer the row to the column, darker where more:".to_owned()];
    lines.extend(heat_map(&columns, &rows, width));
    lines
}

/// Rows of cells under their columns' names, in blocks of as many columns as `width` has room for.
fn heat_map(columns: &[String], rows: &[(String, Vec<Cell>)], width: usize) -> Vec<String> {
    let names: Vec<String> = rows.iter().map(|(name, _)| cut(&harmless_line(name))).collect();
    let left = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let numbers = rows.iter().flat_map(|(_, cells)| cells.iter().map(|(_, number)| number.chars().count()));
    let titles = columns.iter().map(|title| title.chars().count().saturating_sub(3));
    let wide = numbers.chain(titles).max().unwrap_or(1);
    let title = |line: String, title: &String| format!("{line}  {title:>width$}", width = wide + 3);
    let cell = |line: String, (dark, number): &Cell| {
        let shade = shade(*dark);
        format!("{line}  {shade}{shade} {number:>wide$}")
    };
    let fit = (width.saturating_sub(left) / (wide + 5)).max(1);
    let mut lines = Vec::new();
    for from in (0..columns.len()).step_by(fit) {
        if from > 0 {
            lines.push(String::new());
        }
        lines.push(columns.iter().skip(from).take(fit).fold(" ".repeat(left), title));
        for (name, (_, cells)) in names.iter().zip(rows) {
            let start = format!("{name}{}", " ".repeat(left - name.width()));
            lines.push(cells.iter().skip(from).take(fit).fold(start, cell));
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

/// The shade of a share: nothing is blank, and something never is.
fn shade(dark: f64) -> char {
    if dark <= 0.0 {
        return ' ';
    }
    let at = (dark * SHADES.len() as f64).ceil() as usize;
    SHADES[at.clamp(1, SHADES.len()) - 1]
}

/// A name as far as its column goes.
pub fn cut(name: &str) -> String {
    if name.width() <= NAME {
        return name.to_owned();
    }
    let mut room = NAME - 1;
    let fits = |letter: &char| {
        let width = letter.width().unwrap_or(0);
        let fits = width <= room;
        room = room.saturating_sub(width);
        fits
    };
    format!("{}…", name.chars().take_while(fits).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ballot::BallotKind;
    use crate::tally::{Rule, RuleOptions, UNLISTED, WeightedBallot, count};

    fn profile(options: &[&str], marks: Vec<IndexedBallot>) -> Profile {
        let voters = 'p'..='z';
        let ballots = marks
            .into_iter()
            .zip(voters.cycle())
            .map(|(mark, voter)| WeightedBallot::one(voter, mark))
            .collect();
        Profile {
            options: options.iter().map(|name| (*name).to_owned()).collect(),
            ballots,
            ..Profile::default()
        }
    }

    fn scale_to(max: u64) -> BallotForm {
        let (min, max) = (Some(0.into()), Some(max.into()));
        BallotForm { min, max, ..BallotForm::over(BallotKind::Score, Vec::new()) }
    }

    fn scored(lines: &[&str]) -> Vec<IndexedBallot> {
        let score = |text: &str| (text != "-").then(|| Decimal::parse(text).unwrap());
        lines.iter().map(|line| IndexedBallot::Scores(line.split(' ').map(score).collect())).collect()
    }

    #[test]
    fn scores_are_a_map_of_options_by_grade() {
        let ballots = profile(&["a", "bb"], scored(&["3 0", "3 1", "3 1.5", "0 -"]));
        let lines = scores(&ballots, &scale_to(3), 200);
        assert_eq!(
            lines,
            [
                "How many ballots gave each score, darker where more:",
                "       0     1   1.5     2     3",
                "a   ▒▒ 1                    ██ 3",
                "bb  ▒▒ 1  ▒▒ 1  ▒▒ 1"
            ]
        );
        assert_eq!(
            scores(&profile(&["a"], vec![IndexedBallot::Choice(0)]), &scale_to(5), 200),
            Vec::<String>::new()
        );
    }

    #[test]
    fn many_different_scores_are_a_map_of_ballots_by_option() {
        let lines: Vec<String> = (0..7).map(|at| format!("{} {}", at * 10, at * 10 + 5)).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let ballots = profile(&["first", "second"], scored(&lines));
        let lines = scores(&ballots, &scale_to(100), 200);
        assert_eq!(
            lines,
            [
                "The scores of each ballot, darker where higher (1 first, 2 second):",
                "       1      2",
                "p      0  ░░  5",
                "q  ░░ 10  ░░ 15",
                "r  ▒▒ 20  ▒▒ 25",
                "s  ▒▒ 30  ▓▓ 35",
                "t  ▓▓ 40  ▓▓ 45",
                "u  ██ 50  ██ 55",
                "v  ██ 60  ██ 65"
            ]
        );
        let alike = profile(&["first"], scored(&["6.5", "6.5"]));
        let lines = scores(&alike, &scale_to(11), 200);
        assert_eq!(
            lines[1..],
            ["        6.5", "first  ██ 2"],
            "a scale that is too fine with them leaves the scores given"
        );
    }

    #[test]
    fn pairs_are_a_map_with_shades_by_strength() {
        let ranked = |ranks: &[u16]| IndexedBallot::Ranking(ranks.to_vec());
        let marks =
            vec![ranked(&[0, 1, 2]), ranked(&[0, 1, 2]), ranked(&[1, 0, UNLISTED]), ranked(&[1, 2, 0])];
        let ballots = profile(&["in-process", "redis\u{1b}[31m", &"x".repeat(30)], marks);
        let lines = pairs(&count(&ballots, Rule::Schulze, &RuleOptions::default()), 200);
        assert_eq!(
            lines,
            [
                "How many ballots prefer the row to the column, darker where more:",
                "                             1     2     3",
                "1 in-process                 ·  ██ 3  ██ 3",
                "2 redis\\u{1b}[31m         ▒▒ 1     ·  ██ 3",
                "3 xxxxxxxxxxxxxxxxxxxxx…  ▒▒ 1  ▒▒ 1     ·"
            ]
        );
        assert_eq!(
            pairs(&count(&ballots, Rule::Plurality, &RuleOptions::default()), 200),
            Vec::<String>::new()
        );
        let folded = pairs(&count(&ballots, Rule::Schulze, &RuleOptions::default()), 40);
        assert_eq!(
            folded[1..],
            [
                "                             1     2",
                "1 in-process                 ·  ██ 3",
                "2 redis\\u{1b}[31m         ▒▒ 1     ·",
                "3 xxxxxxxxxxxxxxxxxxxxx…  ▒▒ 1  ▒▒ 1",
                "",
                "                             3",
                "1 in-process              ██ 3",
                "2 redis\\u{1b}[31m         ██ 3",
                "3 xxxxxxxxxxxxxxxxxxxxx…     ·"
            ]
        );
    }

    #[test]
    fn something_is_never_blank_and_names_keep_to_their_column() {
        let shades: String = [0.0, 0.001, 0.25, 0.26, 0.75, 0.9, 1.0].into_iter().map(shade).collect();
        assert_eq!(shades, " ░░▒▓██");
        assert_eq!(cut("表計算表計算表計算表計算表計算"), "表計算表計算表計算表計…");
        assert_eq!(cut("short"), "short");
    }
}
