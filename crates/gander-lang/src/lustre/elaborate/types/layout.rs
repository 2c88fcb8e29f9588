//! Interned types, and the layout of their values in scalars.
//!
//! Every value is a sequence of scalars: an array consists of its elements, a record of its fields.
//! Subranges and subtypes are not separate types: a value of a subrange is an `int`, and its bounds
//! are a [`crate::lustre::elaborate::types::resolve::Refinement`] of the declaration.

use gander_term::{EnumId, Pool, Sort, TermId, Width};
use rustc_hash::FxHashMap;

use crate::lustre::ast::{File, Item, TypeKind, Word};

/// An interned type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::lustre::elaborate) struct Ty(u32);

/// The structure of a type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::lustre::elaborate) enum Shape {
    Bool,
    Int,
    Real,
    Machine {
        signed: bool,
        width: u32,
    },
    /// An enumeration, by its number in [`Types::enums`].
    Enum(u32),
    Record(Vec<(Word, Ty)>),
    Tuple(Vec<Ty>),
    /// Several values, such as the outputs of a call. Cannot be declared.
    List(Vec<Ty>),
    Array(Ty, u32),
    /// An array whose size is a constant of unknown value, given as a term (`open_arrays`).
    Open(Ty, TermId),
    /// A datatype with its type arguments: a tag followed by the fields of every constructor. Only
    /// those of the constructor in the tag are meaningful.
    Data {
        name: Word,
        args: Vec<Ty>,
        tag: Ty,
        constructors: Vec<Vec<(Word, Ty)>>,
    },
    /// An abstract type, which has only equality; its values are ints.
    Abstract(Word),
    /// The type of an erroneous expression.
    Error,
}

/// A declared enumeration.
#[derive(Debug)]
pub(in crate::lustre::elaborate) struct EnumType {
    pub(in crate::lustre::elaborate) name: String,
    pub(in crate::lustre::elaborate) sort: EnumId,
    pub(in crate::lustre::elaborate) variants: Vec<Word>,
}

/// All types of a model.
#[derive(Debug)]
pub(in crate::lustre::elaborate) struct Types {
    shapes: Vec<Shape>,
    /// By type: the number of scalars of a value.
    widths: Vec<usize>,
    ids: FxHashMap<Shape, Ty>,
    /// The names of record types in the text.
    names: FxHashMap<Ty, Word>,
    pub(in crate::lustre::elaborate) enums: Vec<EnumType>,
    /// By type expression of kind `Enum`: the enumeration.
    pub(in crate::lustre::elaborate) enum_of_type: FxHashMap<u32, u32>,
    /// Variants: the enumeration and the position.
    pub(in crate::lustre::elaborate) variants: FxHashMap<Word, (u32, u32)>,
    /// Constructors with fields, or of a datatype in which some have fields: the datatype and the
    /// position.
    pub(in crate::lustre::elaborate) constructors: FxHashMap<Word, (Word, u32)>,
    /// By type expression of kind `Data`: the datatype.
    pub(in crate::lustre::elaborate) datatype_of_type: FxHashMap<u32, Word>,
    /// By type: true if some part is a datatype or an array of unknown size.
    has_data: Vec<bool>,
    /// The sorts of arrays of unknown size with scalar elements.
    open_sorts: FxHashMap<Ty, Sort>,
    /// The source text of unknown sizes.
    sizes: FxHashMap<TermId, String>,
}

pub(in crate::lustre::elaborate) const BOOL: Ty = Ty(0);
pub(in crate::lustre::elaborate) const INT: Ty = Ty(1);
pub(in crate::lustre::elaborate) const REAL: Ty = Ty(2);
pub(in crate::lustre::elaborate) const ERROR: Ty = Ty(3);

