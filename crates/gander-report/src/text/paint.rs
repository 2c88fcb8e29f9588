//! Colour for terminals.

/// Whether to colour; every method returns its text unchanged if not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Paint {
    /// Plain text.
    #[default]
    Plain,
    /// ANSI colours.
    Colour,
}

impl Paint {
    fn wrap(self, code: &str, text: &str) -> String {
        match self {
            Paint::Plain => text.to_string(),
            Paint::Colour => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }

    /// Good news.
    pub fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// Bad news.
    pub fn bad(self, text: &str) -> String {
        self.wrap("1;31", text)
    }

    /// Open questions and warnings.
    pub fn open(self, text: &str) -> String {
        self.wrap("33", text)
    }

    /// Names.
    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// Less important.
    pub fn faint(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// A verdict word in its colour.
    pub fn verdict(self, word: &str) -> String {
        match word {
            "holds" => self.good(word),
            "fails" => self.bad(word),
            _ => self.open(word),
        }
    }
}
