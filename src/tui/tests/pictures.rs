//! The page of pictures: those that fit the ballots, at every size, in ASCII too.

use super::reveal::two_rounds;
use super::*;

fn page(model: &mut Model, size: (u16, u16)) -> String {
    update(model, Message::Resize(size.0, size.1));
    press(model, KeyCode::Char('G'));
    let mut whole = String::new();
    for _ in 0..30 {
        whole.push_str(&rendered(model, size));
        press(model, KeyCode::PageDown);
    }
    press(model, KeyCode::Esc);
    whole
}

#[test]
fn two_rounds_of_a_choice_have_votes_movement_agreement_and_times() {
    let mut model = model(two_rounds());
    for size in [(40, 12), (80, 24), (120, 40), (200, 60)] {
        let whole = page(&mut model, size);
        for words in [
            "Pictures of round 2",
            "Result",
            "quorum",
            "Votes, darker where surer",
            "Movement over the rounds",
            "▲ 0.51 ■ 0.9",
            "Who agrees with whom",
            "██",
        ] {
            assert!(whole.contains(words), "{size:?}: {words}\n{whole}");
        }
    }
    assert!(model.overlay.is_none());
    model.theme.ascii = true;
    let plain = page(&mut model, (80, 24));
    assert!(plain.is_ascii(), "{:?}", plain.chars().find(|sign| !sign.is_ascii()));
    assert!(plain.contains("^ 0.51 # 0.9"));
}

#[test]
fn a_consent_has_a_strip_and_scores_have_dots() {
    let mut consent = model(saved("release-consent.s2s"));
    let whole = page(&mut consent, (80, 24));
    assert!(whole.contains("Consent, seat by seat") && whole.contains("block 1"), "{whole}");
    let mut lines = saved("context-passing.s2s");
    for line in &mut lines {
        match &mut line.stamped.event {
            Event::RoundOpened(opened) => {
                let opened = std::sync::Arc::make_mut(opened);
                opened.ballot.kind = crate::ballot::BallotKind::Score;
            }
            Event::AnswerRevealed(answer) => {
                let answer = std::sync::Arc::make_mut(answer);
                let score = u64::from(answer.participant.as_bytes()[0] % 4);
                let scores = [("file-based", 1), ("inline", score), ("hybrid", 5)];
                let scores =
                    scores.into_iter().map(|(name, score)| (name.to_owned(), score.into())).collect();
                answer.ballot = Some(crate::ballot::Ballot::Scores(scores));
            }
            _ => {}
        }
    }
    let mut scored = model(lines);
    let whole = page(&mut scored, (80, 24));
    assert!(whole.contains("Scores by option, a dot a ballot") && whole.contains("ø 5.00"), "{whole}");
    let is_braille = |sign: char| ('\u{2801}'..='\u{28ff}').contains(&sign);
    assert!(whole.chars().any(is_braille), "{whole}");
    scored.theme.ascii = true;
    assert!(page(&mut scored, (80, 24)).is_ascii());
}

/// Beyond thirty seats there are totals in the place of matrices.
#[test]
fn many_seats_are_totals() {
    let mut lines = saved("context-passing.s2s");
    let answer =
        lines.iter().position(|line| matches!(line.stamped.event, Event::AnswerRevealed(_))).unwrap();
    for line in &mut lines {
        if let Event::RoundOpened(opened) = &mut line.stamped.event {
            let opened = std::sync::Arc::make_mut(opened);
            opened.seats.extend((0..60).map(|at| format!("seat-{at}")));
        }
    }
    let one = lines[answer].clone();
    let more = (0..60).map(|at| {
        let mut line = one.clone();
        if let Event::AnswerRevealed(answer) = &mut line.stamped.event {
            std::sync::Arc::make_mut(answer).participant = format!("seat-{at}");
        }
        line
    });
    let sealed = lines.iter().position(|line| matches!(line.stamped.event, Event::BallotSealed(_))).unwrap();
    let seal = lines[sealed].clone();
    let seals = (0..60).map(|at| {
        let mut line = seal.clone();
        line.stamped.at.0 += 1000;
        if let Event::BallotSealed(sealed) = &mut line.stamped.event {
            sealed.participant = format!("seat-{at}");
        }
        line
    });
    let (head, tail) = lines.split_at(answer);
    let (before, after) = head.split_at(sealed);
    let all = before
        .iter()
        .cloned()
        .chain(seals)
        .chain(after.iter().cloned())
        .chain(more)
        .chain(tail.iter().cloned());
    let mut model = model(all.collect());
    let whole = page(&mut model, (80, 24));
    assert!(whole.contains("pairs of ballots are the same"), "{whole}");
    assert!(whole.contains("65 seats"), "{whole}");
}

#[test]
fn before_a_count_there_are_none_and_the_key_says_so() {
    let mut model = model(saved("context-passing.s2s"));
    model.replay.seek(3);
    press(&mut model, KeyCode::Char('G'));
    assert_eq!(
        (model.overlay.is_none(), model.notice.as_deref()),
        (true, Some("No round is counted yet. Pictures come with the reveal."))
    );
}
