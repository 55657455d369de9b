//! Textbook profiles with published results, and known paradoxes of the rules.

use super::*;

/// Parses ballots from lines such as `42: a > b = c > d`; options keep the order of `options`.
pub fn rankings(options: &str, lines: &str) -> Profile {
    let options: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
    let place = |name: &str| options.iter().position(|known| known == name.trim()).expect("an option");
    let ballot = |(number, line): (usize, &str)| {
        let (count, order) = line.split_once(':').expect("a count");
        let mut ranks = vec![UNLISTED; options.len()];
        for (rank, group) in order.split('>').enumerate().filter(|(_, group)| !group.trim().is_empty()) {
            for name in group.split('=') {
                ranks[place(name)] = rank as u16;
            }
        }
        let count = count.trim().parse().expect("a number");
        WeightedBallot {
            count,
            ..WeightedBallot::one(format!("ballot {}", number + 1), IndexedBallot::Ranking(ranks))
        }
    };
    let lines = lines.split([';', '\n']).filter(|line| !line.trim().is_empty());
    let ballots = lines.enumerate().map(ballot).collect();
    Profile { options: options.clone(), ballots, ..Profile::default() }
}

fn scores(options: &str, lines: &[&[i64]]) -> Profile {
    let options: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
    let score = |score: &i64| (*score >= 0).then(|| Decimal::whole(*score as u64));
    let ballot =
        |line: &&[i64]| WeightedBallot::one("v", IndexedBallot::Scores(line.iter().map(score).collect()));
    Profile { options, ballots: lines.iter().map(ballot).collect(), ..Profile::default() }
}

fn choices(options: &str, votes: &[usize]) -> Profile {
    let options: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
    let ballots = votes
        .iter()
        .map(|vote| WeightedBallot::one(format!("v{vote}"), IndexedBallot::Choice(*vote)))
        .collect();
    Profile { options, ballots, ..Profile::default() }
}

fn won(profile: &Profile, rule: Rule) -> Vec<String> {
    count(profile, rule, &RuleOptions::default()).winners
}

const TENNESSEE: &str = "42: memphis > nashville > chattanooga > knoxville
    26: nashville > chattanooga > knoxville > memphis
    15: chattanooga > knoxville > nashville > memphis
    17: knoxville > chattanooga > nashville > memphis";

fn tennessee() -> Profile {
    rankings("memphis nashville chattanooga knoxville", TENNESSEE)
}

#[test]
fn tennessee_chooses_its_capital() {
    let profile = tennessee();
    let expected = [
        (Rule::Plurality, "memphis"),
        (Rule::Borda, "nashville"),
        (Rule::Irv, "knoxville"),
        (Rule::Schulze, "nashville"),
    ];
    for (rule, winner) in expected {
        assert_eq!(won(&profile, rule), [winner], "{}", rule.name());
    }
    assert!(won(&profile, Rule::Majority).is_empty());
    let borda = count(&profile, Rule::Borda, &RuleOptions::default());
    let points: Vec<String> = borda.scores.values().map(ToString::to_string).collect();
    assert_eq!(points, ["126", "194", "173", "107"]);
    let irv = count(&profile, Rule::Irv, &RuleOptions::default());
    let out: Vec<_> = irv.trace.unwrap().rounds.into_iter().filter_map(|round| round.out).collect();
    assert_eq!(out, ["chattanooga", "nashville"]);
}

