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

pub mod file_names;
pub mod programs;
pub mod read;
pub mod write;