impl Types {
    /// The basic types and the enumerations of a file.
    pub(in crate::lustre::elaborate) fn new(file: &File, pool: &mut Pool) -> Types {
        let mut types = Types {
            shapes: Vec::new(),
            widths: Vec::new(),
            ids: FxHashMap::default(),
            names: FxHashMap::default(),
            enums: Vec::new(),
            enum_of_type: FxHashMap::default(),
            variants: FxHashMap::default(),
            constructors: FxHashMap::default(),
            datatype_of_type: FxHashMap::default(),
            has_data: Vec::new(),
            open_sorts: FxHashMap::default(),
            sizes: FxHashMap::default(),
        };
        for shape in [Shape::Bool, Shape::Int, Shape::Real, Shape::Error] {
            types.intern(shape);
        }
        let mut names: FxHashMap<u32, Word> = FxHashMap::default();
        for item in &file.items {
            if let Item::Type { name, definition: Some(definition), .. } = item {
                names.entry(definition.0).or_insert(name.word);
            }
        }
        for (i, ty) in file.types.iter().enumerate() {
            let variants: Vec<Word> = match &ty.kind {
                TypeKind::Enum(variants) => variants.iter().map(|v| v.word).collect(),
                TypeKind::Data(constructors) => constructors.iter().map(|(c, _)| c.word).collect(),
                _ => continue,
            };
            let name = match names.get(&(i as u32)) {
                Some(&word) => file.text(word).to_string(),
                None => format!("enum#{}", types.enums.len() + 1),
            };
            let texts: Vec<&str> = variants.iter().map(|&v| file.text(v)).collect();
            let mut unique = name.clone();
            let sort = loop {
                match pool.declare_enum(&unique, &texts) {
                    Ok(sort) => break sort,
                    Err(_) => unique.push('~'),
                }
            };
            let id = types.enums.len() as u32;
            for (n, &v) in variants.iter().enumerate() {
                match names.get(&(i as u32)) {
                    Some(&datatype) if matches!(ty.kind, TypeKind::Data(_)) => {
                        types.constructors.entry(v).or_insert((datatype, n as u32));
                        types.datatype_of_type.insert(i as u32, datatype);
                    }
                    _ => drop(types.variants.entry(v).or_insert((id, n as u32))),
                }
            }
            types.enums.push(EnumType { name, sort, variants });
            types.enum_of_type.insert(i as u32, id);
        }
        types
    }

    pub(in crate::lustre::elaborate) fn intern(&mut self, shape: Shape) -> Ty {
        if let Some(&ty) = self.ids.get(&shape) {
            return ty;
        }
        let width = match &shape {
            Shape::Record(fields) => {
                fields.iter().map(|&(_, t)| self.width(t)).fold(0, usize::saturating_add)
            }
            Shape::Tuple(parts) | Shape::List(parts) => {
                parts.iter().map(|&t| self.width(t)).fold(0, usize::saturating_add)
            }
            Shape::Array(element, size) => self.width(*element).saturating_mul(*size as usize),
            Shape::Open(element, _) => self.width(*element),
            Shape::Data { constructors, .. } => constructors
                .iter()
                .flatten()
                .map(|&(_, t)| self.width(t))
                .fold(1, usize::saturating_add),
            Shape::Error => 0,
            _ => 1,
        };
        let has_data = match &shape {
            Shape::Data { .. } | Shape::Open(..) => true,
            Shape::Record(fields) => fields.iter().any(|&(_, t)| self.has_data(t)),
            Shape::Tuple(parts) | Shape::List(parts) => parts.iter().any(|&t| self.has_data(t)),
            Shape::Array(element, _) => self.has_data(*element),
            _ => false,
        };
        self.has_data.push(has_data);
        let ty = Ty(self.shapes.len() as u32);
        self.shapes.push(shape.clone());
        self.widths.push(width);
        self.ids.insert(shape, ty);
        ty
    }

    pub(in crate::lustre::elaborate) fn shape(&self, ty: Ty) -> &Shape {
        &self.shapes[ty.0 as usize]
    }

    /// The number of scalars in a value.
    pub(in crate::lustre::elaborate) fn width(&self, ty: Ty) -> usize {
        self.widths[ty.0 as usize]
    }

    /// True if some part is a datatype or an array of unknown size. Scalars of equal values may
    /// then differ.
    pub(in crate::lustre::elaborate) fn has_data(&self, ty: Ty) -> bool {
        self.has_data[ty.0 as usize]
    }

