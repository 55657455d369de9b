//! Launch: starts and resumes sessions for every front end.
//!
//! `plan` reads a definition, `prepare` turns it into a header. `seat` creates the participants and opens the
//! session file. `run` drives the engine. Nothing here prints, and no seat is asked before `run`.

pub mod environment;
pub mod error;
pub mod headless;
pub mod material;
pub mod needs;
pub mod plan;
pub mod prepare;
pub mod roster;
pub mod run;
pub mod scripted_answers;
pub mod seat;
pub mod session_file;
pub mod wrapped;
