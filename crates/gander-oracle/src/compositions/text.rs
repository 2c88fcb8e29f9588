//! Compositions as `.sts` texts (docs/language.md).

use std::fmt::{self, Write};

use super::{
    Chosen, Comparator, Composition, Formula, Given, Kind, Pattern, PeerOf, Place, Spec, Term,
    Transition, Update, Where, Who,
};

/// The names of indices, by their position among those that are bound.
const INDICES: [&str; 8] = ["i", "j", "k", "l", "m", "n", "u", "v"];

impl Composition {
    /// All specifications and the system.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut text);
        text
    }

    /// The specification of an instance by itself: the constants and the variables of others that
    /// it reads are inputs with the names of [`constant_input`] and [`peer_input`].
    ///
    /// It must not ask for the node of others.
    pub fn specification_text(&self, instance: usize) -> String {
        let mut text = String::new();
        let spec = self.spec_of(instance);
        let _ = self.write_spec(&mut text, spec, true);
        text
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        for spec in &self.specs {
            self.write_spec(out, spec, false)?;
        }
        writeln!(out, "system Whole = {}", self.instances_text().join(" || "))?;
        for pattern in &self.patterns {
            self.write_sync(out, pattern)?;
        }
        let writer = Writer { composition: self, spec: None, alone: false, indices: Vec::new() };
        for claim in &self.claims {
            writeln!(out, "{}", writer.claim(&claim.name, &claim.kind))?;
        }
        writeln!(out, "no deadlock\ninfinite run")
    }

    fn instances_text(&self) -> Vec<String> {
        let mut texts = Vec::new();
        for (i, instance) in self.instances.iter().enumerate() {
            let spec = &self.specs[instance.spec].name;
            match self.family_of(i) {
                None => {
                    let peers = instance.peers.iter().map(|&p| self.name(p));
                    let constants = instance.constants.iter().map(i64::to_string);
                    let given = arguments(peers.chain(constants).collect());
                    texts.push(format!("{}: {spec}{given}", self.name(i)));
                }
                Some((family, 0)) => {
                    let family = &self.families[family];
                    let peer = |peer: &PeerOf| match *peer {
                        PeerOf::Fixed(p) => self.name(p),
                        PeerOf::Shifted(f, k) => {
                            let (name, size) = (&self.families[f].name, self.families[f].size);
                            format!("{name}[(i + {k}) mod {size}]")
                        }
                    };
                    let constant = |given: &Given| match *given {
                        Given::Number(n) => n.to_string(),
                        Given::Index(k) => format!("(i + {k}) mod 3"),
                    };
                    let given = family.peers.iter().map(peer);
                    let given = given.chain(family.constants.iter().map(constant)).collect();
                    let given = arguments(given);
                    texts.push(format!("{}: {spec}[i: {}]{given}", family.name, family.size));
                }
                Some(_) => {}
            }
        }
        texts
    }

    fn write_sync(&self, out: &mut String, sync: &Pattern) -> fmt::Result {
        let indices = sync.indices.clone();
        let writer = Writer { composition: self, spec: None, alone: false, indices };
        let who = |who: &Who| match *who {
            Who::One(i) => self.name(i),
            Who::Chosen(chosen) => writer.chosen(chosen),
            Who::All(family) => self.families[family].name.clone(),
        };
        let gates = |parts: &[(Who, String)]| {
            list(parts.iter().map(|(w, gate)| format!("{}.{gate}", who(w))).collect())
        };
        write!(out, "  sync {}", sync.name)?;
        if !sync.shared.is_empty() {
            write!(out, "{} ", list(sync.shared.clone()))?;
        }
        if !sync.indices.is_empty() {
            write!(out, " forall {} ", INDICES[..sync.indices.len()].join(", "))?;
            match sync.choices {
                Where::Any => {}
                Where::Different => write!(out, "where (i != j) ")?,
                Where::Less => write!(out, "where (i < j) ")?,
            }
        }
        write!(out, "{}", gates(&sync.members))?;
        if !sync.receivers.is_empty() {
            write!(out, " to {}", gates(&sync.receivers))?;
        }
        if let Some(when) = &sync.when {
            write!(out, " when {}", writer.formula(when))?;
        }
        writeln!(out)
    }

    fn write_spec(&self, out: &mut String, spec: &Spec, alone: bool) -> fmt::Result {
        let writer = Writer { composition: self, spec: Some(spec), alone, indices: Vec::new() };
        write!(out, "spec {}", spec.name)?;
        if !alone && (spec.constants > 0 || !spec.peers.is_empty()) {
            let peers = spec.peers.iter().enumerate();
            let peers = peers.map(|(i, &p)| format!("o{i}: {}", self.specs[p].name));
            let constants = (0..spec.constants).map(|i| format!("c{i}: int"));
            write!(out, "{}", list(peers.chain(constants).collect()))?;
        }
        writeln!(out)?;
        if alone {
            for c in 0..spec.constants {
                writeln!(out, "input {}: int", constant_input(c))?;
            }
            for (p, &of) in spec.peers.iter().enumerate() {
                for var in &self.specs[of].vars {
                    writeln!(out, "input {}: int", peer_input(p, &var.name))?;
                }
            }
        }
        for var in &spec.vars {
            match var.input {
                Some((low, high)) => writeln!(out, "input {}: int {low}..{high}", var.name)?,
                None => writeln!(out, "var {}: int", var.name)?,
            }
        }
        if let Some(f) = &spec.assume {
            writeln!(out, "assume {}", writer.formula(f))?;
        }
        for start in &spec.starts {
            let target = &spec.nodes[start.target].name;
            let init = spec.vars.iter().zip(&start.init).filter(|(v, _)| v.input.is_none());
            let init = init.map(|(v, (low, high))| format!("{low} <= {0}, {0} <= {high}", v.name));
            let init = init.collect::<Vec<_>>().join(", ");
            writeln!(out, "start {} -> {target} {{ {init} }}", start.name)?;
        }
        for (at, node) in spec.nodes.iter().enumerate() {
            let is_final = if node.is_final { "final " } else { "" };
            writeln!(out, "{is_final}node {} {{", node.name)?;
            for t in spec.transitions.iter().filter(|t| t.source == at) {
                writeln!(out, "  {}", writer.transition(spec, t))?;
            }
            writeln!(out, "}}")?;
        }
        if let Some(f) = &spec.final_when {
            writeln!(out, "final when {}", writer.formula(f))?;
        }
        for claim in &spec.claims {
            writeln!(out, "{}", writer.claim(&claim.name, &claim.kind))?;
        }
        writeln!(out)
    }
}

