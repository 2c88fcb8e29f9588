//! Open documents, checks and results for interactive front ends: the language server, the page
//! and the server for agents. It knows no protocol.
//!
//! A [`Service`] has open documents, each a text with a version. It parses the latest version when
//! a document is opened or changed, and runs checks from a queue. Every [`Subscription`] receives
//! [`Event`]s; [`Service::document`], [`Service::diagnostics`] and [`Service::verdicts`] return the
//! current state. [`event_json`] and [`state_json`] are the JSON that all protocols send
//! (docs/json.md).
//!
//! ```
//! use std::time::Duration;
//! use gander_service::{CheckRequest, Event, Service, ServiceConfig, Uri};
//!
//! let service = Service::start(ServiceConfig::default());
//! let events = service.subscribe();
//! let uri = Uri::new("file:///counter.sts");
//! let text = "spec S var x: int start { x == 0 } step up { x := x + 1 } always p: x >= 0";
//! service.open(uri.clone(), "counter.sts", 1, text.to_string())?;
//! let check = service.check(&uri, CheckRequest::default())?;
//! while let Some(event) = events.next(Duration::from_secs(60)) {
//!     match &*event {
//!         // Structural claims, such as `satisfiable start`, come in the same way.
//!         Event::Verdict { record, .. } if record.view.name == "p" => {
//!             assert_eq!(record.view.kind, "always");
//!         }
//!         Event::CheckEnded { check: ended, .. } if *ended == check => break,
//!         _ => {}
//!     }
//! }
//! # Ok::<(), gander_service::Refusal>(())
//! ```
//!
//! Invariants:
//! - no function of [`Service`] waits for a solver or a parse, unless its documentation says so;
//! - a result is about one version of one document with the files that it includes; a current
//!   result is about the latest version. Before a check begins, included files are compared with
//!   those that were read (`includes.rs`);
//! - a panic ends only the parse or check in which it occurs, and an event reports it;
//! - texts, documents, queued checks, kept results and undelivered events are limited
//!   ([`ServiceLimits`]).

mod analysis;
mod checks;
mod config;
mod diagnostics;
mod document;
mod events;
mod features;
mod includes;
mod json;
mod position;
mod results;
mod service;
mod simulation;
mod state;
mod tasks;

pub use analysis::{Analysis, ClaimPlace};
pub use checks::{CheckEnding, CheckId, CheckRequest, CheckWork, Selection};
pub use config::{IncludedTexts, ServiceConfig, ServiceLimits};
pub use diagnostics::{DocumentDiagnostic, DocumentFix, Related};
pub use document::{Document, Refusal, Revision, Uri};
pub use events::{Event, Subscription};
pub use features::{Covered, Hover, Inlay, Lens, LensAction};
pub use json::{event_json, state_json};
pub use position::{Encoding, Position, Positions};
pub use results::{ClaimRecord, Explanation, Freshness, VerdictWord};
pub use service::Service;
pub use simulation::{
    SimulationChoice, SimulationRequest, SimulationRow, SimulationView, simulation_json,
};
pub use tasks::Task;

pub use gander;
