//! Configuration: folders, settings, personas, providers, prices, trust, doctor.
//!
//! Reads files and the environment before a session opens. The results are frozen into the session's header,
//! each with its origin.

pub mod access;
pub mod dirs;
pub mod doctor;
pub mod evidence;
pub mod findings;
mod git;
pub mod need;
pub mod participant_factory;
pub mod path_policy;
pub mod persona_library;
pub mod prices;
pub mod programs;
pub mod providers;
pub mod read_file;
pub mod remote;
mod secret_scan;
pub mod settings;
pub mod tasks;
pub mod trust;

pub use need::Need;
pub use participant_factory::{ParticipantFactory, is_model};
pub use path_policy::PathPolicy;
pub use persona_library::PersonaLibrary;
pub use prices::price_of;
pub use read_file::read_text;
pub use secret_scan::first_secret;
pub use settings::Config;
