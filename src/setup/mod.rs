//! What a session is set up from: folders, configuration, personas on disk, models, scripted answers.
//!
//! Everything here reads files and the environment once, before a session opens; what it finds is
//! frozen into the session's header, with where each thing came from.

pub mod access;
pub mod answers;
pub mod bounds;
mod choice;
pub mod config;
pub mod doctor;
pub mod folders;
pub mod models;
pub mod need;
mod one_model;
pub mod past;
pub mod personas;
pub mod prices;
pub mod providers;
pub mod roster;
pub mod table;
pub mod tasks;
pub mod trust;
