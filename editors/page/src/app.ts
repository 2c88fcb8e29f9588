// The state of the page: one document, one session with the server, the panels about the document.

import { ClaimsPanel, isStructural } from "./claims";
import { Connection } from "./connection";
import type { ConnectionState } from "./connection";
import { CoveragePanel } from "./coverage";
import { ask, dialog, notify } from "./dialog";
import { keep, lastOfAll, ofTab } from "./documents";
import type { PageDocument } from "./documents";
import { debounced, download, h } from "./dom";
import { Editor } from "./editor";
import type { LineVerdict, Mark } from "./editor";
import { explained } from "./explanations";
import { LANGUAGES, languageOf } from "./languages";
import { layout } from "./layout";
import type { Layout } from "./layout";
import type { CheckEvent, Claim, Graph, Start, Timeline } from "./protocol";
import { RunPanel } from "./run";
import { Server, messageOf } from "./server";
import { decodeModel, encodeModel, fileName } from "./share";
import { showShortcuts } from "./shortcuts";
import { SimulatePanel } from "./simulate";
import { WORD } from "./words";

/** Pause after which what was typed is sent, and after which it is checked. */
const SYNC_TIME = 40;
const CHECK_TIME = 700;

const AUTO = "gander.auto";

export class App {
  private readonly layout: Layout;
  private readonly editor: Editor;
  private readonly server: Server;
  private readonly claims: ClaimsPanel;
  private readonly run: RunPanel;
  private readonly simulate: SimulatePanel;
  private readonly coverage: CoveragePanel;
  private readonly connection: Connection;
  private document: PageDocument;
  private start: Start | null = null;
  private uri = "";
  private opened = 0;
  private errors = 0;
  private isOpen = false;
  private isLoading = false;
  /** How checks ended, and what waits for it. */
  private endings = new Map<number, string>();
  private awaited: { check: number; action: (ending: string) => void }[] = [];
  private graphs = new Map<string, Promise<Graph>>();
  private readonly syncSoon = debounced(SYNC_TIME, () => this.server.sync());
  private readonly checkSoon = debounced(CHECK_TIME, () => void this.check(null, true));
  private readonly keepSoon = debounced(250, () => keep(this.document));
  private readonly stateSoon = debounced(60, () => void this.refreshState());

  constructor(root: HTMLElement) {
    this.document = { name: "model.sts", text: "", file: null, saved: "" };
    this.claims = new ClaimsPanel({
      check: (name) => void this.check(name),
      stop: () => void this.attempt(() => this.server.cancel(this.uri)),
      run: (claim) => void this.showRun(claim),
      explain: (claim) => void this.explain(claim),
      reveal: (range) => this.reveal(range),
      closed: () => this.editor.mark("core", []),
      opened: (claim) => void this.evidence(claim).catch(() => {}),
      changed: (claims) => this.verdictsChanged(claims),
    });
    this.run = new RunPanel({
      choose: (claim) => void this.showRun(claim),
      step: (timeline, at) => this.stepChosen(timeline, at),
    });
    this.simulate = new SimulatePanel({
      graph: () => this.graph(null),
      simulate: (moves, random) => this.server.simulate(this.model(), null, moves, random),
    });
    this.coverage = new CoveragePanel({
      compute: () => void this.computeCoverage(),
      mark: (marks) => this.editor.mark("coverage", marks),
      reveal: (range) => this.reveal(range),
    });
    this.layout = layout(root, {
      check: () => void this.check(null),
      format: () => void this.format(),
      share: () => void this.share(),
      save: () => void this.save(),
      shortcuts: () => showShortcuts(),
      examples: () => this.exampleItems(),
      exports: () => this.exportItems(),
      language: (id) => this.changeLanguage(id),
      automatic: (isOn) => {
        localStorage.setItem(AUTO, isOn ? "yes" : "no");
        if (isOn) this.checkSoon();
      },
      tab: (id) => this.tabChosen(id),
      reconnect: () => this.connection.now(),
      panels: {
        claims: this.claims.element,
        run: this.run.element,
        simulate: this.simulate.element,
        coverage: this.coverage.element,
      },
    });
    this.layout.automatic.checked = localStorage.getItem(AUTO) !== "no";
    this.editor = new Editor(this.layout.editor, {
      changed: () => this.textChanged(),
      cursor: (line, column) => (this.layout.cursor.textContent = `${line}:${column}`),
      keys: [
        { key: "Mod-Enter", run: () => this.done(this.check(null)) },
        { key: "Mod-s", run: () => this.done(this.save()) },
        { key: "Mod-.", run: () => this.done(this.fixes()) },
      ],
    });
    this.server = new Server(
      {
        checked: (event) => this.checked(event),
        verdict: (event) => event.uri === this.uri && this.claims.verdict(event),
        outdated: (uri) => {
          if (uri !== this.uri) return;
          this.setOutdated();
          if (this.layout.automatic.checked) this.checkSoon();
        },
        progress: (text) => this.claims.progress(text),
        published: () => this.stateSoon(),
        saved: (digest, text) => void this.savedElsewhere(digest, text),
        diagnostics: (errors, warnings) => this.diagnosed(errors, warnings),
        message: (text, isError) => notify(text, isError),
      },
      () => this.editor.view,
    );
    this.connection = new Connection({
      opened: (transport) => void this.connected(() => this.server.connect(transport)),
      closed: () => {
        this.isOpen = false;
        this.server.disconnect();
      },
      changed: (state) => this.connectionChanged(state),
    });
    addEventListener("keydown", (event) => this.globalKey(event));
    addEventListener("hashchange", () => void this.openLink());
    addEventListener("beforeunload", () => keep(this.document));
  }