/// Schulze (2011), example 1: 45 voters, winner e, published path strengths.
#[test]
fn schulze_s_45_ballots() {
    let profile = rankings(
        "a b c d e",
        "5: a>c>b>e>d; 5: a>d>e>c>b; 8: b>e>d>a>c; 3: c>a>b>e>d; 7: c>a>e>b>d; 2: c>b>a>d>e; 7: d>c>e>b>a; 8: e>b>a>d>c",
    );
    let verdict = count(&profile, Rule::Schulze, &RuleOptions::default());
    assert_eq!(verdict.winners, ["e"]);
    let paths: Vec<Vec<String>> = verdict
        .trace
        .unwrap()
        .paths
        .iter()
        .map(|row| row.iter().map(ToString::to_string).collect())
        .collect();
    let published = [
        ["0", "28", "28", "30", "24"],
        ["25", "0", "28", "33", "24"],
        ["25", "29", "0", "29", "24"],
        ["25", "28", "28", "0", "24"],
        ["25", "28", "28", "31", "0"],
    ];
    assert_eq!(paths, published);
    // The trace's matrices show the pairs, so the steps do not.
    assert_eq!(verdict.steps.len(), 1, "{:#?}", verdict.steps);
}

#[test]
fn a_cycle_is_broken_at_its_weakest_victory_by_winning_votes() {
    // a over b 65, b over c 75, c over a 60.
    assert_eq!(won(&rankings("a b c", "40: a>b>c; 35: b>c>a; 25: c>a>b"), Rule::Schulze), ["a"]);
    // a over b 16 to 11, b over c 12 to 7, c over a 14 to 11: by margins a would win.
    let close = rankings("a b c", "8: a; 2: b; 2: c>b; 7: b>c; 3: a>b>c; 5: c>a>b");
    assert_eq!(won(&close, Rule::Schulze), ["c"]);
}

/// Fishburn and Brams (1983), "Paradoxes of preferential voting": more support makes an option lose.
#[test]
fn instant_runoff_is_not_monotonic() {
    let before = rankings("a b c", "39: a>b>c; 35: b>c>a; 26: c>a>b");
    assert_eq!(won(&before, Rule::Irv), ["a"]);
    // Ten voters raise a from last to first.
    let after = rankings("a b c", "49: a>b>c; 25: b>c>a; 26: c>a>b");
    assert_eq!(won(&after, Rule::Irv), ["c"]);
}

/// Moulin (1988): voters get a result that they prefer by not voting.
#[test]
fn instant_runoff_has_the_no_show_paradox() {
    let with = rankings("a b c", "13: a>b>c; 10: b>c>a; 12: c>a>b");
    let verdict = won(&with, Rule::Irv);
    assert_eq!(verdict, ["c"]);
    // Four voters with a>b>c stay away, and b wins, which they prefer to c.
    let without = rankings("a b c", "9: a>b>c; 10: b>c>a; 12: c>a>b");
    assert_eq!(won(&without, Rule::Irv), ["b"]);
}

#[test]
fn instant_runoff_reports_every_winner_under_some_order() {
    let level = rankings("a b c d", "2: a; 1: b>c; 1: c>b; 1: d>b");
    let verdict = count(&level, Rule::Irv, &RuleOptions::default());
    assert!(verdict.tie);
    assert_eq!(verdict.winners, ["a", "b", "c"]);
    let same = rankings("a b c", "5: a; 2: b>a; 2: c>a");
    assert_eq!(won(&same, Rule::Irv), ["a"]);
    let all = rankings("a b c d e f g h i", "1: a; 1: b; 1: c; 1: d; 1: e; 1: f; 1: g; 1: h; 1: i");
    let verdict = count(&all, Rule::Irv, &RuleOptions::default());
    assert_eq!((verdict.winners.len(), verdict.tie), (9, true));
}

#[test]
fn too_many_elimination_orders_are_an_unresolved_tie() {
    let names: Vec<String> = (0..16).map(|n| format!("o{n}")).collect();
    let profile = rankings(&names.join(" "), &format!("1: {}", names.join("; 1: ")));
    let verdict = count(&profile, Rule::Irv, &RuleOptions::default());
    assert!(verdict.tie && verdict.why().unwrap().contains("unresolved tie"));
}

