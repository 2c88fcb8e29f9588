//! The token in the address of the page: it grants access to the server.
//!
//! A token has 128 random bits. It is kept for each port in a file that only the user can read, for
//! a day after the last start, so that an open page can use the server again after a restart.
//! Before a page sends its token to a restarted server, the server proves that it knows the token
//! ([`Token::proof`]); otherwise another user of the machine who listens on the port in the
//! meantime would receive it.

use std::fmt::Write;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use gander_io::read::Links;
use gander_io::write::Target;
use sha2::{Digest, Sha256};

/// How long a token is used again after the last start with it.
const KEPT: Duration = Duration::from_secs(24 * 3600);

/// Hexadecimal digits of a token and of a nonce.
pub const DIGITS: usize = 32;

/// A secret of the user and the page.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A new one.
    pub fn random() -> Result<Token, getrandom::Error> {
        let mut bytes = [0u8; DIGITS / 2];
        getrandom::fill(&mut bytes)?;
        Ok(Token(hex(&bytes)))
    }

    /// The text for the address.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// True for the text of this token. The time that this takes says nothing about the token.
    pub fn matches(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        own.len() == given.len()
            && own.iter().zip(given).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
    }

    /// A proof that this server knows the token, which does not reveal it. None if the nonce is
    /// malformed.
    pub fn proof(&self, nonce: &str) -> Option<String> {
        is_digits(nonce).then(|| hex(&Sha256::digest(format!("{}:{nonce}", self.0))))
    }

    /// The token that was used for this port within the last day; otherwise a new one. Kept in
    /// `folder` for the next start, as far as that is possible.
    pub fn for_port(port: u16, folder: Option<&Path>) -> Result<Token, getrandom::Error> {
        let file = folder.map(|folder| folder.join(format!("{port}.token")));
        let token = match file.as_deref().and_then(read_saved) {
            Some(token) => token,
            None => Token::random()?,
        };
        if let (Some(folder), Some(file)) = (folder, file)
            && save(folder, &file, &token).is_none()
        {
            // The token is not kept: after a restart the page needs its new address.
            let _ = std::fs::remove_file(file);
        }
        Ok(token)
    }
}

/// The token in a file that only this user can read and that is not too old.
fn read_saved(file: &Path) -> Option<Token> {
    let about = file.symlink_metadata().ok()?;
    let is_private = about.is_file() && about.permissions().mode() & 0o077 == 0;
    let is_recent = about.modified().ok()?.elapsed().ok()? < KEPT;
    let text = gander_io::read::text(file, Links::Refuse, 64).ok()?;
    let text = text.trim();
    (is_private && is_recent && is_digits(text)).then(|| Token(text.to_string()))
}

/// Writes a token to its file. The folder is private, so the file is at all times.
fn save(folder: &Path, file: &Path, token: &Token) -> Option<()> {
    gander_io::write::create_folder(folder).ok()?;
    std::fs::set_permissions(folder, Permissions::from_mode(0o700)).ok()?;
    gander_io::write::replace(file, token.text().as_bytes(), Target::Managed).ok()?;
    std::fs::set_permissions(file, Permissions::from_mode(0o600)).ok()
}

fn is_digits(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_kept_for_its_port_in_a_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("serve");
        let first = Token::for_port(7000, Some(&folder)).unwrap();
        assert!(is_digits(first.text()));
        let again = Token::for_port(7000, Some(&folder)).unwrap();
        assert!(first.matches(again.text()));
        let other = Token::for_port(7001, Some(&folder)).unwrap();
        assert!(!first.matches(other.text()));
        let file = folder.join("7000.token");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        // What others could read is not used again.
        std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        let third = Token::for_port(7000, Some(&folder)).unwrap();
        assert!(!first.matches(third.text()));
        // Nor is what has no form of a token.
        std::fs::write(&file, "../../etc/passwd").unwrap();
        let fourth = Token::for_port(7000, Some(&folder)).unwrap();
        assert!(is_digits(fourth.text()) && !third.matches(fourth.text()));
    }

    #[test]
    fn only_the_whole_token_is_the_token() {
        let token = Token::random().unwrap();
        assert!(token.matches(token.text()));
        assert!(
            !token.matches("")
                && !token.matches(&token.text()[1..])
                && !token.matches(&format!("{}0", token.text()))
        );
    }

    #[test]
    fn a_proof_depends_on_token_and_nonce() {
        let (a, b) = (Token::random().unwrap(), Token::random().unwrap());
        let nonce = "0123456789abcdef0123456789abcdef";
        assert_eq!(a.proof(nonce), a.proof(nonce));
        assert_ne!(a.proof(nonce), b.proof(nonce));
        assert_eq!(a.proof(&nonce[1..]), None);
        assert_eq!(a.proof("0123456789ABCDEF0123456789abcdef"), None);
    }
}
