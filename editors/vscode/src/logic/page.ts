// The pages of the panels. A strict policy: only our script with this nonce runs, nothing is
// loaded from anywhere else, and data reaches the page as messages, never as markup.

export interface PageParts {
  title: string;
  script: string;
  nonce: string;
  /** The source that the editor allows for its own files. */
  source: string;
  style: string;
  body: string;
}

export function pageOf({ title, script, nonce, source, style, body }: PageParts): string {
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}' ${source};`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<style nonce="${nonce}">${style}</style>
</head>
<body>
${body}
<script nonce="${nonce}" src="${escape(script)}"></script>
</body>
</html>
`;
}

/** Text as HTML. */
export function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
