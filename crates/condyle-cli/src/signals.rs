//! Signals that end the program: the files that are being written are removed first.

#![allow(unsafe_code, reason = "the system's calls about signals")]

use condyle::formats::Temporaries;

/// The files that are being written.
pub(crate) static TEMPORARIES: Temporaries = Temporaries::new();

/// From now on the program tidies up when it is told to stop (`SIGINT`, `SIGTERM`, `SIGHUP`), and then
/// ends as it would have without. What was to be ignored, as under `nohup`, stays so. A file that grows
/// too large (`SIGXFSZ`, `ulimit -f`) is an error like a full disk, and no longer the program's end.
///
/// Signals are waited for by a thread, so that all this is no work for a signal handler, which may do
/// next to nothing. To be called before there are other threads: they inherit which signals wait.
#[cfg(unix)]
pub(crate) fn watch() {
    use std::mem::zeroed;
    use std::ptr::{null, null_mut};

    // SAFETY: the calls are given pointers to values of ours that live longer than the calls. A
    // `sigset_t` and a `sigaction` are plain data for which all zeros are valid; `sigemptyset` is
    // called all the same, as POSIX wants it.
    let signals = unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        let mut signals: libc::sigset_t = zeroed();
        libc::sigemptyset(&raw mut signals);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            let mut now: libc::sigaction = zeroed();
            let known = libc::sigaction(signal, null(), &raw mut now) == 0;
            if known && now.sa_sigaction != libc::SIG_IGN {
                libc::sigaddset(&raw mut signals, signal);
            }
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, null_mut());
        signals
    };
    let wait = move || {
        let mut signal = 0;
        // SAFETY: as above.
        if unsafe { libc::sigwait(&raw const signals, &raw mut signal) } == 0 {
            TEMPORARIES.remove_all();
        }
        // SAFETY: as above. This thread may be sent signals again, and the program's end is the
        // signal's own, which shells look at.
        unsafe {
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const signals, null_mut());
            libc::raise(signal);
        }
    };
    if std::thread::Builder::new().name("signals".to_owned()).spawn(wait).is_err() {
        // SAFETY: as above. Without the thread, signals end the program at once.
        unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const signals, null_mut()) };
    }
}

/// Does not return if a signal is about to end the program. Whatever was being written has failed then, which
/// is no reason to end it another way first.
pub(crate) fn wait_for_the_end_if_told_to_stop() {
    while TEMPORARIES.are_removed() {
        std::thread::park();
    }
}

/// Elsewhere the system ends the program as it does.
#[cfg(not(unix))]
pub(crate) fn watch() {}
