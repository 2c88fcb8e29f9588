//! Files and programs of the outside world.
//!
//! Models, evidence, caches and the folders that they are in may be hostile (SECURITY.md). This crate
//! is the one place that deals with that:
//!
//! - [`read`]: regular files only, never more than a limit, never blocking on a pipe or device;
//! - [`write`]: files that are there whole or not at all, and never written through a planted link;
//! - [`file_names`]: file names made of claims and models, different for different ones;
//! - [`programs`]: programs found in absolute folders only, and their SHA-256;
//! - [`fault`]: makes a chosen operation fail, for tests.

pub mod file_names;
pub mod programs;
pub mod read;
pub mod write;
