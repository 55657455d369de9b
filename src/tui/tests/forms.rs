//! Forms: errors under their fields, and the display of unfocused fields.

use super::scenes::{draft, shows};
use super::*;

#[test]
fn an_error_is_shown_under_its_field() {
    let mut model = draft(None);
    press(&mut model, KeyCode::Char('e'));
    let Some(Overlay::Form(form)) = &mut model.overlay else { panic!("no form") };
    form.refuse("`quorum`:2:9: expected at most 5, found `9`".to_owned());
    for size in [(40, 12), (80, 24), (120, 40)] {
        let screen = rendered(&model, size);
        assert!(screen.contains("expected at most") && screen.contains("▸ quorum"), "{size:?}\n{screen}");
    }
    shows("form-error", &model);
    press(&mut model, KeyCode::Char('1'));
    assert!(!rendered(&model, (80, 24)).contains("expected at most"));
}

#[test]
fn a_long_line_is_shown_from_its_start() {
    let mut model = draft(None);
    press(&mut model, KeyCode::Char('e'));
    let Some(Overlay::Form(form)) = &mut model.overlay else { panic!("no form") };
    let long = format!("It begins here {}and ends here", "and goes on ".repeat(30));
    for id in ["exploration", "options"] {
        let field = form.fields.iter_mut().find(|field| field.id == id).unwrap();
        field.restore(&long);
    }
    for size in [(80, 24), (120, 40)] {
        let screen = rendered(&model, size);
        let lines: Vec<&str> = screen.lines().filter(|line| line.contains("It begins here")).collect();
        assert_eq!(lines.len(), 2, "{size:?}\n{screen}");
        assert!(lines.iter().all(|line| line.contains('…')), "{size:?}\n{screen}");
        assert!(!screen.contains("ends here"), "{size:?}\n{screen}");
    }
}

/// Little of a long paste is visible, so its length is shown.
#[test]
fn a_long_paste_says_that_it_works() {
    let mut model = draft(None);
    press(&mut model, KeyCode::Char('e'));
    update(&mut model, Message::Paste("word ".repeat(240_000)));
    assert!(rendered(&model, (80, 24)).contains("Pasted 1,200,000 characters."));
}
