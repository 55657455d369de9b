//! Launch: who sits in a session, by which model, with which answers and linked sessions.

pub mod linked_sessions;
mod model_choice;
pub mod roster;
pub mod scripted_answers;
pub mod seating;
