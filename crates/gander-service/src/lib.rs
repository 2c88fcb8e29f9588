//! One service for everything that answers while people work: the language server, the page and
//! the server for agents. It knows no protocol.
//!
//! A [`Service`] has open documents, each a text with a version. It parses a document when it is
//! opened or changed, always the latest version, and runs checks from a queue. What happens comes
//! as [`Event`]s to every [`Subscription`]; what is known now is told by [`Service::document`],
//! [`Service::diagnostics`] and [`Service::verdicts`]. [`event_json`] and [`state_json`] are the
//! description of results that all protocols send (docs/json.md).
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
//! - no function of [`Service`] waits for a solver or for a parse, except those that say so;
//! - a result is about one version of one document; what is shown as current is about the latest;
//! - a panic in a parse or a check costs that parse or check, and an event says so;
//! - texts, documents, queued checks, kept results and undelivered events are limited
//!   ([`ServiceLimits`]).

mod analysis;
mod checks;
mod config;
mod diagnostics;
mod document;
mod events;
mod features;
mod json;
mod position;
mod results;
mod service;
mod simulation;
mod state;
mod tasks;

pub use analysis::{Analysis, ClaimPlace};
pub use checks::{CheckEnding, CheckId, CheckRequest, CheckWork, Selection};
pub use config::{ServiceConfig, ServiceLimits};
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