  async begin(): Promise<void> {
    const kept = ofTab();
    if (kept) this.open(kept);
    await this.connection.open();
  }

  // The document.

  /** Shows another document. */
  private open(document: PageDocument): void {
    this.isLoading = true;
    this.document = document;
    this.opened += 1;
    this.editor.setServer([]);
    this.editor.mark("core", []);
    this.editor.mark("run", []);
    this.editor.mark("coverage", []);
    this.editor.showVerdicts([]);
    const language = languageOf(document.name);
    this.editor.setLanguage(language.support);
    if (this.editor.text !== document.text) this.editor.load(document.text);
    this.isLoading = false;
    this.layout.setName(document.name, document.file !== null);
    this.layout.language.value = language.id;
    window.document.title = `${document.name} · gander`;
    this.claims.clear();
    this.run.clear();
    this.run.setClaims([]);
    this.simulate.clear();
    this.coverage.clear();
    this.graphs.clear();
    this.showSaved();
    this.attach();
    keep(document);
  }

  /** The model for requests of panels: its file says where it includes others from. */
  private model(): { name: string; text: string } {
    const { name, file } = this.document;
    return { name: file?.path ?? name, text: this.editor.text };
  }

  /** Opens the document at the server. */
  private attach(): void {
    if (!this.isOpen) return;
    const { name, file } = this.document;
    const language = languageOf(name);
    // Each opening has a name of its own, so that late answers are never about another text.
    const folder = file ? file.path.slice(0, file.path.lastIndexOf("/")) : `/gander-page/${this.opened}`;
    this.uri = `file://${folder.split("/").map(encodeURIComponent).join("/")}/${encodeURIComponent(name)}`;
    this.editor.setServer(this.server.features(this.uri, language.id));
    this.graphs.clear();
    this.endings.clear();
    this.awaited = [];
    if (this.layout.automatic.checked) this.checkSoon();
  }

  private textChanged(): void {
    if (this.isLoading) return;
    this.document.text = this.editor.text;
    this.setOutdated();
    this.showSaved();
    this.keepSoon();
    this.syncSoon();
    if (this.layout.automatic.checked) this.checkSoon();
  }

  /** What is shown is about an earlier text, or about included files that were changed. */
  private setOutdated(): void {
    this.graphs.clear();
    this.claims.setOutdated();
    this.simulate.setOutdated();
    this.coverage.setOutdated();
    this.editor.mark("core", []);
    this.editor.mark("run", []);
  }

