//! Requests about a document: each is read from the service and put into the form of the protocol.

use gander_lang::Span;
use gander_lang::ide::{DefinitionKind as D, Outline, outline_of_system};
use gander_service::{Document, LensAction, Uri};
use lsp_server::ErrorCode;
use serde_json::{Value, json};

use crate::convert::{offset_of, position_json, range_json, span_of};
use crate::server::{Answer, Server, Wrong, read};
use crate::tokens::tokens;

/// Nested selections that are given at most.
const MAX_SELECTIONS: usize = 64;

impl Server {
    /// Answers a request.
    pub(crate) fn answer(&self, method: &str, params: Value) -> Answer {
        match method {
            "textDocument/hover" => self.hover(read(params)?),
            "textDocument/definition" => self.definition(read(params)?),
            "textDocument/references" => self.references(read(params)?),
            "textDocument/documentHighlight" => self.highlight(read(params)?),
            "textDocument/documentSymbol" => self.symbols(read(params)?),
            "textDocument/foldingRange" => self.folds(read(params)?),
            "textDocument/selectionRange" => self.selections(read(params)?),
            "textDocument/formatting" => self.format(read(params)?),
            "textDocument/prepareRename" => self.prepare_rename(read(params)?),
            "textDocument/rename" => self.rename(read(params)?),
            "textDocument/completion" => self.complete(read(params)?),
            "textDocument/signatureHelp" => self.signature(read(params)?),
            "textDocument/codeAction" => self.actions(read(params)?),
            "textDocument/codeLens" => self.lenses(read(params)?),
            "textDocument/inlayHint" => self.inlays(read(params)?),
            "textDocument/semanticTokens/full" => {
                let params: lsp_types::SemanticTokensParams = read(params)?;
                let (_, document) = self.document(&params.text_document.uri)?;
                let all = Span::new(0, document.text.len() as u32);
                Ok(json!({ "data": tokens(&document, all, self.client.encoding) }))
            }
            "textDocument/semanticTokens/range" => {
                let params: lsp_types::SemanticTokensRangeParams = read(params)?;
                let (_, document) = self.document(&params.text_document.uri)?;
                let within = span_of(&document, params.range, self.client.encoding);
                Ok(json!({ "data": tokens(&document, within, self.client.encoding) }))
            }
            _ => {
                let message = format!("`{method}` is not known here");
                Err(Wrong::new(ErrorCode::MethodNotFound, message))
            }
        }
    }

    fn at(
        &self,
        params: &lsp_types::TextDocumentPositionParams,
    ) -> Result<(Uri, std::sync::Arc<Document>, u32), Wrong> {
        let (uri, document) = self.document(&params.text_document.uri)?;
        let offset = offset_of(&document, params.position, self.client.encoding);
        Ok((uri, document, offset))
    }

    fn range(&self, document: &Document, span: Span) -> Value {
        range_json(document, span, self.client.encoding)
    }

    fn location(&self, document: &Document, span: Span) -> Value {
        json!({ "uri": document.uri.as_str(), "range": self.range(document, span) })
    }

    fn hover(&self, params: lsp_types::HoverParams) -> Answer {
        let (uri, document, offset) = self.at(&params.text_document_position_params)?;
        Ok(match self.service.hover(&uri, offset) {
            Some(hover) => json!({
                "contents": { "kind": "markdown", "value": hover.text },
                "range": self.range(&document, hover.span),
            }),
            None => Value::Null,
        })
    }

    fn definition(&self, params: lsp_types::GotoDefinitionParams) -> Answer {
        let (_, document, offset) = self.at(&params.text_document_position_params)?;
        let outline = document.outline();
        let Some(found) = outline.definition_at(offset) else { return Ok(Value::Null) };
        let all = outline.group(found).map(|d| self.location(&document, d.span));
        Ok(all.collect())
    }

