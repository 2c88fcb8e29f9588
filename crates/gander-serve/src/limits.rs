//! Limits of the server. All are far above what a person with a browser needs, and small enough
//! that no client can use up memory, threads or file descriptors.

use std::time::Duration;

/// Connections at the same time, sockets included. More are closed at once.
pub const CONNECTIONS: usize = 96;

/// Open sockets, which is the number of tabs. A page that is refused says so.
pub const SOCKETS: usize = 24;

/// Bytes of the first line and the headers of a request.
pub const HEAD_BYTES: usize = 16 << 10;

/// Headers of a request.
pub const HEADERS: usize = 64;

/// Time for the head of a request to arrive, from the first byte on.
pub const HEAD_TIME: Duration = Duration::from_secs(5);

/// Time for a response to be taken.
pub const RESPONSE_TIME: Duration = Duration::from_secs(10);

/// Bytes of a refused body that are read so that the client sees the response.
pub const DRAINED_BYTES: usize = 256 << 10;

/// Time in which they are read.
pub const DRAIN_TIME: Duration = Duration::from_millis(500);

/// Bytes of a message from the page. A document may have 16 MB in the language server; its JSON is
/// larger.
pub const MESSAGE_BYTES: usize = 32 << 20;

/// Messages of a page that wait for the language server.
pub const INCOMING: usize = 64;

/// Messages for a page that wait to be sent.
pub const OUTGOING: usize = 1024;

/// Time after which the server asks a silent page whether it is still there.
pub const PING_TIME: Duration = Duration::from_secs(15);

/// Time without any sign of a page after which its socket is closed.
pub const SILENCE: Duration = Duration::from_secs(45);

/// Time for a message to be taken by the page.
pub const SEND_TIME: Duration = Duration::from_secs(20);

/// Bytes of a file that is opened with the page.
pub const FILE_BYTES: u64 = 16 << 20;

/// Time that sessions have to end when the server stops.
pub const STOP_TIME: Duration = Duration::from_secs(2);

/// Requests of a page about panels that wait. A page sends the next one when one is answered.
pub const WAITING: usize = 32;
