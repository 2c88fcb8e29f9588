//! The traceability matrix as one self-contained HTML page: the source beside the matrix, with
//! elements coloured by their mark for the selected property.

use std::fmt::Write;

use super::coverage::{Mark, coverage, marks};
use super::{ExplainView, NoCore};

const STYLE: &str = "\
body{font:14px/1.45 system-ui,sans-serif;margin:0;color:#222;background:#fff}\
header{padding:12px 20px;border-bottom:1px solid #ddd}h1{font-size:18px;margin:0 0 4px}\
main{display:flex;align-items:flex-start}section{padding:12px 20px;overflow:auto;max-height:calc(100vh - 90px)}\
#side{flex:0 0 auto;max-width:55%}#code{flex:1 1 auto;border-left:1px solid #ddd}\
pre{font:13px/1.5 ui-monospace,monospace;margin:0}pre .n{color:#999;user-select:none}\
table{border-collapse:collapse}td,th{padding:2px 7px;border:1px solid #e4e4e4;text-align:left}\
th button{font:inherit;background:none;border:0;cursor:pointer;color:#0550ae;padding:0}\
th.on{background:#ddf4ff}td.c{text-align:center}\
.must{background:#ffd8b5}.may{background:#fff3b0}.claimed{background:#d8f0d0}.untouched{background:#eee}\
.some{background:#ffe6b3}.open{background:repeating-linear-gradient(135deg,#fff,#fff 4px,#ddd 4px,#ddd 6px)}\
.without{color:#888}th small{display:block;font-weight:normal}\
.legend span{padding:1px 8px;margin-right:8px;border-radius:3px}";

const SCRIPT: &str = "\
function show(i){var m=marks[i];\
document.querySelectorAll('[data-e]').forEach(function(x){x.className=i<0?all[x.dataset.e]:m[x.dataset.e]});\
document.querySelectorAll('th[data-p]').forEach(function(x){x.className=+x.dataset.p===i?'on':''});\
document.getElementById('what').textContent=i<0?'all properties':names[i]}\
document.querySelectorAll('th[data-p] button').forEach(function(b){b.onclick=function(){\
show(b.parentNode.className==='on'?-1:+b.parentNode.dataset.p)}});show(-1)";

/// Escapes text for HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\r' | '\t' => out.push(c),
            _ if gander_text::is_hidden(c) => {
                let shown = gander_text::visible(c.encode_utf8(&mut [0; 4]))
                    .replace('<', "&lt;")
                    .replace('>', "&gt;");
                out.push_str(&shown);
            }
            _ => out.push(c),
        }
    }
    out
}

fn class(mark: Mark) -> &'static str {
    match mark {
        Mark::Must => "must",
        Mark::May => "may",
        Mark::Some => "some",
        Mark::Claimed => "claimed",
        Mark::Untouched => "untouched",
        Mark::Open => "open",
    }
}

/// The mark of an element for all properties together.
fn together(marks: &[Mark], undecided: bool) -> Mark {
    let known = [Mark::Must, Mark::Some, Mark::May, Mark::Claimed];
    let known = known.into_iter().find(|m| marks.contains(m));
    let open = undecided || marks.contains(&Mark::Open);
    known.unwrap_or(if open { Mark::Open } else { Mark::Untouched })
}