  private showSaved(): void {
    const { file, text, saved } = this.document;
    this.layout.setSaved(file ? text === saved : null);
  }

  private changeLanguage(id: string): void {
    const language = LANGUAGES.find((l) => l.id === id) ?? LANGUAGES[0]!;
    const base = this.document.name.replace(/\.\w+$/, "");
    this.open({ ...this.document, name: `${base}${language.extension}`, file: null });
  }

  private exampleItems() {
    const items = (this.start?.examples ?? []).map((example) => ({
      label: example.name,
      about: example.about,
      run: () => void this.replace({ name: example.name, text: example.text, file: null, saved: example.text }),
    }));
    const blank = { label: "An empty model", about: "", run: () => void this.replace({ name: "model.sts", text: "", file: null, saved: "" }) };
    const upload = { label: "Open a file…", about: "from this machine", run: () => this.pickFile() };
    const link = { label: "Open a link…", about: "that contains a model", run: () => this.askForLink() };
    const own = this.start?.file?.text !== undefined && !this.document.file
      ? [{ label: this.start.file.name, about: "the file of the command line", run: () => this.openOwnFile() }]
      : [];
    return [...own, upload, link, blank, ...items];
  }

  /** Replaces the document, unless it has changes that are nowhere else. */
  private async replace(document: PageDocument): Promise<void> {
    const { text, saved, name } = this.document;
    if (text !== saved && text.trim() !== "") {
      const answer = await ask("Unsaved changes", `${name} was changed. What should happen to the changes?`, ["Download, then open", "Discard", "Cancel"]);
      if (answer === null || answer === "Cancel") return;
      if (answer !== "Discard") download(name, text);
    }
    history.replaceState(null, "", location.pathname + location.search);
    this.open(document);
    this.editor.view.focus();
  }

  private openOwnFile(): void {
    const file = this.start?.file;
    if (file?.text === undefined) return;
    const { name, path, text } = file;
    void this.replace({ name, text, saved: text, file: { path, digest: file.digest ?? null } });
  }

  private pickFile(): void {
    const input = h("input", { type: "file", accept: LANGUAGES.map((l) => l.extension).join(",") });
    input.addEventListener("change", () => {
      const file = input.files?.[0];
      if (!file) return;
      if (file.size > 16 << 20) return notify("The file is larger than 16 MB.", true);
      void file.text().then((text) => this.replace({ name: fileName(file.name), text, file: null, saved: text }));
    });
    input.click();
  }

