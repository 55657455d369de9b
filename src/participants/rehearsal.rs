//! The embedded, offline, deterministic participant.
