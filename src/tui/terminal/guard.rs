//! The terminal taken and given back, also by a panic.

use std::io;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::DefaultTerminal;

static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Takes the terminal. What is pasted comes as one piece, so that it cannot act as keys.
pub fn enter() -> io::Result<DefaultTerminal> {
    static HOOK: Once = Once::new();
    // Whatever ends the program, the terminal is given back before the message is written.
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // One elsewhere is shown on the screen, once whoever waits for that thread notices.
            if std::thread::current().name() == Some("main") {
                restore();
            } else if IS_TAKEN.load(Ordering::Relaxed) {
                return;
            }
            before(info);
        }));
    });
    let terminal = ratatui::try_init()?;
    IS_TAKEN.store(true, Ordering::Relaxed);
    crossterm::execute!(io::stdout(), EnableBracketedPaste)?;
    Ok(terminal)
}

pub fn restore() {
    IS_TAKEN.store(false, Ordering::Relaxed);
    let _ = crossterm::execute!(io::stdout(), DisableBracketedPaste);
    // A terminal that is gone needs no restoring.
    let _ = ratatui::try_restore();
}