#[test]
fn ties_and_omissions_count_as_documented() {
    let profile = rankings("a b c d", "1: a=b; 1: c");
    let borda = count(&profile, Rule::Borda, &RuleOptions::default());
    let points: Vec<String> = borda.scores.values().map(ToString::to_string).collect();
    assert_eq!(points, ["3.5", "3.5", "3.5", "1.5"]);
    let plurality = count(&profile, Rule::Plurality, &RuleOptions::default());
    assert_eq!(plurality.winners, ["c"]);
    assert_eq!(plurality.scores["a"].to_string(), "0.5");
    for blank in [rankings("a", "3: "), rankings("a b", "3: ")] {
        for rule in [Rule::Borda, Rule::Schulze, Rule::Irv, Rule::Plurality, Rule::Majority, Rule::Unanimous]
        {
            let why = count(&blank, rule, &RuleOptions::default()).why();
            assert_eq!(why.as_deref(), Some("no ballot names an option"), "{}", rule.name());
        }
    }
}

#[test]
fn majorities_are_strict_and_shares_exact() {
    assert_eq!(won(&choices("a b c", &[0, 0, 1]), Rule::Majority), ["a"]);
    let half = count(&choices("a b c", &[0, 0, 1, 1]), Rule::Majority, &RuleOptions::default());
    assert_eq!((half.tie, half.winners.len()), (true, 2));
    let less = count(&choices("a b c", &[0, 0, 1, 2]), Rule::Majority, &RuleOptions::default());
    assert_eq!(less.why().unwrap(), "no majority: 2 of 4 is the most, 3 are needed");
    assert!(won(&choices("a b", &[]), Rule::Majority).is_empty());
    let share = |text: &str| RuleOptions { threshold: Fraction::parse(text), choose: None };
    let two_of_three = choices("a b", &[0, 0, 1]);
    assert_eq!(won(&two_of_three, Rule::Supermajority), ["a"]);
    assert!(count(&two_of_three, Rule::Supermajority, &share("0.6667")).winners.is_empty());
    assert!(count(&two_of_three, Rule::WeightedMajority, &share("2/3")).winners.is_empty());
    assert_eq!(count(&two_of_three, Rule::WeightedMajority, &share("0.666666")).winners, ["a"]);
}

#[test]
fn one_ballot_is_no_unanimity() {
    assert_eq!(won(&choices("a b", &[1, 1]), Rule::Unanimous), ["b"]);
    let one = count(&choices("a b", &[1]), Rule::Unanimous, &RuleOptions::default());
    assert_eq!(one.why().unwrap(), "a single ballot is not unanimity");
    assert!(won(&choices("a b", &[1, 0]), Rule::Unanimous).is_empty());
    assert!(won(&rankings("a b", "2: a=b"), Rule::Unanimous).is_empty());
}

#[test]
fn weights_count_under_every_rule() {
    let mut profile = choices("a b", &[0, 1, 1]);
    profile.ballots[0].weight = Decimal::parse("2.5").unwrap();
    for rule in [Rule::Plurality, Rule::Majority, Rule::WeightedMajority, Rule::Borda, Rule::Schulze] {
        let verdict = count(&profile, rule, &RuleOptions::default());
        assert_eq!(verdict.winners, ["a"], "{}", rule.name());
        assert!(verdict.steps[0].contains("v0 2.5"), "{:?}", verdict.steps);
    }
}

#[test]
fn consent_stops_at_one_block_and_names_its_change() {
    let ballots = vec![
        WeightedBallot::one("a", IndexedBallot::Support),
        WeightedBallot::one("b", IndexedBallot::StandAside),
    ];
    let mut profile = Profile { ballots, ..Profile::default() };
    assert_eq!(won(&profile, Rule::Consent), ["support"]);
    profile
        .ballots
        .push(WeightedBallot::one("security-champion", IndexedBallot::Block(Some("encrypt at rest".into()))));
    let verdict = count(&profile, Rule::Consent, &RuleOptions::default());
    assert_eq!(verdict.why().unwrap(), "blocked by security-champion");
    assert!(verdict.steps[1].contains("encrypt at rest"));
    profile.ballots[2].mark = IndexedBallot::Block(None);
    let verdict = count(&profile, Rule::Consent, &RuleOptions::default());
    assert_eq!(verdict.why().unwrap(), "blocked by security-champion");
    assert_eq!(verdict.steps[1], "security-champion: block (no change stated)");
    // Nobody supports it, and nobody blocks it.
    profile.ballots = vec![WeightedBallot::one("b", IndexedBallot::StandAside)];
    assert_eq!(won(&profile, Rule::Consent), ["support"]);
    let nobody = Profile::default();
    let verdict = count(&nobody, Rule::Consent, &RuleOptions::default());
    assert_eq!((verdict.winners.len(), verdict.why().as_deref()), (0, Some("no support")));
}

