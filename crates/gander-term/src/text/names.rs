//! Names and quoted strings in text.

use std::fmt::{self, Write};

use crate::pool::{Pool, SymbolId};
use crate::sort::{EnumId, Sort};

/// Reserved words, which are not plain names.
pub(super) const KEYWORDS: &[&str] = &[
    "and", "or", "not", "implies", "if", "then", "else", "forall", "exists", "true", "false",
    "div", "mod", "abs", "min", "max", "to_real", "to_int", "bool", "int", "real", "string",
    "array",
];

pub(super) fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

pub(super) fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length in bytes of the plain name at the start of `text`: words joined by dots, optionally
/// followed by `~` with a number, and primes. Zero if there is none.
pub(super) fn plain_name_len(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    let mut end = 0;
    loop {
        match chars.next_if(|&(_, c)| starts_name(c)) {
            Some((i, c)) => end = i + c.len_utf8(),
            None => return end,
        }
        while let Some((i, c)) = chars.next_if(|&(_, c)| continues_name(c)) {
            end = i + c.len_utf8();
        }
        match chars.peek() {
            Some(&(_, '.')) => {
                chars.next();
            }
            _ => break,
        }
    }
    let rest = &text[end..];
    if let Some(digits) = rest.strip_prefix('~') {
        let n = digits.bytes().take_while(u8::is_ascii_digit).count();
        if n > 0 {
            end += 1 + n;
        }
    }
    end + text[end..].bytes().take_while(|&b| b == b'\'').count()
}

pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty() && plain_name_len(name) == name.len() && !KEYWORDS.contains(&name)
}

/// True for `bits8` and the like, which name sorts of bit-vectors.
pub(super) fn reads_as_bits(name: &str) -> bool {
    name.strip_prefix("bits")
        .is_some_and(|w| !w.is_empty() && w.bytes().all(|b| b.is_ascii_digit()))
}

/// The enumeration constant that a plain name with a dot denotes.
pub(super) fn enum_constant(pool: &Pool, name: &str) -> Option<(EnumId, u32)> {
    let (sort, variant) = name.rsplit_once('.')?;
    let id = pool.find_enum(sort)?;
    Some((id, pool.enumeration(id).position(variant)?))
}

/// True for a plain name with indices in brackets, such as `stations[0].out`.
pub(super) fn is_indexed(name: &str) -> bool {
    let mut rest = name;
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once('[') {
        let Some((index, behind)) = after.split_once(']') else { return false };
        if index.is_empty() || !index.bytes().all(|b| b.is_ascii_digit()) {
            return false;
        }
        plain.push_str(before);
        rest = behind;
    }
    rest.len() < name.len() && is_plain(&(plain + rest))
}

/// Writes a symbol's name, quoted if necessary.
pub(super) fn write_symbol(out: &mut dyn Write, pool: &Pool, s: SymbolId) -> fmt::Result {
    let name = &pool.symbol(s).name;
    if is_plain(name) && enum_constant(pool, name).is_none() {
        out.write_str(name)
    } else {
        write_quoted(out, name, '`')
    }
}

/// Writes a sort, with names quoted if necessary; recurses over nested arrays only, whose depth is
/// limited.
pub(super) fn write_sort(out: &mut dyn Write, pool: &Pool, sort: Sort) -> fmt::Result {
    match sort {
        Sort::Enum(e) => write_enum(out, pool, e),
        Sort::Array(array) => {
            out.write_str("array[")?;
            write_sort(out, pool, array.index())?;
            out.write_str("] of ")?;
            write_sort(out, pool, array.element())
        }
        Sort::Bool | Sort::Int | Sort::Real | Sort::String | Sort::BitVec(_) => {
            out.write_str(&sort.name(pool))
        }
    }
}

/// Writes the name of an enumeration, quoted if necessary.
fn write_enum(out: &mut dyn Write, pool: &Pool, e: EnumId) -> fmt::Result {
    let name = &pool.enumeration(e).name;
    if is_plain(name) && !reads_as_bits(name) {
        out.write_str(name)
    } else {
        write_quoted(out, name, '`')
    }
}

pub(super) fn write_enum_constant(
    out: &mut dyn Write,
    pool: &Pool,
    e: EnumId,
    variant: u32,
) -> fmt::Result {
    let enumeration = pool.enumeration(e);
    let variant = enumeration.variants.get(variant as usize).map_or("?", String::as_str);
    let plain =
        !variant.contains('.') && plain_name_len(variant) == variant.len() && !variant.is_empty();
    // `A.B` as a whole must be one plain name; it is not if `A` ends in a prime or a number.
    let whole = format!("{}.{variant}", enumeration.name);
    if plain && plain_name_len(&whole) == whole.len() {
        return out.write_str(&whole);
    }
    write_quoted(out, &enumeration.name, '`')?;
    out.write_char('.')?;
    write_quoted(out, variant, '`')
}

/// Writes `text` between two `quote`s, with escapes.
pub(super) fn write_quoted(out: &mut dyn Write, text: &str, quote: char) -> fmt::Result {
    out.write_char(quote)?;
    for c in text.chars() {
        match c {
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\t' => out.write_str("\\t")?,
            '\r' => out.write_str("\\r")?,
            c if c == quote => {
                out.write_char('\\')?;
                out.write_char(c)?;
            }
            c if gander_text::is_hidden(c) => write!(out, "\\u{{{:x}}}", c as u32)?,
            c => out.write_char(c)?,
        }
    }
    out.write_char(quote)
}

/// Reads a quoted text at the start of `text`; returns the content and the length including quotes,
/// or an error with its position.
pub(super) fn read_quoted(text: &str) -> Result<(String, usize), (usize, &'static str)> {
    let mut chars = text.char_indices();
    let Some((_, quote)) = chars.next() else { return Err((0, "a quote was expected")) };
    let mut content = String::new();
    while let Some((i, c)) = chars.next() {
        if c == quote {
            return Ok((content, i + c.len_utf8()));
        }
        if c != '\\' {
            content.push(c);
            continue;
        }
        let wrong = Err((i, "an escape is one of \\\\ \\\" \\` \\n \\t \\r \\u{...}"));
        match chars.next() {
            Some((_, 'n')) => content.push('\n'),
            Some((_, 't')) => content.push('\t'),
            Some((_, 'r')) => content.push('\r'),
            Some((_, c @ ('\\' | '"' | '`'))) => content.push(c),
            Some((_, 'u')) => {
                let rest = chars.as_str();
                let code =
                    rest.strip_prefix('{').and_then(|r| r.split_once('}')).map(|(code, _)| code);
                let c = code.filter(|c| c.len() <= 6).and_then(|c| u32::from_str_radix(c, 16).ok());
                let (Some(code), Some(c)) = (code, c.and_then(char::from_u32)) else {
                    return wrong;
                };
                content.push(c);
                chars.by_ref().take(code.len() + 2).for_each(drop);
            }
            _ => return wrong,
        }
    }
    Err((0, "this quote is never closed"))
}