    fn references(&self, params: lsp_types::ReferenceParams) -> Answer {
        let (_, document, offset) = self.at(&params.text_document_position)?;
        let outline = document.outline();
        let Some(found) = outline.definition_at(offset) else { return Ok(Value::Null) };
        let declared: Vec<Span> = outline.group(found).map(|d| d.span).collect();
        let with_declarations = params.context.include_declaration;
        let wanted = |span: &Span| with_declarations || !declared.contains(span);
        let all = outline.occurrences(found).into_iter().filter(wanted);
        Ok(all.map(|span| self.location(&document, span)).collect())
    }

    fn highlight(&self, params: lsp_types::DocumentHighlightParams) -> Answer {
        let (_, document, offset) = self.at(&params.text_document_position_params)?;
        let outline = document.outline();
        let Some(found) = outline.definition_at(offset) else { return Ok(Value::Null) };
        let all = outline.occurrences(found).into_iter();
        Ok(all.map(|span| json!({ "range": self.range(&document, span) })).collect())
    }

    fn symbols(&self, params: lsp_types::DocumentSymbolParams) -> Answer {
        let (uri, document) = self.document(&params.text_document.uri)?;
        let own = document.outline();
        if !own.definitions.is_empty() || !own.keywords.is_empty() {
            return Ok(self.symbol_tree(&document, own));
        }
        let analysis = self.service.analysis(&uri);
        let model = analysis.as_ref().and_then(|a| a.model.as_ref());
        let Some(system) = model.and_then(|m| m.systems().first()) else { return Ok(json!([])) };
        Ok(self.symbol_tree(&document, &outline_of_system(system, &document.text)))
    }