#[test]
fn a_reply_that_may_be_a_block_stops_the_proposal() {
    let ballots = vec![
        WeightedBallot::one("a", IndexedBallot::Support),
        WeightedBallot::one("b", IndexedBallot::Support),
    ];
    let mut profile = Profile { ballots, may_block: vec!["c".to_owned()], ..Profile::default() };
    let verdict = count(&profile, Rule::Consent, &RuleOptions::default());
    assert_eq!(verdict.why().as_deref(), Some("1 unreadable reply may block"));
    assert_eq!(verdict.winners, Vec::<String>::new());
    assert!(verdict.steps[1].ends_with("may be a block: c"), "{:?}", verdict.steps);
    profile.may_block.push("d".to_owned());
    let verdict = count(&profile, Rule::Consent, &RuleOptions::default());
    assert_eq!(verdict.why().as_deref(), Some("2 unreadable replies may block"));
}

#[test]
fn scores_have_means() {
    let profile = scores("a b c", &[&[5, 3, 0], &[0, 3, 4], &[4, 3, -1]]);
    assert_eq!(won(&profile, Rule::Score), ["a", "b"]);
    let mean = count(&profile, Rule::Score, &RuleOptions::default());
    assert_eq!(mean.scores["c"].to_string(), "2");
    // Thirds compare exactly, without rounding.
    let close = scores("a b", &[&[1, 1], &[1, 1], &[2, 2]]);
    assert_eq!(won(&close, Rule::Score), ["a", "b"]);
}

#[test]
fn estimates_have_a_median_and_quartiles() {
    let number = |n: u64| WeightedBallot::one("v", IndexedBallot::Number(Decimal::whole(n)));
    let profile = Profile { ballots: [8, 1, 5, 3].map(number).to_vec(), ..Profile::default() };
    let verdict = count(&profile, Rule::Median, &RuleOptions::default());
    assert_eq!(verdict.winners, ["4"]);
    let spread = verdict.trace.unwrap().spread.unwrap();
    assert_eq!((spread.first_quartile.as_str(), spread.third_quartile.as_str()), ("2", "6.5"));
    assert_eq!(spread.iqr.to_string(), "4.5");
    let card = |n: usize| WeightedBallot::one("v", IndexedBallot::Card(n));
    let cards = ["XS", "S", "M", "L"].map(str::to_owned).to_vec();
    let profile = Profile { options: cards, ballots: [0, 1, 2, 3].map(card).to_vec(), ..Profile::default() };
    let verdict = count(&profile, Rule::Median, &RuleOptions::default());
    assert_eq!((verdict.winners, verdict.tie), (vec!["S".to_owned(), "M".to_owned()], true));
}

