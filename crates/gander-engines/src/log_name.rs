//! Names of the files that keep solver conversations.

use gander_system::{ClaimId, System};

/// Bytes of a claim's name that a file name takes; file systems allow about 255 in all.
const LONGEST: usize = 120;

/// The claims as part of a file name: the name of the only one, `all` for several.
pub(crate) fn claims_in_file_name(system: &System, claims: &[ClaimId]) -> String {
    match claims {
        [claim] => in_file_name(&system.claims[claim.index()].name),
        _ => "all".to_string(),
    }
}

/// A name with nothing in it that a file system or a shell could take for something else.
fn in_file_name(name: &str) -> String {
    let mut short = String::new();
    for c in name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }) {
        if short.len() + c.len_utf8() > LONGEST {
            break;
        }
        short.push(c);
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_claim_has_a_file_name() {
        assert_eq!(in_file_name("no sinkhole Büro"), "no_sinkhole_Büro");
        assert_eq!(in_file_name("../a/b.c"), "___a_b_c");
        let long = in_file_name(&"a𠀀".repeat(1000));
        assert!(long.starts_with("a𠀀a𠀀") && long.len() <= LONGEST, "{long}");
    }
}
