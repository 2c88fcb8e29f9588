// The socket to the server. It is opened again when it breaks: the pages of a server that was
// stopped and started again on its port go on with what they have.

import type { Transport } from "@codemirror/lsp-client";

export type ConnectionState =
  | { kind: "connecting" }
  | { kind: "open" }
  | { kind: "waiting"; why: string; again: number };

export interface ConnectionListener {
  /** A socket was opened: a new session of the language server. */
  opened(transport: Transport): void;
  /** The session ended. */
  closed(): void;
  changed(state: ConnectionState): void;
}

/** Time between two attempts: short at first. */
const DELAYS = [300, 600, 1000, 2000, 3000, 5000];

/** Keeps a socket open. */
export class Connection {
  readonly token: string;
  private socket: WebSocket | null = null;
  private attempts = 0;
  private timer: number | undefined;
  private handlers = new Set<(value: string) => void>();

  constructor(private readonly listener: ConnectionListener) {
    this.token = new URLSearchParams(location.search).get("token") ?? "";
    addEventListener("online", () => this.now());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.now();
    });
  }

  /** Tries at once, if it waits. */
  now(): void {
    if (this.timer !== undefined) {
      clearTimeout(this.timer);
      this.timer = undefined;
      void this.open();
    }
  }

  async open(): Promise<void> {
    this.listener.changed({ kind: "connecting" });
    if (this.attempts > 0) {
      const proved = await this.isOurs();
      if (proved === "gone") return this.later("gander is not running");
      if (proved === "other") {
        return this.later("gander was started with a new address: open it, your text is kept");
      }
    }
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/socket?token=${this.token}`);
    this.socket = socket;
    const transport: Transport = {
      send: (message) => {
        if (socket.readyState !== WebSocket.OPEN) throw new Error("gander is not connected");
        socket.send(message);
      },
      subscribe: (handler) => this.handlers.add(handler),
      unsubscribe: (handler) => this.handlers.delete(handler),
    };
    let wasOpen = false;
    socket.onopen = () => {
      wasOpen = true;
      this.listener.changed({ kind: "open" });
      this.listener.opened(transport);
    };
    socket.onmessage = (event) => {
      this.attempts = 0;
      if (typeof event.data === "string") {
        for (const handler of [...this.handlers]) handler(event.data);
      }
    };
    socket.onclose = (event) => {
      this.socket = null;
      if (wasOpen) this.listener.closed();
      this.later(event.reason || "gander is not running");
    };
  }

  private later(why: string): void {
    const delay = DELAYS[Math.min(this.attempts, DELAYS.length - 1)]!;
    this.attempts += 1;
    this.listener.changed({ kind: "waiting", why, again: delay });
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      this.timer = undefined;
      void this.open();
    }, delay);
  }

  /** Whether the server on this port knows our token: it proves so before it is told. */
  private async isOurs(): Promise<"ours" | "other" | "gone"> {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    const nonce = hex(bytes);
    try {
      const response = await fetch(`/proof?nonce=${nonce}`, { signal: AbortSignal.timeout(5000) });
      const expected = await crypto.subtle.digest(
        "SHA-256",
        new TextEncoder().encode(`${this.token}:${nonce}`),
      );
      const given = (await response.text()).trim();
      return response.ok && given === hex(new Uint8Array(expected)) ? "ours" : "other";
    } catch {
      return "gone";
    }
  }

  get isOpen(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