  private askForLink(): void {
    const input = h("input", { "aria-label": "The link", placeholder: "http://127.0.0.1:…/#model=…", required: true });
    const form = h("form", { class: "link-form" }, input, h("button", { class: "main" }, "Open"));
    const box = dialog("Open a link that contains a model", form);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      box.close();
      void this.openFragment(input.value.slice(input.value.indexOf("#") + 1));
    });
  }

  private async openLink(): Promise<void> {
    if (location.hash.startsWith("#model=")) await this.openFragment(location.hash);
  }

  private async openFragment(fragment: string): Promise<boolean> {
    try {
      const model = await decodeModel(fragment);
      if (!model) {
        notify("This link contains no model.", true);
        return false;
      }
      await this.replace({ ...model, file: null, saved: model.text });
      return true;
    } catch (problem) {
      notify(`The link cannot be read: ${messageOf(problem)}`, true);
      return false;
    }
  }

  private async share(): Promise<void> {
    const fragment = await encodeModel({ name: this.document.name, text: this.editor.text });
    const link = `${location.origin}/#${fragment}`;
    try {
      await navigator.clipboard.writeText(link);
      notify("A link that contains the model was copied. It opens in any page of gander serve.");
    } catch {
      const field = h("textarea", { readonly: true, rows: 6, "aria-label": "The link" }, link);
      dialog("A link that contains the model", field);
      field.select();
    }
  }

  private async save(force = false): Promise<void> {
    const { file, name, text } = this.document;
    if (!file) {
      download(name, text);
      this.document.saved = text;
      return this.showSaved();
    }
    try {
      const answer = await this.server.save(text, file.digest, force);
      if (answer.saved) {
        file.digest = answer.digest;
        this.document.saved = text;
        this.showSaved();
        keep(this.document);
        return notify(`${name} was saved.`);
      }
      const choice = await ask("The file was changed", `${name} was changed by another program or tab since this page read it.`, ["Overwrite it", "Load it, lose mine", "Cancel"]);
      if (choice === "Overwrite it") await this.save(true);
      if (choice === "Load it, lose mine") {
        this.start = await this.server.start();
        this.document.saved = this.document.text;
        this.openOwnFile();
      }
    } catch (problem) {
      notify(`${name} was not saved: ${messageOf(problem)}`, true);
    }
  }

  private async savedElsewhere(digest: string, text: string): Promise<void> {
    if (!this.document.file || text === this.document.text) {
      if (this.document.file) this.document.file.digest = digest;
      return;
    }
    if (this.document.text === this.document.saved) {
      this.document.file.digest = digest;
      this.document.saved = text;
      this.editor.load(text);
      return notify("Another tab saved the file: its text is shown.");
    }
    notify("Another tab saved the file. Your text is kept; saving it will ask.");
  }

  // The session.

  private async connected(connect: () => Promise<void>): Promise<void> {
    try {
      await connect();
      this.isOpen = true;
      const isFirst = this.start === null;
      this.start = await this.server.start();
      this.layout.version.textContent = this.start.version ? `gander ${this.start.version}` : "gander";
      if (isFirst && (await this.openFirst())) return;
      this.attach();
    } catch (problem) {
      notify(`The session did not begin: ${messageOf(problem)}`, true);
    }
  }

  /** The document of a new page; false if the tab goes on with its own. */
  private async openFirst(): Promise<boolean> {
    if (location.hash.startsWith("#model=") && (await this.openFragment(location.hash))) return true;
    const file = this.start?.file;
    if (file?.error) notify(`${file.name}: ${file.error}`, true);
    const kept = ofTab();
    if (file?.text !== undefined && kept?.file?.path !== file.path) {
      this.openOwnFile();
      return true;
    }
    if (kept) {
      const isLost = kept.file && kept.file.path !== file?.path;
      if (isLost) this.document.file = null;
      if (!isLost && file?.text !== undefined && kept.text === kept.saved && kept.text !== file.text) {
        this.openOwnFile();
        return true;
      }
      this.layout.setName(this.document.name, this.document.file !== null);
      this.showSaved();
      return false;
    }
    const last = lastOfAll();
    const first = this.start?.examples[0];
    if (last && last.text.trim() !== "") this.open({ ...last, file: null });
    else if (first) this.open({ name: first.name, text: first.text, file: null, saved: first.text });
    return true;
  }

  private connectionChanged(state: ConnectionState): void {
    this.layout.setConnection(state);
  }

  private checked(event: CheckEvent): void {
    if (event.uri !== this.uri) return;
    this.claims.checked(event);
    if (event.state === "started") this.layout.setRunning(true);
    if (event.state !== "ended") return;
    this.layout.setRunning(false);
    this.stateSoon();
    this.endings.set(event.check, event.ending);
    this.settleAwaited();
    if (this.layout.tabs.selected === "run") this.run.pickFirst();
  }

  /** Does something when a check has ended. */
  private whenEnded(check: number, action: (ending: string) => void): void {
    this.awaited.push({ check, action });
    this.settleAwaited();
  }

  private settleAwaited(): void {
    const due = this.awaited.filter(({ check }) => this.endings.has(check));
    this.awaited = this.awaited.filter((waiting) => !due.includes(waiting));
    for (const { check, action } of due) action(this.endings.get(check)!);
  }

  private async refreshState(): Promise<void> {
    const uri = this.uri;
    try {
      const state = await this.server.state(uri);
      if (state && uri === this.uri && state.is_parsed) this.claims.setState(state);
    } catch {
      // The next event asks again.
    }
  }

  private diagnosed(errors: number, warnings: number): void {
    this.errors = errors;
    this.layout.setProblems(errors, warnings);
    this.claims.setErrors(errors);
  }

  private async check(claim: string | null, isAutomatic = false): Promise<void> {
    if (!this.isOpen) {
      if (!isAutomatic) notify("gander is not connected.", true);
      return;
    }
    if (this.errors > 0 && isAutomatic) return;
    if (!isAutomatic && this.layout.isNarrow()) this.layout.tabs.select("claims");
    try {
      await this.server.check(this.uri, claim);
    } catch (problem) {
      if (!isAutomatic) notify(messageOf(problem), true);
    }
  }

  private async attempt(action: () => Promise<unknown>): Promise<void> {
    try {
      await action();
    } catch (problem) {
      notify(messageOf(problem), true);
    }
  }

  private async format(): Promise<void> {
    await this.attempt(async () => {
      const edits = await this.server.format(this.uri);
      if (edits && edits.length > 0) this.server.apply(edits);
      else notify("The text is formatted already.");
    });
  }

  private async fixes(): Promise<void> {
    const found = await this.server.fixesAt(this.uri);
    if (found.length === 0) return notify("There is no quick fix here.");
    if (found.length === 1) return found[0]!.run();
    const title = await ask("Quick fixes", "Which one?", found.map((f) => f.title));
    found.find((f) => f.title === title)?.run();
  }

  private exportItems() {
    const own = languageOf(this.document.name).format;
    const formats: [string, string, string][] = [
      ["sts", "gander", "sts"],
      ["lustre", "Lustre", "lus"],
      ["smv", "SMV (nuXmv, NuSMV)", "smv"],
      ["horn", "Horn clauses (z3)", "smt2"],
      ["vmt", "VMT", "vmt"],
      ["btor2", "BTOR2", "btor2"],
      ["uppaal", "UPPAAL", "xml"],
      ["dot", "Graphviz", "dot"],
    ];
    const items = formats
      .filter(([format]) => format !== own)
      .map(([format, label, extension]) => ({
        label,
        about: `.${extension}`,
        run: () =>
          void this.attempt(async () => {
            const { text, notes } = await this.server.exported(this.model(), format);
            download(`${this.document.name.replace(/\.\w+$/, "")}.${extension}`, text);
            if (notes.length > 0) notify(notes.join(" "));
          }),
      }));
    const source = { label: "The model itself", about: this.document.name, run: () => download(this.document.name, this.editor.text) };
    return [source, ...items];
  }

  // Panels.

  private verdictsChanged(claims: Claim[]): void {
    const lines = claims.flatMap((claim): LineVerdict[] => {
      if (!claim.range) return [];
      const word = claim.known?.result.verdict ?? "open";
      const isCurrent = claim.known?.is_current ?? true;
      // A check that nobody wrote is shown where it fails.
      if (isStructural(claim) && (word === "holds" || word === "open")) return [];
      const text = `${claim.claim}: ${isCurrent ? WORD[word] : `${WORD[word]} before the edit`}`;
      return [{ line: claim.range.line, word, isCurrent, text }];
    });
    this.editor.showVerdicts(lines);
    this.run.setClaims(claims);
    const failing = claims.filter((c) => c.known?.is_current && (c.known.result.verdict === "fails" || c.known.result.verdict === "vacuous"));
    this.layout.tabs.badge("claims", failing.length > 0 ? String(failing.length) : "", "fails");
  }

  private graph(system: string | null): Promise<Graph | null> {
    const key = system ?? "";
    let found = this.graphs.get(key);
    if (!found) {
      found = this.server.graph(this.model(), system);
      this.graphs.set(key, found);
      found.catch(() => this.graphs.delete(key));
    }
    return found;
  }

  /** The evidence for the verdict of a claim; null if there is none. */
  private async evidence(claim: Claim): Promise<unknown> {
    const known = claim.known;
    if (!known?.is_current || known.result.verdict === "unknown") return null;
    if (!known.result.evidence) {
      const result = await this.server.result(this.uri, claim.claim);
      if (result && claim.known === known) this.claims.setResult(claim, result);
      return result?.evidence ?? null;
    }
    return known.result.evidence;
  }

  private async showRun(claim: Claim): Promise<void> {
    await this.attempt(async () => {
      const evidence = await this.evidence(claim);
      if (!evidence) return notify(`The evidence for ${claim.claim} was not kept: check it again.`);
      const timeline = await this.server.run(this.model(), claim.system, evidence);
      let graph: Graph | null = null;
      try {
        graph = await this.graph(claim.system);
      } catch {
        // The timeline is enough.
      }
      this.layout.tabs.select("run");
      this.run.show(claim, timeline, graph);
    });
  }

  private stepChosen(timeline: Timeline, at: number): void {
    const range = timeline.steps[at]?.range;
    if (!range) return this.editor.mark("run", []);
    this.editor.mark("run", [{ range, kind: "step", title: `Step ${timeline.steps[at]!.number} of the run` }]);
    if (!this.layout.isNarrow()) this.editor.scrollTo(range);
  }

  private async explain(claim: Claim): Promise<void> {
    const name = claim.claim;
    this.claims.setExplanation(name, { lines: ["Looking for what it rests on…"], elements: [] });
    await this.attempt(async () => {
      const { check } = await this.server.explain(this.uri, name);
      this.whenEnded(check, (ending) => {
        if (ending !== "finished") return this.claims.setExplanation(name, { lines: [`The explanation was not finished: ${ending}.`], elements: [] });
        void this.attempt(async () => {
          const found = explained(await this.server.explanation(this.uri, name), (range) => this.editor.placeOf(range));
          this.claims.setExplanation(name, found);
          const title = `The proof of ${name} rests on this.`;
          this.editor.mark("core", found.elements.flatMap(({ range }): Mark[] => (range ? [{ range, kind: "core", title }] : [])));
        });
      });
    });
  }

  private async computeCoverage(): Promise<void> {
    try {
      const { check } = await this.server.explain(this.uri, null);
      this.whenEnded(check, (ending) => {
        if (ending !== "finished") return this.coverage.failed(`Coverage was not finished: ${ending}.`);
        void this.attempt(async () => {
          const parts = await this.server.coverage(this.uri);
          this.coverage.show(
            parts.map(({ range, covered }) => {
              const place = this.editor.placeOf(range);
              return { range: place, covered, text: this.editor.excerpt(place) };
            }),
          );
        });
      });
    } catch (problem) {
      this.coverage.failed(messageOf(problem));
    }
  }

  private tabChosen(id: string): void {
    if (id === "run") this.run.pickFirst();
    if (id === "simulate" && !this.simulate.isRunning && this.isOpen && this.errors === 0) void this.simulate.start();
  }

  private reveal(range: Parameters<Editor["reveal"]>[0]): void {
    if (this.layout.isNarrow()) this.layout.tabs.select("model");
    this.editor.reveal(range);
  }

  private done(work: Promise<void>): boolean {
    void work;
    return true;
  }

  private globalKey(event: KeyboardEvent): void {
    const isMod = event.ctrlKey || event.metaKey;
    const target = event.target instanceof Element ? event.target : null;
    const isTyping = target?.closest("input, textarea, select, .cm-editor") !== null;
    if (isMod && event.key === "Enter" && !target?.closest(".cm-editor")) {
      event.preventDefault();
      void this.check(null);
    } else if (isMod && event.key === "s" && !target?.closest(".cm-editor")) {
      event.preventDefault();
      void this.save();
    } else if (event.altKey && /^[0-4]$/.test(event.key)) {
      event.preventDefault();
      const id = ["model", "claims", "run", "simulate", "coverage"][Number(event.key)]!;
      if (id === "model") {
        if (this.layout.isNarrow()) this.layout.tabs.select("model");
        this.editor.view.focus();
      } else this.layout.focusTab(id);
    } else if (event.key === "?" && !isTyping && !document.querySelector("dialog")) {
      event.preventDefault();
      showShortcuts();
    }
  }
}

