//! Sorts and array literals in terms.

use super::*;
use crate::array::{ArraySort, ArrayValue};

impl Parser<'_> {
    /// `int`, `bits8`, `Status`, `array[int] of bool`.
    pub(super) fn sort(&mut self) -> Result<Sort, ParseError> {
        let start = self.token.start;
        let mut indices = Vec::new();
        while self.token.kind == Kind::Word("array") {
            self.advance()?;
            indices.push(self.index_sort()?);
            if self.token.kind != Kind::Name("of".to_string()) {
                return self.wrong("`of` was expected");
            }
            self.advance()?;
        }
        let mut sort = self.plain_sort()?;
        while let Some(index) = indices.pop() {
            sort = self.array_sort(index, sort, start)?;
        }
        Ok(sort)
    }

    fn array_sort(&self, index: Sort, element: Sort, start: usize) -> Result<Sort, ParseError> {
        let nested = || format!("arrays of arrays go at most {} deep", ArraySort::MAX_NESTING);
        self.pool.array_sort(index, element).ok_or_else(|| ParseError::new(start, nested()))
    }

    fn plain_sort(&mut self) -> Result<Sort, ParseError> {
        let token = self.advance()?;
        let sort = match &token.kind {
            Kind::Word("bool") => Some(Sort::Bool),
            Kind::Word("int") => Some(Sort::Int),
            Kind::Word("real") => Some(Sort::Real),
            Kind::Word("string") => Some(Sort::String),
            Kind::Name(n) if reads_as_bits(n) => {
                let width = n[4..].parse().ok().and_then(Width::new);
                Some(Sort::BitVec(width.ok_or_else(|| ParseError::new(token.start, BAD_WIDTH))?))
            }
            Kind::Name(n) | Kind::Quoted(n) => self.pool.find_enum(n).map(Sort::Enum),
            _ => None,
        };
        sort.ok_or_else(|| ParseError::new(token.start, "a sort was expected"))
    }

    /// `[int]`
    fn index_sort(&mut self) -> Result<Sort, ParseError> {
        self.expect("[")?;
        let sort = self.plain_sort()?;
        self.expect("]")?;
        Ok(sort)
    }

    /// Parses what follows `array` in a term: returns the constant of `[int]{1: 5, else: 0}`; for a
    /// constant array `[int](v)`, opens a frame and returns `None`.
    pub(super) fn array(&mut self, start: usize) -> Result<Option<TermId>, ParseError> {
        let index = self.index_sort()?;
        if self.token.kind == Kind::Word("(") {
            self.advance()?;
            self.push(FrameKind::Fill(index), start);
            return Ok(None);
        }
        self.expect("{")?;
        let mut elements = Vec::new();
        loop {
            if self.token.kind == Kind::Word("else") {
                self.advance()?;
                self.expect(":")?;
                break;
            }
            let i = self.constant()?;
            self.expect(":")?;
            let v = self.constant()?;
            self.expect(",")?;
            elements.push((i, v));
        }
        let default = self.constant()?;
        self.expect("}")?;
        let Sort::Array(sort) = self.array_sort(index, default.sort(), start)? else {
            return Err(ParseError::new(start, "an array was expected"));
        };
        let sorted = elements.iter().all(|(i, v)| i.sort() == index && v.sort() == sort.element());
        match ArrayValue::new(sort, default, elements) {
            Some(a) => Ok(Some(self.pool.constant(Value::array(a)))),
            None if sorted => Err(ParseError::new(start, "this array is too large")),
            None => Err(ParseError::new(
                start,
                "indices and elements of an array must each be of one sort",
            )),
        }
    }

    /// A constant in an array literal. Recurses over nested literals only, whose depth is limited.
    fn constant(&mut self) -> Result<Value, ParseError> {
        let (start, frames) = (self.token.start, self.frames.len());
        if self.literals >= ArraySort::MAX_NESTING {
            return self
                .wrong(format!("arrays of arrays go at most {} deep", ArraySort::MAX_NESTING));
        }
        if matches!(self.token.kind, Kind::Word(w) if !matches!(w, "true" | "false" | "-" | "array"))
        {
            return self.wrong("a constant was expected");
        }
        self.literals += 1;
        self.operand()?;
        self.literals -= 1;
        let value = self.operands.pop().and_then(|t| self.pool.as_constant(t));
        match value {
            Some(v) if self.frames.len() == frames => Ok(v),
            _ => Err(ParseError::new(start, "a constant was expected")),
        }
    }

    /// `array[int](v)`, where `v` is the last operand.
    pub(super) fn fill(&mut self, index: Sort, offset: usize) -> Result<(), ParseError> {
        let element = self.operands.last().map_or(Sort::Bool, |&t| self.pool.sort(t));
        match self.array_sort(index, element, offset)? {
            Sort::Array(sort) => self.build(Op::ConstArray(sort), 1, offset),
            _ => Err(ParseError::new(offset, "an array was expected")),
        }
    }
}
