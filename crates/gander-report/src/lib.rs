//! Reports of the gander model checker: text, JSON and graphs from plain view-models.