#[test]
fn every_rule_over_options_gives_the_order_of_all() {
    let orders = |profile: &Profile, rule: Rule| {
        let verdict = count(profile, rule, &RuleOptions::default());
        let places: Vec<String> = verdict.order.iter().map(|level| level.join(" = ")).collect();
        (places.join(" > "), verdict.order_by)
    };
    let by = |what: &str| Some(what.to_owned());
    let choices = choices("a b c d", &[1, 1, 3, 0]);
    assert_eq!(orders(&choices, Rule::Majority), ("b > a = d > c".to_owned(), by("first places")));
    assert_eq!(orders(&choices, Rule::Approval), ("b > a = d > c".to_owned(), None));
    let tennessee = tennessee();
    let order = "nashville > chattanooga > knoxville > memphis".to_owned();
    assert_eq!(orders(&tennessee, Rule::Schulze), (order, None));
    let borda = "nashville > chattanooga > memphis > knoxville".to_owned();
    assert_eq!(orders(&tennessee, Rule::Borda), (borda, None));
    let (irv, how) = orders(&tennessee, Rule::Irv);
    assert_eq!(irv, "knoxville > chattanooga > nashville > memphis");
    assert_eq!(how, by("removing who wins and counting again"));
    let consent =
        Profile { ballots: vec![WeightedBallot::one("a", IndexedBallot::Support)], ..Profile::default() };
    assert_eq!(orders(&consent, Rule::Consent).0, "");
}

#[test]
fn one_option_wins_with_a_ballot_that_names_it() {
    for (rule, kinds) in [
        (Rule::Borda, ["vote: a", "approve: [a]", "ranking: [a]"].as_slice()),
        (Rule::Schulze, &["vote: a", "approve: [a]", "ranking: [a]"]),
        (Rule::Irv, &["vote: a", "approve: [a]", "ranking: [a]"]),
        (Rule::Majority, &["vote: a", "ranking: [a]"]),
        (Rule::Approval, &["vote: a", "approve: [a]"]),
        (Rule::Score, &["scores: {a: 4}"]),
    ] {
        for kind in kinds {
            let text = format!("options: [a]\nballots: [{{{kind}}}]");
            assert_eq!(won(&read_ballots(&text, "b.yaml").expect("ballots").profile, rule), ["a"], "{text}");
        }
    }
}

#[test]
fn a_tie_that_is_settled_is_settled_in_the_order_too() {
    let mut verdict = count(&choices("a b c", &[0, 2, 0, 2]), Rule::Plurality, &RuleOptions::default());
    assert_eq!(verdict.order, [vec!["a".to_owned(), "c".to_owned()], vec!["b".to_owned()]]);
    verdict.settle("c", Settled::Seed(7));
    assert_eq!(verdict.order, ["c", "a", "b"].map(|option| vec![option.to_owned()]));
}

#[test]
fn several_are_chosen_down_to_the_edge() {
    let marks = [&[0, 1, 2][..], &[0, 1], &[0, 2], &[0, 3]];
    let ballots = marks.map(|mark| WeightedBallot::one("v", IndexedBallot::Approval(mark.to_vec())));
    let profile = Profile {
        options: ["disk", "start", "metrics", "cdn"].map(str::to_owned).to_vec(),
        ballots: ballots.to_vec(),
        ..Profile::default()
    };
    let count = |choose: &str| {
        let terms = RuleOptions { choose: Choose::parse(choose), ..RuleOptions::default() };
        let verdict = count(&profile, Rule::Approval, &terms);
        (verdict.winners.join(" "), verdict.tie)
    };
    assert_eq!(count("1"), ("disk".to_owned(), false));
    assert_eq!(count("2"), ("disk".to_owned(), true), "two are level for the last place");
    assert_eq!(count("3"), ("disk start metrics".to_owned(), false));
    assert_eq!(count("half"), ("disk start metrics".to_owned(), false));
    let text = "options: [disk, start, cdn]\nballots: [{scores: {disk: -2, start: 0}}]";
    let terms = RuleOptions { choose: Some(Choose::Number(2)), ..RuleOptions::default() };
    let scored = read_ballots(text, "b.yaml").expect("ballots").profile;
    assert_eq!(super::count(&scored, Rule::Score, &terms).winners, ["start", "disk"], "0 is a score");
}

#[test]
fn one_seat_is_written_in_the_singular() {
    let one = || Score::from(Decimal::ONE);
    let backing = Backing { votes: one(), of: one(), by_weight: false, deed: Deed::Chose, but: None };
    assert_eq!(backing.to_string(), "1 of 1 seat asked chose it");
}
