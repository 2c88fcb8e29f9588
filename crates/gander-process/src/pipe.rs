//! Pipes to children: non-blocking, with bounded reading.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// Makes reading and writing return at once.
pub(crate) fn set_nonblocking(pipe: &impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(pipe)?;
    fcntl_setfl(pipe, flags | OFlags::NONBLOCK)?;
    Ok(())
}

/// Waits until one of the descriptors is ready; the number of ready ones.
pub(crate) fn wait(fds: &mut [PollFd<'_>], longest: Duration) -> rustix::io::Result<usize> {
    let timeout = Timespec { tv_sec: longest.as_secs() as _, tv_nsec: longest.subsec_nanos() as _ };
    poll(fds, Some(&timeout))
}

/// Calls `take` with what is in the pipe, for at most `rounds` reads, so that a child that writes
/// without end does not keep the caller here. A pipe at its end becomes `None`.
pub(crate) fn drain(pipe: &mut Option<impl Read>, rounds: usize, mut take: impl FnMut(&[u8])) {
    let Some(source) = pipe else { return };
    let mut chunk = [0u8; 16 << 10];
    for _ in 0..rounds {
        match source.read(&mut chunk) {
            Ok(n) if n > 0 => take(&chunk[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
            Ok(_) | Err(_) => {
                *pipe = None;
                return;
            }
        }
    }
}