/// The input for a constant in [`Composition::specification_text`].
pub fn constant_input(constant: usize) -> String {
    format!("c{constant}")
}

/// The input for a variable of another instance in [`Composition::specification_text`].
pub fn peer_input(peer: usize, var: &str) -> String {
    format!("o{peer}_{var}")
}

fn arguments(parts: Vec<String>) -> String {
    if parts.is_empty() { String::new() } else { list(parts) }
}

fn list(parts: Vec<String>) -> String {
    format!("({})", parts.join(", "))
}

struct Writer<'a> {
    composition: &'a Composition,
    /// The specification that the formulas belong to; `None` for the whole.
    spec: Option<&'a Spec>,
    /// True if what it reads of others is an input.
    alone: bool,
    /// The families of the indices that are bound.
    indices: Vec<usize>,
}

impl Writer<'_> {
    /// The writer of what is within indices over these families.
    fn binding(&self, families: &[usize]) -> Writer<'_> {
        let indices = self.indices.iter().chain(families).copied().collect();
        Writer { indices, ..*self }
    }

    /// The name of the next index, and that of its family.
    fn next_index(&self, family: usize) -> (&'static str, &str) {
        (INDICES[self.indices.len()], &self.composition.families[family].name)
    }

    /// `f[i]`, or `f[(i + 1) mod 3]`
    fn chosen(&self, Chosen { index, shift }: Chosen) -> String {
        let (family, name) = (&self.composition.families[self.indices[index]], INDICES[index]);
        match shift {
            0 => format!("{}[{name}]", family.name),
            _ => format!("{}[({name} + {shift}) mod {}]", family.name, family.size),
        }
    }

    fn chosen_spec(&self, chosen: Chosen) -> &Spec {
        let family = &self.composition.families[self.indices[chosen.index]];
        self.composition.spec_of(family.first)
    }

    fn transition(&self, spec: &Spec, t: &Transition) -> String {
        let mut text = format!("{}: {}", t.name, t.gate.as_deref().unwrap_or("tau"));
        if !t.params.is_empty() {
            let params = t.params.iter().map(|p| format!("{}: int {}..{}", p.name, p.low, p.high));
            text += &list(params.collect());
        }
        text += &format!(" -> {}", spec.nodes[t.target].name);
        if !matches!(t.guard, Formula::True) {
            text += &format!(" when {}", self.formula(&t.guard));
        }
        let update = |(var, update): &(usize, Update)| {
            let name = &spec.vars[*var].name;
            match update {
                Update::Assign(e) => format!("{name} := {}", self.term(e)),
                Update::Between(low, high) => {
                    format!("{} <= {name}', {name}' <= {}", self.term(low), self.term(high))
                }
            }
        };
        let effect: Vec<String> = t.effect.iter().map(update).collect();
        if effect.is_empty() { text } else { format!("{text} {{ {} }}", effect.join(", ")) }
    }

    fn claim(&self, name: &str, kind: &Kind) -> String {
        match kind {
            Kind::Always(f) => format!("always {name}: {}", self.formula(f)),
            Kind::Reachable(f) => format!("reachable {name}: {}", self.formula(f)),
            Kind::Taken(gate, Formula::True) => format!("reachable {name}: {gate}"),
            Kind::Taken(gate, f) => format!("reachable {name}: {gate} with {}", self.formula(f)),
        }
    }

    fn formula(&self, f: &Formula) -> String {
        match f {
            Formula::True => "true".to_string(),
            Formula::Compare(by, a, b) => {
                let by = match by {
                    Comparator::Eq => "==",
                    Comparator::Ne => "!=",
                    Comparator::Lt => "<",
                    Comparator::Le => "<=",
                };
                format!("{} {by} {}", self.term(a), self.term(b))
            }
            Formula::At(place, node) => {
                let specs = &self.composition.specs;
                let (who, spec) = match (place, self.spec) {
                    (Place::Peer(p), Some(spec)) => (format!("o{p} "), &specs[spec.peers[*p]]),
                    (Place::Of(i), _) => {
                        (format!("{} ", self.composition.name(*i)), self.composition.spec_of(*i))
                    }
                    (Place::Chosen(chosen), _) => {
                        (format!("{} ", self.chosen(*chosen)), self.chosen_spec(*chosen))
                    }
                    (_, spec) => (String::new(), spec.unwrap_or(&specs[0])),
                };
                format!("{who}in {}", spec.nodes[*node].name)
            }
            Formula::Not(f) => format!("not ({})", self.formula(f)),
            Formula::And(a, b) => format!("({}) and ({})", self.formula(a), self.formula(b)),
            Formula::Or(a, b) => format!("({}) or ({})", self.formula(a), self.formula(b)),
            Formula::Over { all, families, different, body } => {
                let word = if *all { "forall" } else { "exists" };
                let inner = self.binding(families);
                let names = &INDICES[self.indices.len()..inner.indices.len()];
                let bound = match families[..] {
                    // Indices of one family are bound together, others one after the other.
                    [f, g] if f == g => {
                        let sign = if *different { " != " } else { ", " };
                        let family = &self.composition.families[f].name;
                        format!("{word} {} in {family}.", names.join(sign))
                    }
                    _ => (families.iter().zip(names))
                        .map(|(&f, name)| {
                            format!("{word} {name} in {}. ", self.composition.families[f].name)
                        })
                        .collect(),
                };
                format!("({bound} {})", inner.formula(body))
            }
        }
    }

    fn term(&self, e: &Term) -> String {
        match e {
            Term::Int(n) => n.to_string(),
            Term::Var(v) => self.spec.map_or(String::new(), |s| s.vars[*v].name.clone()),
            Term::Param(name) => name.clone(),
            Term::OfChosen(chosen, v) => {
                format!("{}.{}", self.chosen(*chosen), self.chosen_spec(*chosen).vars[*v].name)
            }
            Term::ParamOfChosen(chosen, name) => format!("{}.{name}", self.chosen(*chosen)),
            Term::Count(family, f) => {
                let inner = self.binding(&[*family]);
                let (index, family) = self.next_index(*family);
                format!("(count {index} in {family}. ({}))", inner.formula(f))
            }
            Term::Sum(family, e) => {
                let inner = self.binding(&[*family]);
                let (index, family) = self.next_index(*family);
                format!("(sum {index} in {family}. ({}))", inner.term(e))
            }
            Term::Truth(f) => format!("(if {} then 1 else 0)", self.formula(f)),
            Term::Constant(c) => constant_input(*c),
            Term::Peer(p, v) => {
                let spec = self.spec.map(|s| &self.composition.specs[s.peers[*p]]);
                let var = spec.map_or("", |s| &s.vars[*v].name);
                if self.alone { peer_input(*p, var) } else { format!("o{p}.{var}") }
            }
            Term::Of(i, v) => {
                let var = &self.composition.spec_of(*i).vars[*v].name;
                format!("{}.{var}", self.composition.name(*i))
            }
            Term::ParamOf(i, name) => format!("{}.{name}", self.composition.name(*i)),
            Term::Add(a, b) => format!("({} + {})", self.term(a), self.term(b)),
            Term::Sub(a, b) => format!("({} - {})", self.term(a), self.term(b)),
            Term::Mod(a, n) => format!("({} mod {n})", self.term(a)),
        }
    }
}
