//! Standard output, which may be closed (`>&-`).

#![allow(unsafe_code, reason = "the system's call about a file descriptor, before `main`")]

use std::io::{self, StdoutLock};

/// Standard output, or the error that it is closed.
///
/// Rust opens `/dev/null` in place of what is closed, before `main`: what is printed would be lost, and
/// nobody told. So this is asked before that.
pub(crate) fn stdout() -> io::Result<StdoutLock<'static>> {
    #[cfg(unix)]
    if at_the_start::IS_CLOSED.load(std::sync::atomic::Ordering::Relaxed) {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    Ok(io::stdout().lock())
}

#[cfg(unix)]
mod at_the_start {
    use std::sync::atomic::{AtomicBool, Ordering};

    pub(super) static IS_CLOSED: AtomicBool = AtomicBool::new(false);

    extern "C" fn look() {
        // SAFETY: the call takes numbers, and changes nothing.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        IS_CLOSED.store(flags == -1, Ordering::Relaxed);
    }

    /// The system calls what is in this section before it starts the program. Nothing of Rust's is ready
    /// then, and nothing of it is used: an atomic is plain memory.
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static LOOK: extern "C" fn() = look;
}