    /// The offset of a constructor's fields among the scalars of a datatype.
    pub(in crate::lustre::elaborate) fn fields_at(
        &self,
        constructors: &[Vec<(Word, Ty)>],
        constructor: usize,
    ) -> usize {
        1 + constructors[..constructor].iter().flatten().map(|&(_, t)| self.width(t)).sum::<usize>()
    }

    /// Records the source text of a size.
    pub(in crate::lustre::elaborate) fn name_size(&mut self, size: TermId, text: &str) {
        self.sizes.entry(size).or_insert_with(|| text.to_string());
    }

    /// The type of arrays of unknown size with scalar elements, which have the sort `sort`.
    pub(in crate::lustre::elaborate) fn open_scalar(
        &mut self,
        element: Ty,
        size: TermId,
        sort: Sort,
    ) -> Ty {
        let ty = self.intern(Shape::Open(element, size));
        self.open_sorts.insert(ty, sort);
        ty
    }

    /// True if some part is an array of unknown size.
    pub(in crate::lustre::elaborate) fn has_open(&self, ty: Ty) -> bool {
        self.leaves(ty).iter().any(|&leaf| matches!(self.shape(leaf), Shape::Open(..)))
    }

    /// Records the name of a record type.
    pub(in crate::lustre::elaborate) fn set_name(&mut self, ty: Ty, name: Word) {
        self.names.entry(ty).or_insert(name);
    }

    pub(in crate::lustre::elaborate) fn is_machine(&self, ty: Ty) -> bool {
        matches!(self.shape(ty), Shape::Machine { .. })
    }

    /// The sort of a scalar type; `None` for a type without scalars or with several.
    pub(in crate::lustre::elaborate) fn sort(&self, ty: Ty) -> Option<Sort> {
        Some(match self.shape(ty) {
            Shape::Bool => Sort::Bool,
            Shape::Int | Shape::Abstract(_) => Sort::Int,
            Shape::Real => Sort::Real,
            Shape::Enum(e) => Sort::Enum(self.enums[*e as usize].sort),
            Shape::Machine { width, .. } => Sort::BitVec(Width::new(*width)?),
            Shape::Open(..) => *self.open_sorts.get(&ty)?,
            _ => return None,
        })
    }

    /// The types of a list; the type itself if it is not a list.
    pub(in crate::lustre::elaborate) fn parts(&self, ty: Ty) -> Vec<Ty> {
        match self.shape(ty) {
            Shape::List(parts) => parts.clone(),
            _ => vec![ty],
        }
    }

    /// The type of several values; a single one is not wrapped in a list.
    pub(in crate::lustre::elaborate) fn list(&mut self, parts: Vec<Ty>) -> Ty {
        match parts[..] {
            [one] => one,
            _ => self.intern(Shape::List(parts)),
        }
    }

    /// The scalars of a type, each with the suffix (`.f`, `[2]`) that follows the variable's name.
    pub(in crate::lustre::elaborate) fn scalars(&self, file: &File, ty: Ty) -> Vec<(String, Ty)> {
        let mut result = Vec::new();
        let mut stack = vec![(String::new(), ty)];
        while let Some((name, ty)) = stack.pop() {
            match self.shape(ty) {
                Shape::Record(fields) => {
                    stack.extend(
                        fields.iter().rev().map(|&(f, t)| (format!("{name}.{}", file.text(f)), t)),
                    );
                }
                Shape::Tuple(parts) | Shape::List(parts) => {
                    stack.extend(
                        parts.iter().enumerate().rev().map(|(i, &t)| (format!("{name}.%{i}"), t)),
                    );
                }
                Shape::Data { tag, constructors, .. } => {
                    let count =
                        |f: Word| constructors.iter().flatten().filter(|&&(g, _)| g == f).count();
                    let mut parts = vec![(name.clone(), *tag)];
                    for (k, fields) in constructors.iter().enumerate() {
                        for &(f, t) in fields {
                            let constructor = match self.shape(*tag) {
                                Shape::Enum(e) if count(f) > 1 => {
                                    format!(".{}", file.text(self.enums[*e as usize].variants[k]))
                                }
                                _ => String::new(),
                            };
                            parts.push((format!("{name}{constructor}.{}", file.text(f)), t));
                        }
                    }
                    stack.extend(parts.into_iter().rev());
                }
                Shape::Array(element, size) => {
                    stack.extend((0..*size).rev().map(|i| (format!("{name}[{i}]"), *element)));
                }
                // One array for each scalar of the elements. The nesting of types is limited.
                Shape::Open(element, size) => {
                    for (suffix, leaf) in self.scalars(file, *element) {
                        let leaf =
                            self.ids.get(&Shape::Open(leaf, *size)).copied().unwrap_or(ERROR);
                        result.push((format!("{name}{suffix}"), leaf));
                    }
                }
                Shape::Error => {}
                _ => result.push((name, ty)),
            }
        }
        result
    }