    /// Definitions as a tree; those in formulas are left out.
    fn symbol_tree(&self, document: &Document, outline: &Outline) -> Value {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); outline.definitions.len()];
        let mut roots = Vec::new();
        let shown = outline.definitions.iter().enumerate();
        for (i, d) in shown.filter(|(_, d)| d.kind != D::Parameter && !d.name.is_empty()) {
            match d.parent {
                Some(parent) => children[parent].push(i),
                None => roots.push(i),
            }
        }
        // Parents are at most two levels above, so the tree is shallow.
        self.symbol_list(document, outline, &children, &roots)
    }

    fn symbol_list(
        &self,
        document: &Document,
        outline: &Outline,
        children: &[Vec<usize>],
        of: &[usize],
    ) -> Value {
        let symbol = |&i: &usize| {
            let d = &outline.definitions[i];
            let inner = self.symbol_list(document, outline, children, &children[i]);
            json!({
                "name": d.name,
                "detail": d.sort.clone().unwrap_or_else(|| d.kind.word().to_string()),
                "kind": symbol_kind(d.kind),
                "range": self.range(document, d.whole),
                "selectionRange": self.range(document, d.span),
                "children": inner,
            })
        };
        of.iter().map(symbol).collect()
    }

    fn folds(&self, params: lsp_types::FoldingRangeParams) -> Answer {
        let (_, document) = self.document(&params.text_document.uri)?;
        let fold = |fold: &gander_lang::ide::Fold| {
            let line =
                |offset| position_json(&document, offset, self.client.encoding)["line"].clone();
            let kind = if fold.is_comment { "comment" } else { "region" };
            json!({
                "startLine": line(fold.span.start), "endLine": line(fold.span.end), "kind": kind,
            })
        };
        Ok(document.outline().folds.iter().map(fold).collect())
    }

    fn selections(&self, params: lsp_types::SelectionRangeParams) -> Answer {
        let (_, document) = self.document(&params.text_document.uri)?;
        let one = |position: &lsp_types::Position| {
            let offset = offset_of(&document, *position, self.client.encoding);
            let spans = document.outline().selection(&document.text, offset);
            let outwards = spans.iter().take(MAX_SELECTIONS).rev();
            outwards.fold(Value::Null, |parent, span| {
                let range = self.range(&document, *span);
                match parent {
                    Value::Null => json!({ "range": range }),
                    parent => json!({ "range": range, "parent": parent }),
                }
            })
        };
        Ok(params.positions.iter().map(one).collect())
    }

    fn format(&self, params: lsp_types::DocumentFormattingParams) -> Answer {
        let (_, document) = self.document(&params.text_document.uri)?;
        let Some(format) = document.language().format else { return Ok(Value::Null) };
        let Ok(new) = format(&document.text) else {
            return Err(Wrong::failed("a text with syntax errors is not formatted"));
        };
        let Some((span, text)) = changed_lines(&document.text, &new) else { return Ok(json!([])) };
        Ok(json!([{ "range": self.range(&document, span), "newText": text }]))
    }

    fn prepare_rename(&self, params: lsp_types::TextDocumentPositionParams) -> Answer {
        let (_, document, offset) = self.at(&params)?;
        let outline = document.outline();
        let span = outline.definition_at(offset).and_then(|_| outline.name_span_at(offset));
        Ok(span.map_or(Value::Null, |span| self.range(&document, span)))
    }

    fn rename(&self, params: lsp_types::RenameParams) -> Answer {
        let (uri, document, offset) = self.at(&params.text_document_position)?;
        let name = &params.new_name;
        let renamed = document.outline().rename(document.language(), &document.text, offset, name);
        let places = renamed.map_err(Wrong::failed)?;
        let edits: Vec<Value> = places
            .into_iter()
            .map(|span| json!({ "range": self.range(&document, span), "newText": name }))
            .collect();
        Ok(json!({ "changes": { uri.as_str(): edits } }))
    }

    fn complete(&self, params: lsp_types::CompletionParams) -> Answer {
        let (_, document, offset) = self.at(&params.text_document_position)?;
        let found = document.outline().complete(&document.text, offset);
        let item = |(i, c): (usize, gander_lang::ide::Completion)| {
            json!({
                "label": c.label,
                "kind": c.kind.map_or(14, completion_kind),
                "detail": c.detail,
                "sortText": format!("{i:05}"),
            })
        };
        let items: Vec<Value> = found.into_iter().enumerate().map(item).collect();
        Ok(json!({ "isIncomplete": false, "items": items }))
    }

    fn signature(&self, params: lsp_types::SignatureHelpParams) -> Answer {
        let (_, document, offset) = self.at(&params.text_document_position_params)?;
        let Some(help) = document.outline().signature_at(&document.text, offset) else {
            return Ok(Value::Null);
        };
        let parameters: Vec<Value> =
            help.parameters.iter().map(|p| json!({ "label": p })).collect();
        Ok(json!({
            "signatures": [{ "label": help.label, "parameters": parameters }],
            "activeSignature": 0,
            "activeParameter": help.active,
        }))
    }

    fn actions(&self, params: lsp_types::CodeActionParams) -> Answer {
        let (uri, document) = self.document(&params.text_document.uri)?;
        let at = span_of(&document, params.range, self.client.encoding);
        let diagnostics = self.service.diagnostics(&uri);
        let mut actions = Vec::new();
        for d in diagnostics.iter().flat_map(|all| all.iter()) {
            let touches = d.span.is_some_and(|s| s.start <= at.end && at.start <= s.end);
            for fix in d.fixes.iter().filter(|_| touches) {
                let edits: Vec<Value> = fix
                    .edits
                    .iter()
                    .map(|(s, text)| json!({ "range": self.range(&document, *s), "newText": text }))
                    .collect();
                let shown = crate::convert::diagnostic_json(&document, d, self.client.encoding);
                actions.push(json!({
                    "title": fix.title,
                    "kind": "quickfix",
                    "diagnostics": [shown],
                    "isPreferred": d.fixes.len() == 1,
                    "edit": { "changes": { uri.as_str(): edits } },
                }));
            }
        }
        Ok(Value::Array(actions))
    }

    fn lenses(&self, params: lsp_types::CodeLensParams) -> Answer {
        let (uri, document) = self.document(&params.text_document.uri)?;
        if !self.settings.lenses {
            return Ok(json!([]));
        }
        let lens = |lens: gander_service::Lens| {
            let (command, argument) = match lens.action {
                LensAction::Check(claim) => ("gander.check", json!(claim)),
                LensAction::Explain(claim) => ("gander.explain", json!(claim)),
                LensAction::Simulate(claim) => ("gander.simulate", json!({ "claim": claim })),
            };
            json!({
                "range": self.range(&document, lens.span),
                "command": {
                    "title": lens.title, "command": command,
                    "arguments": [uri.as_str(), argument],
                },
            })
        };
        Ok(self.service.lenses(&uri).into_iter().map(lens).collect())
    }

    fn inlays(&self, params: lsp_types::InlayHintParams) -> Answer {
        let (uri, document) = self.document(&params.text_document.uri)?;
        if !self.settings.inlays {
            return Ok(json!([]));
        }
        let within = span_of(&document, params.range, self.client.encoding);
        let inlays = self.service.inlays(&uri).into_iter();
        let inside = inlays.filter(|i| within.start <= i.offset && i.offset <= within.end);
        let hint = |inlay: gander_service::Inlay| {
            json!({
                "position": position_json(&document, inlay.offset, self.client.encoding),
                "label": format!("always {}", inlay.label),
                "tooltip": format!("proved with {}", inlay.claims.join(", ")),
                "paddingLeft": true,
            })
        };
        Ok(inside.map(hint).collect())
    }
}

