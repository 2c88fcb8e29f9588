//! Random texts with a family of any size.

use crate::random::Random;

const CLAIMS: &str = "
const N: int

always c0: forall i != j in procs. not (procs[i] in A and procs[j].x == 2)
always c1: (count i in procs. procs[i] in B) <= 1
always c2: (sum i in procs. procs[i].x) <= hub.y + 3
always c3: exists i in procs. procs[i].b
always c4: (count i in procs. (procs[i].x == hub.y)) != 2
always c5: (count i in procs where i > 0. procs[i].b) == 0
always c6: forall i in procs where i + 1 < N. procs[i].x <= procs[i + 1].x
always c7: procs[0].x <= procs[N - 1].x
always c8: forall i in procs. procs[i].x <= 2 or procs[(i + 1) mod N] in C
";

/// A random composition, as text, with a family of size `N`: a constant without a value. All claims
/// are invariants.
pub fn any_size_text(seed: u64) -> String {
    let mut random = Random::new(seed, 0);
    let r = &mut random;
    let reads = r.chance(50);
    let members = member_text(r, reads);
    let (hub, hub_reads) = hub_text(r);
    let system = system_text(r, reads, hub_reads);
    format!("{members}{hub}{system}{CLAIMS}")
}

/// The specification of the members of the family; one that reads has another member as `next`.
fn member_text(r: &mut Random, reads: bool) -> String {
    let mut out = match reads {
        true => "spec Proc(id: int, next: Proc)\n\n".to_string(),
        false => "spec Proc(id: int)\n\n".to_string(),
    };
    out += "var x: int\nvar b: bool\nstart -> A { x == 0, b == (id == 0) }\n";
    let guards = ["x < 2", "b", "not b", "x == 1", "x > 0", "id > 0", "id == x", "x <= id"];
    let peers = ["next.x == 0", "next in A", "next.b", "not next in B and x < 2"];
    let effects =
        ["x := (x + 1) mod 3", "b := not b", "x := 0", "x := id mod 3", "b := true, x := 1"];
    for node in ["A", "B", "C"] {
        out += &format!("node {node} {{\n");
        // The gate of receivers has one transition at a node, and no parameters.
        for gate in ["g", "h", "r", "r", "w"].iter().take(2 + r.below(4)) {
            if *gate == "r" && out.ends_with("r\n") {
                continue;
            }
            let target = r.pick(&["", " -> A", " -> B", " -> C"]);
            let guard = match r.below(3) {
                0 => String::new(),
                1 if reads => format!(" when {}", r.pick(&peers)),
                _ => format!(" when {}", r.pick(&guards)),
            };
            if *gate == "h" {
                out += &format!("  h(p: int 0..1){target}{guard} {{ x := p }}\n");
            } else {
                let effect = r.pick(&effects);
                let label = if *gate == "r" { " // r" } else { "" };
                out += &format!("  {gate}{target}{guard} {{ {effect} }}{label}\n");
            }
        }
        out += "}\n";
    }
    out
}

/// The specification of an instance beside the family, and whether it reads a member.
fn hub_text(r: &mut Random) -> (String, bool) {
    let hub_reads = !r.chance(50);
    let head = if hub_reads { "\nspec Hub(first: Proc)\n\n" } else { "\nspec Hub\n\n" };
    let mut out = head.to_string();
    out += "var y: int\nstart -> U { y == 1 }\n";
    let guards = if hub_reads {
        vec!["y > 0", "y < 2", "first.x == 1", "first in A", "true"]
    } else {
        vec!["y > 0", "y < 2", "y == 1", "true"]
    };
    for node in ["U", "V"] {
        out += &format!("node {node} {{\n");
        for gate in ["g", "h", "r"] {
            let target = r.pick(&["", " -> U", " -> V"]);
            let guard = r.pick(&guards);
            let effect = r.pick(&["y := (y + 1) mod 3", "y := 0", ""]);
            if gate == "h" {
                out += &format!("  h(p: int 0..2){target} when {guard} {{ y := p }}\n");
            } else {
                out += &format!("  {gate}{target} when {guard} {{ {effect} }}\n");
            }
        }
        out += "}\n";
    }
    (out, hub_reads)
}

/// The system with its synchronisations.
fn system_text(r: &mut Random, reads: bool, hub_reads: bool) -> String {
    let arguments = if reads {
        r.pick(&["(i, procs[(i + 1) mod N])", "(i, procs[(i + N - 1) mod N])", "(i, procs[0])"])
    } else {
        r.pick(&["(i)", "(N - i)", "(i * 2)"])
    };
    let hub = if hub_reads { r.pick(&["Hub(procs[0])", "Hub(procs[N - 1])"]) } else { "Hub" };
    let mut out = format!("\nsystem S = procs: Proc[i: N]{arguments} || hub: {hub}\n");
    let syncs = [
        "forall i (procs[i].g, hub.g)",
        "forall i != j (procs[i].g, procs[j].w)",
        "forall i (procs[i].g, procs[(i + 1) mod N].w)",
        "forall i (procs[(i - 1) mod N].g, procs[i].w)",
        "forall i where (i > 0) (procs[i].g, hub.g)",
        "forall i where (i + 1 < N) (procs[i].g, procs[i + 1].w)",
        "forall i (procs[i].g) to (procs.r)",
        "(hub.g) to (procs.r)",
        "forall i (procs[i].g) to (procs.r, hub.r)",
        "forall i (procs[i].w) to (hub.r)",
        "(procs[0].g, hub.g) when hub.y > 0",
        "forall i (procs[i].g, hub.r) when procs[i].x == hub.y",
    ];
    let shared = ["(p) forall i (procs[i].h, hub.h)", " forall i (procs[i].h, hub.h)"];
    for number in 0..1 + r.below(3) {
        out += &match r.below(4) {
            0 => format!("    sync s{number}{}\n", r.pick(&shared)),
            _ => format!("    sync s{number} {}\n", r.pick(&syncs)),
        };
    }
    out
}
