//! What this process holds stays in it: no core file is made of it, and no other program of the same user
//! looks into it. What it frees is wiped by the allocator that `main.rs` names.

/// Keeps the process closed from now on; what it starts is not bound by it.
pub fn keep_closed() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::Core).maximum;
        // A limit may always be lowered.
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum });
    }
    // For where cores go to a program, which the limit does not bind.
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
