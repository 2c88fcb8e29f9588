//! The standard streams. A reader that goes away (`gander check … | head -1`) is no error.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};

use gander::report::{PLAIN_WIDTH, Paint};

use super::WRONG;
use super::args::Colour;

/// Terminals that say they are narrower are not believed.
const NARROWEST: usize = 20;

/// Writes to standard output that are under way.
static WRITING: AtomicU32 = AtomicU32::new(0);

/// True while something is being written to standard output, for which a reader may have to come first.
pub fn is_writing() -> bool {
    WRITING.load(Ordering::SeqCst) > 0
}

fn write(work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    WRITING.fetch_add(1, Ordering::SeqCst);
    let result = work();
    WRITING.fetch_sub(1, Ordering::SeqCst);
    result
}

/// Standard output, buffered, and standard error.
pub struct Output {
    out: BufWriter<Stdout>,
    failed: Option<io::Error>,
    colour: Colour,
}

impl Output {
    /// The streams of this process.
    pub fn new() -> Output {
        Output { out: BufWriter::new(io::stdout()), failed: None, colour: Colour::Auto }
    }

    /// Says when to use colour.
    pub fn set_colour(&mut self, colour: Colour) {
        self.colour = colour;
    }

    fn paint(&self, is_terminal: bool) -> Paint {
        let wanted = match self.colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
        };
        if wanted { Paint::Colour } else { Paint::Plain }
    }

    /// Colour for standard output.
    pub fn paint_out(&self) -> Paint {
        self.paint(io::stdout().is_terminal())
    }

    /// Columns of the terminal that standard output is; 80 if it is none.
    pub fn width(&self) -> usize {
        let size = if io::stdout().is_terminal() { rustix::termios::tcgetwinsize(io::stdout()).ok() } else { None };
        size.map(|s| usize::from(s.ws_col)).filter(|&columns| columns >= NARROWEST).unwrap_or(PLAIN_WIDTH)
    }

    /// Colour for standard error.
    pub fn paint_err(&self) -> Paint {
        self.paint(io::stderr().is_terminal())
    }

    /// Writes to standard output.
    pub fn put(&mut self, text: &str) {
        if self.failed.is_none()
            && let Err(e) = write(|| self.out.write_all(text.as_bytes()))
        {
            self.failed = Some(e);
        }
    }

    /// Sends on what was written, for those who watch.
    pub fn flush(&mut self) {
        if self.failed.is_none()
            && let Err(e) = write(|| self.out.flush())
        {
            self.failed = Some(e);
        }
    }

    /// True if nobody reads any more.
    pub fn is_closed(&self) -> bool {
        self.failed.is_some()
    }

    /// Writes to standard error, behind everything written to standard output so far.
    pub fn complain(&mut self, text: &str) {
        self.flush();
        let mut err = io::stderr().lock();
        // There is nobody left to be told if this fails.
        let _ = err.write_all(text.as_bytes());
        if !text.ends_with('\n') {
            let _ = err.write_all(b"\n");
        }
    }

    /// An error message.
    pub fn error(&mut self, message: &str) {
        let head = self.paint_err().bad("error:");
        self.complain(&format!("{head} {message}"));
    }

    /// Writes everything out and gives the exit code.
    pub fn finish(mut self, code: u8) -> ExitCode {
        self.flush();
        match self.failed.take() {
            Some(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                let text = format!("error: the output cannot be written: {e}");
                self.complain(&text);
                // Dropping the writer would try again.
                let (_, _) = self.out.into_parts();
                ExitCode::from(WRONG)
            }
            Some(_) => {
                let (_, _) = self.out.into_parts();
                ExitCode::from(code)
            }
            None => ExitCode::from(code),
        }
    }
}
