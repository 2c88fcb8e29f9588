// The language client, and everything that is asked of `gander lsp` beyond the standard protocol.
// This module alone knows the names on the wire.
import { execFile } from "node:child_process";
import { accessSync } from "node:fs";
import { access, constants, mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, RevealOutputChannelOn } from "vscode-languageclient/node";

import { type ControlGraph, onlyGraph } from "../../../shared/run-view/graph";
import { type Located, locate } from "../logic/locate";
import type { CheckEvent, Covered, DocumentState, ExplainedEvent, Result, VerdictEvent } from "../logic/protocol";
import type { SimulationState } from "../logic/simulation";

/** Languages that the server reads. */
export const LANGUAGES = ["sts", "lustre", "gander-script"];

/** Finds the program that the settings ask for. */
export function program(): Located {
  return locate({
    setting: vscode.workspace.getConfiguration("gander").get("path", ""),
    path: process.env.PATH ?? "",
    home: homedir(),
    windows: process.platform === "win32",
    isProgram(path) {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    },
  });
}

/** What the server reports, and the lenses that open a panel. */
export interface Listener {
  check(event: CheckEvent): void;
  verdict(event: VerdictEvent): void;
  explained(event: ExplainedEvent): void;
  /** A file that a document includes was changed. */
  outdated(uri: string): void;
  /** The lens "simulate from here" was clicked. */
  simulate(uri: string, claim: string | null): void;
}

/** Settings that the server gets: those of its documentation, not where the program is. */
function settings(): unknown {
  const all = vscode.workspace.getConfiguration("gander");
  return {
    check: all.get("check", "save"),
    idleMilliseconds: all.get("idleMilliseconds", 800),
    timeLimitSeconds: all.get("timeLimitSeconds", 60),
    lenses: all.get("lenses", true),
    inlays: all.get("inlays", true),
  };
}

/** A running server. */
export class Server {
  private constructor(
    private readonly client: LanguageClient,
    private readonly path: string,
  ) {}

  /** Starts the program. */
  static async start(path: string, listener: Listener): Promise<Server> {
    await access(path, constants.X_OK);
    const options: LanguageClientOptions = {
      documentSelector: LANGUAGES.map((language) => ({ language })),
      initializationOptions: settings(),
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      middleware: {
        // A simulation is shown in a panel; its state alone would be lost.
        executeCommand(command, args: unknown[], next) {
          if (command !== "gander.simulate") return next(command, args);
          const claim = (args[1] as { claim?: unknown } | undefined)?.claim;
          listener.simulate(String(args[0]), typeof claim === "string" ? claim : null);
          return undefined;
        },
        workspace: {
          // The server asks with or without a section; it must not see the other settings.
          configuration: () => [settings()],
        },
      },
    };
    const client = new LanguageClient("gander", "gander", { command: path, args: ["lsp"] }, options);
    client.onNotification("gander/check", (event: CheckEvent) => listener.check(event));
    client.onNotification("gander/verdict", (event: VerdictEvent) => listener.verdict(event));
    client.onNotification("gander/outdated", ({ uri }: { uri: string }) => listener.outdated(uri));
    client.onNotification("gander/explained", (event: ExplainedEvent) => listener.explained(event));
    await client.start();
    return new Server(client, path);
  }

  stop(): Promise<void> {
    return this.client.stop(2000);
  }

  /** Tells the server that settings changed. */
  configure(): Promise<void> {
    const params = { settings: { gander: settings() } };
    return this.client.sendNotification("workspace/didChangeConfiguration", params);
  }

  /** What is known of a document. */
  state(uri: string): Promise<DocumentState | null> {
    return this.execute("gander.state", uri);
  }

  /** The last result of a claim, with its evidence. */
  result(uri: string, claim: string): Promise<Result | null> {
    return this.execute("gander.result", uri, claim);
  }

  /** Checks a claim of a document; without a claim all of them. */
  async check(uri: string, claim: string | null): Promise<void> {
    await this.execute("gander.check", uri, claim);
  }

  async explain(uri: string, claim: string | null): Promise<void> {
    await this.execute("gander.explain", uri, claim);
  }

  async cancel(uri: string): Promise<void> {
    await this.execute("gander.cancel", uri);
  }

  async coverage(uri: string): Promise<Covered[]> {
    return (await this.execute<Covered[] | null>("gander.coverage", uri)) ?? [];
  }

  simulate(uri: string, request: object): Promise<SimulationState> {
    return this.execute("gander.simulate", uri, request);
  }

  private execute<T>(command: string, ...given: unknown[]): Promise<T> {
    return this.client.sendRequest<T>("workspace/executeCommand", { command, arguments: given });
  }

  /** The control graph of a text; null if it has none, or several. */
  async graph(document: vscode.TextDocument): Promise<ControlGraph | null> {
    if (document.languageId === "lustre") return null;
    const folder = await mkdtemp(join(tmpdir(), "gander-graph-"));
    try {
      const model = join(folder, `model${extname(document.fileName) || ".sts"}`);
      await writeFile(model, document.getText());
      const words = ["graph", "--format", "json", "--timeout", "10", model];
      const { stdout } = await promisify(execFile)(this.path, words, { maxBuffer: 64 << 20, timeout: 20_000 });
      return onlyGraph(JSON.parse(stdout));
    } catch {
      return null;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}