    /// The scalar types of a type.
    pub(in crate::lustre::elaborate) fn leaves(&self, ty: Ty) -> Vec<Ty> {
        let mut result = Vec::with_capacity(self.width(ty));
        let mut stack = vec![ty];
        while let Some(ty) = stack.pop() {
            match self.shape(ty) {
                Shape::Record(fields) => stack.extend(fields.iter().rev().map(|&(_, t)| t)),
                Shape::Data { tag, constructors, .. } => {
                    stack.extend(constructors.iter().flatten().rev().map(|&(_, t)| t));
                    stack.push(*tag);
                }
                Shape::Tuple(parts) | Shape::List(parts) => stack.extend(parts.iter().rev()),
                Shape::Array(element, size) => stack.extend((0..*size).map(|_| *element)),
                Shape::Open(element, size) => {
                    let all = self.leaves(*element).into_iter();
                    result.extend(
                        all.filter_map(|leaf| self.ids.get(&Shape::Open(leaf, *size)).copied()),
                    );
                }
                Shape::Error => {}
                _ => result.push(ty),
            }
        }
        result
    }

    /// The name of a type in messages.
    pub(in crate::lustre::elaborate) fn name(&self, file: &File, ty: Ty) -> String {
        self.name_to_depth(file, ty, 6)
    }

    fn name_to_depth(&self, file: &File, ty: Ty, depth: u32) -> String {
        if depth == 0 {
            return "…".to_string();
        }
        let list = |parts: &[Ty]| {
            parts
                .iter()
                .map(|&t| self.name_to_depth(file, t, depth - 1))
                .collect::<Vec<_>>()
                .join(", ")
        };
        match self.shape(ty) {
            Shape::Bool => "bool".to_string(),
            Shape::Int => "int".to_string(),
            Shape::Real => "real".to_string(),
            Shape::Machine { signed, width } => {
                format!("{}int{width}", if *signed { "" } else { "u" })
            }
            Shape::Enum(e) => self.enums[*e as usize].name.clone(),
            Shape::Record(fields) => match self.names.get(&ty) {
                Some(&name) => file.text(name).to_string(),
                None => {
                    let fields: Vec<String> = fields
                        .iter()
                        .map(|&(f, t)| {
                            format!("{}: {}", file.text(f), self.name_to_depth(file, t, depth - 1))
                        })
                        .collect();
                    format!("struct {{{}}}", fields.join("; "))
                }
            },
            Shape::Tuple(parts) => format!("[{}]", list(parts)),
            Shape::List(parts) => format!("({})", list(parts)),
            Shape::Array(element, size) => {
                format!("{}^{size}", self.name_to_depth(file, *element, depth - 1))
            }
            Shape::Open(element, size) => {
                let size = self.sizes.get(size).map_or("?", String::as_str);
                format!("{}^{size}", self.name_to_depth(file, *element, depth - 1))
            }
            Shape::Abstract(name) => file.text(*name).to_string(),
            Shape::Data { name, args, .. } if args.is_empty() => file.text(*name).to_string(),
            Shape::Data { name, args, .. } => format!("{}<{}>", file.text(*name), list(args)),
            Shape::Error => "?".to_string(),
        }
    }
}
