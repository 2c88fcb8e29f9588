//! Reading and writing files, and finding programs.
//!
//! Models, evidence, caches and their folders may be hostile (SECURITY.md). Only this crate deals
//! with that:
//!
//! - [`read`]: regular files only, never more than a limit, never blocking on a pipe or device;
//! - `write`: files that are there whole or not at all, and never written through a planted link;
//! - [`file_names`]: file names made of claims and models, different for different ones;
//! - [`programs`]: programs found in absolute folders only, and their SHA-256.
//!
//! File operations pass a fault injection point first (`gander_runtime::fault`), for tests.
//!
//! ```
//! use gander_io::read::{self, Links};
//! use gander_io::write::{self, Target};
//!
//! let folder = write::temporary_folder("example-")?;
//! let file = folder.path().join("model.sts");
//! write::replace(&file, b"var x: int", Target::Named)?;
//! assert_eq!(read::text(&file, Links::Follow, 100)?, "var x: int");
//! // The file is longer than this limit.
//! assert!(read::text(&file, Links::Follow, 3).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod file_names;
pub mod programs;
pub mod read;
pub mod write;