/// The page.
pub fn matrix_html(view: &ExplainView) -> String {
    let columns: Vec<Vec<Mark>> = (0..view.results.len()).map(|i| marks(view, i)).collect();
    let undecided = view.unexplained.iter().any(|u| u.status == NoCore::Undecided);
    let any: Vec<Mark> = (0..view.elements.len())
        .map(|e| together(&columns.iter().map(|c| c[e]).collect::<Vec<_>>(), undecided))
        .collect();
    let scores = coverage(view);
    let mut out = String::new();
    let title = escape(&view.file);
    let warning = scores.completeness.warning();
    let more = match warning {
        Some(_) => {
            "<span class=\"some\">in some core, perhaps in every one</span>\
             <span class=\"open\">not known</span>"
        }
        None => "",
    };
    let claimed = match columns.iter().flatten().any(|m| *m == Mark::Claimed) {
        true => "<span class=\"claimed\">in no core, but a property itself is about it</span>",
        false => "",
    };
    let warning = warning.map_or(String::new(), |text| format!("<p><b>{}</b></p>", escape(text)));
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}: traceability</title>\n\
         <style>{STYLE}</style></head>\n<body><header><h1>{title}</h1>\
         <div class=\"legend\"><span class=\"must\">in every core</span><span class=\"may\">in some core</span>\
         {claimed}<span class=\"untouched\">in no core</span>{more} covered: {}; shown: <b id=\"what\"></b></div>{warning}\
         </header>\n<main><section id=\"side\"><table><thead><tr><th>element</th><th>line</th>",
        scores.model.words()
    );
    for (i, r) in view.results.iter().enumerate() {
        let found = if r.complete && !r.is_refuted() {
            String::new()
        } else {
            format!("<small>{}</small>", escape(&r.cores_found()))
        };
        let _ =
            write!(out, "<th data-p=\"{i}\"><button>{}</button>{found}</th>", escape(&r.title()));
    }
    for u in &view.unexplained {
        let _ = write!(
            out,
            "<th class=\"without\">{}<small>no core: {}</small></th>",
            escape(&u.title()),
            escape(&u.why)
        );
    }
    out.push_str("</tr></thead><tbody>\n");
    for (e, element) in view.elements.iter().enumerate() {
        let line = escape(&element.place());
        let _ = write!(out, "<tr><td data-e=\"{e}\">{}</td><td>{line}</td>", escape(&element.name));
        for c in &columns {
            let word = match c[e] {
                Mark::Must => "MUST",
                Mark::May => "MAY",
                Mark::Some => "MAY or MUST",
                Mark::Claimed => "CLAIM",
                Mark::Untouched => "",
                Mark::Open => "?",
            };
            let _ = write!(out, "<td class=\"c {}\">{word}</td>", class(c[e]));
        }
        for u in &view.unexplained {
            let _ = write!(out, "<td class=\"c without\">{}</td>", u.status.word());
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></section>\n<section id=\"code\"><pre>");
    source_html(view, &mut out);
    let list = |marks: &[Mark]| {
        let words: Vec<String> = marks.iter().map(|&m| format!("\"{}\"", class(m))).collect();
        format!("[{}]", words.join(","))
    };
    let all_marks: Vec<String> = columns.iter().map(|c| list(c)).collect();
    let names: Vec<String> = view.results.iter().map(|r| in_script(&r.title())).collect();
    let _ = write!(
        out,
        "</pre></section></main>\n<script>var all={},marks=[{}],names=[{}];{SCRIPT}</script></body></html>\n",
        list(&any),
        all_marks.join(","),
        names.join(",")
    );
    out
}

/// A string literal for a script; it cannot end the script.
fn in_script(text: &str) -> String {
    serde_json::Value::from(text)
        .to_string()
        .replace('<', "\\u003c")
        .replace(['\u{2028}', '\u{2029}'], " ")
}

/// The source with numbered lines; each element is an outermost span.
fn source_html(view: &ExplainView, out: &mut String) {
    let mut spans: Vec<(usize, usize, usize)> = view
        .elements
        .iter()
        .enumerate()
        .filter_map(|(e, v)| v.span.map(|(a, b)| (a, b, e)))
        .collect();
    spans.retain(|&(a, b, _)| a < b && view.source.get(a..b).is_some());
    spans.sort();
    let digits = view.source.lines().count().max(1).to_string().len();
    let mut line = 1;
    let _ = write!(out, "<span class=\"n\">{line:>digits$}  </span>");
    let mut put = |out: &mut String, text: &str, element: Option<usize>| {
        for (i, piece) in text.split('\n').enumerate() {
            if i > 0 {
                line += 1;
                let _ = write!(out, "\n<span class=\"n\">{line:>digits$}  </span>");
            }
            match element {
                Some(e) if !piece.is_empty() => {
                    let _ = write!(out, "<span data-e=\"{e}\">{}</span>", escape(piece));
                }
                _ => out.push_str(&escape(piece)),
            }
        }
    };
    let mut at = 0;
    for (start, end, e) in spans {
        if start < at {
            continue;
        }
        put(out, &view.source[at..start], None);
        put(out, &view.source[start..end], Some(e));
        at = end;
    }
    put(out, &view.source[at..], None);
}
