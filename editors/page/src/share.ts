// Links that contain a model: its name and text, compressed, behind `#`. That part of an address is
// not sent to any server, and the link has no token.

const LIMIT = 4 << 20;

export interface SharedModel {
  name: string;
  text: string;
}

async function pass(bytes: Uint8Array, through: GenericTransformStream): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(through as ReadableWritablePair<Uint8Array, Uint8Array>);
  const reader = stream.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > LIMIT) {
      await reader.cancel();
      throw new Error("the model in the link is too large");
    }
    parts.push(value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The part of an address behind `#`. */
export async function encodeModel(model: SharedModel): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify([model.name, model.text]));
  const packed = await pass(bytes, new CompressionStream("deflate-raw"));
  let text = "";
  for (const byte of packed) text += String.fromCharCode(byte);
  return `model=${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** The model in the part of an address behind `#`; null if there is none. */
export async function decodeModel(fragment: string): Promise<SharedModel | null> {
  const found = /^#?model=([A-Za-z0-9_-]+)$/.exec(fragment);
  if (!found) return null;
  const packed = atob(found[1]!.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(packed, (c) => c.charCodeAt(0));
  const text = new TextDecoder().decode(await pass(bytes, new DecompressionStream("deflate-raw")));
  const value: unknown = JSON.parse(text);
  if (!Array.isArray(value) || typeof value[0] !== "string" || typeof value[1] !== "string") {
    throw new Error("the link has no model");
  }
  return { name: fileName(value[0]), text: value[1] };
}

/** A name for a file: no folders, nothing hidden, not empty. */
export function fileName(name: string): string {
  const last = name.split(/[\\/]/).pop() ?? "";
  const clean = last.replace(/[^\p{L}\p{N}._ +-]/gu, "").replace(/^[. ]+/, "").slice(0, 100);
  return clean || "model.sts";
}
