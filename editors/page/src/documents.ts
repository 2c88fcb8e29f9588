// The document of the page: where it comes from, and that it is never lost. A tab keeps its text for
// a reload; the last text of all tabs is what a new tab begins with.

import { fileName } from "./share";

export interface PageDocument {
  name: string;
  text: string;
  /** The file on this machine that the page was opened with, if this is it. */
  file: { path: string; digest: string | null } | null;
  /** The text that is saved in the file, or the text that was loaded. */
  saved: string;
}

const TAB = "gander.document";
const LAST = "gander.last";

export function keep(document: PageDocument): void {
  const text = JSON.stringify(document);
  for (const storage of [sessionStorage, localStorage]) {
    try {
      storage.setItem(storage === sessionStorage ? TAB : LAST, text);
    } catch {
      // The storage is full or forbidden: the text is in the editor only.
    }
  }
}

function read(storage: Storage, key: string): PageDocument | null {
  try {
    const value: unknown = JSON.parse(storage.getItem(key) ?? "null");
    if (!value || typeof value !== "object") return null;
    const { name, text, file, saved } = value as Partial<PageDocument>;
    if (typeof name !== "string" || typeof text !== "string") return null;
    const path = file && typeof file === "object" && typeof file.path === "string" ? file : null;
    return {
      name: fileName(name),
      text,
      file: path ? { path: path.path, digest: typeof path.digest === "string" ? path.digest : null } : null,
      saved: typeof saved === "string" ? saved : text,
    };
  } catch {
    return null;
  }
}

/** The text of this tab before a reload. */
export function ofTab(): PageDocument | null {
  return read(sessionStorage, TAB);
}

/** The text that was edited last in any tab. */
export function lastOfAll(): PageDocument | null {
  return read(localStorage, LAST);
}