/// The lines in which two texts differ, with their new content. None if they are equal.
fn changed_lines(old: &str, new: &str) -> Option<(Span, String)> {
    if old == new {
        return None;
    }
    let (a, b): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let same = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (rest_a, rest_b) = (&a[same..], &b[same..]);
    let ends = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(x, y)| x == y).count();
    let length = |lines: &[&str]| lines.iter().map(|l| l.len()).sum::<usize>();
    let start = length(&a[..same]);
    let end = start + length(&rest_a[..rest_a.len() - ends]);
    Some((Span::new(start as u32, end as u32), rest_b[..rest_b.len() - ends].concat()))
}

/// The number of a kind of symbol in the protocol.
fn symbol_kind(kind: D) -> u32 {
    match kind {
        D::Module | D::System => 2,
        D::Instance => 19,
        D::Function | D::Macro => 12,
        D::Type => 10,
        D::EnumValue => 22,
        D::Field => 8,
        D::Constant => 14,
        D::Variable | D::Input | D::Output | D::Parameter => 13,
        D::Node => 5,
        D::Transition | D::Start => 24,
        D::Assumption | D::Fairness | D::Mode => 11,
        D::Claim => 7,
    }
}

/// The number of a kind of completion in the protocol.
fn completion_kind(kind: D) -> u32 {
    match kind {
        D::Module | D::System | D::Instance => 9,
        D::Function | D::Macro => 3,
        D::Type => 13,
        D::EnumValue => 20,
        D::Field => 5,
        D::Constant => 21,
        D::Variable | D::Input | D::Output | D::Parameter => 6,
        D::Node => 7,
        D::Transition | D::Start => 23,
        D::Assumption | D::Fairness | D::Mode | D::Claim => 18,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatting_replaces_only_the_lines_that_change() {
        let (span, text) = changed_lines("a\nb\nc\n", "a\nB\nc\n").unwrap();
        assert_eq!((span, text.as_str()), (Span::new(2, 4), "B\n"));
        let (span, text) = changed_lines("a\na\n", "a\na\na\n").unwrap();
        assert_eq!((span.start, span.end, text.as_str()), (4, 4, "a\n"));
        assert_eq!(changed_lines("a", "a"), None);
    }
}
