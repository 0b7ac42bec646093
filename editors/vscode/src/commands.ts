import * as vscode from 'vscode';
import { editUri } from './edit';
import {
  EntryAt,
  HistoryInfo,
  PINNED,
  Page,
  SearchHit,
  VendorInfo,
  VersionInfo,
  address,
  historyOf,
} from './protocol';
import { Sidecar } from './sidecar';
import { HistoryTree, MoreNode, Node, tokens } from './tree';

type Target = Node | string | vscode.Uri | undefined;

/** What the palette, the tree and the editor menus run. Each command works with or without a target. */
export class Commands {
  constructor(
    private readonly sidecar: Sidecar,
    private readonly tree: HistoryTree,
  ) {}

  register(context: vscode.ExtensionContext): void {
    const table: Record<string, (target?: Target, extra?: string) => Promise<unknown>> = {
      open: (target, entryId) => this.open(target, entryId),
      openProjection: (target) => this.openProjection(target),
      openRaw: async (target) => this.show(address(await this.history(target), 'jsonl')),
      search: () => this.search(),
      refresh: async () => this.tree.refresh(),
      append: (target, text) => this.append(target, text),
      rename: (target, to) => this.rename(target, to),
      setTitle: (target, title) => this.setTitle(target, title),
      pin: (target) => this.pin(target, true),
      unpin: (target) => this.pin(target, false),
      fork: (target, to) => this.fork(target, to),
      forkHere: (target) => this.forkHere(target),
      delete: (target, sure) => this.delete(target, sure === 'sure'),
      undo: async (target) => this.sidecar.execute('history.revert', { history: await this.history(target) }),
      versions: (target) => this.versions(target),
      editMessage: (target) => this.editMessage(target),
      cut: (target, sure) => this.cut(target, sure === 'sure'),
      copyProjection: (target, vendor) => this.copyProjection(target, vendor),
      export: (target) => this.export(target),
      restart: async () => {
        await this.sidecar.restart();
        this.tree.refresh();
      },
      showOutput: async () => this.sidecar.showOutput(),
    };
    for (const [name, run] of Object.entries(table)) {
      context.subscriptions.push(
        vscode.commands.registerCommand(`historySidecar.${name}`, (target?: Target, extra?: unknown) =>
          attempt(() => run(target, typeof extra === 'string' ? extra : undefined)),
        ),
      );
    }
    context.subscriptions.push(
      vscode.commands.registerCommand('historySidecar.showMore', (node: MoreNode) => this.tree.showMore(node)),
    );
  }

  private async open(target: Target, entryId?: string): Promise<string> {
    const editor = await this.show(address(await this.history(target)));
    if (entryId) {
      const place = await this.sidecar.execute<EntryAt>('history.entryAt', {
        uri: editor.document.uri.toString(),
        entryId,
      });
      const start = new vscode.Position(place.startLine, 0);
      editor.selection = new vscode.Selection(start, start);
      editor.revealRange(new vscode.Range(start, start), vscode.TextEditorRevealType.AtTop);
    }
    return editor.document.getText();
  }

  private async show(uri: string): Promise<vscode.TextEditor> {
    await this.sidecar.client();
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
    return vscode.window.showTextDocument(document, { preview: true });
  }

  private async openProjection(target: Target): Promise<void> {
    const history = await this.history(target);
    const vendor = await this.vendor();
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(address(history, `${vendor}.json`)));
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
  }

  private async search(): Promise<void> {
    interface Item extends vscode.QuickPickItem {
      hit?: SearchHit;
    }
    const picker = vscode.window.createQuickPick<Item>();
    picker.placeholder = 'Words that an entry holds';
    picker.matchOnDescription = picker.matchOnDetail = true;
    let latest = 0;
    picker.onDidChangeValue(async (query) => {
      const mine = ++latest;
      if (query.trim().length < 2) {
        picker.items = [];
        return;
      }
      picker.busy = true;
      const found = await this.sidecar
        .request<Page<SearchHit>>('history/search', { query, limit: 50 })
        .catch(() => ({ data: [] as SearchHit[] }));
      if (mine === latest) {
        picker.busy = false;
        picker.items = found.data.map((hit) => ({
          label: hit.snippet.replace(/\s+/g, ' '),
          description: `${hit.history} · ${hit.index}`,
          alwaysShow: true,
          hit,
        }));
      }
    });
    picker.onDidAccept(() => {
      const hit = picker.selectedItems[0]?.hit;
      picker.hide();
      if (hit) {
        void attempt(() => this.open(hit.history, hit.entryId));
      }
    });
    picker.onDidHide(() => picker.dispose());
    picker.show();
  }

  private async append(target: Target, given?: string): Promise<void> {
    const history = target || this.active() ? await this.history(target) : await this.newOrKnown();
    const text = given ?? (await ask('Message', ''));
    await this.sidecar.request('history/append', {
      history,
      entries: [{ message: { role: 'user', content: text } }],
    });
  }

  private async rename(target: Target, given?: string): Promise<void> {
    const history = await this.history(target);
    await this.sidecar.request('history/rename', { history, to: given ?? (await ask('New name', history)) });
  }

  private async setTitle(target: Target, given?: string): Promise<void> {
    const history = await this.history(target);
    const info = await this.sidecar.request<HistoryInfo>('history/info', { history });
    const title = given ?? (await ask('Title', info.title ?? '', true));
    await this.sidecar.request('history/setMetadata', { history, patch: { title: title || null } });
    this.tree.refreshSoon();
  }

  private async pin(target: Target, pinned: boolean): Promise<void> {
    const history = await this.history(target);
    const info = await this.sidecar.request<HistoryInfo>('history/info', { history });
    const tags = info.tags.filter((tag) => tag !== PINNED);
    await this.sidecar.request('history/setMetadata', { history, patch: { tags: pinned ? [...tags, PINNED] : tags } });
    this.tree.refreshSoon();
  }

  private async fork(target: Target, given?: string): Promise<void> {
    const history = await this.history(target);
    await this.sidecar.execute('history.fork', { history, to: given ?? (await ask('Name of the fork', `${history}-fork`)) });
  }

  private async forkHere(target: Target): Promise<void> {
    const entry = await this.entry(target);
    await this.sidecar.execute('history.fork', {
      history: entry.history,
      atVersion: entry.version,
      len: entry.index + 1,
    });
  }

  private async delete(target: Target, sure: boolean): Promise<void> {
    const history = await this.history(target);
    if (sure || (await confirmed(`Delete ${history}?`, 'Delete'))) {
      await this.sidecar.request('history/delete', { history });
    }
  }

  private async versions(target: Target): Promise<void> {
    const history = await this.history(target);
    const page = await this.sidecar.request<Page<VersionInfo>>('history/versions', { history, limit: 200 });
    const picked = await vscode.window.showQuickPick(
      page.data.map((change) => ({
        label: `${change.version}`,
        description: `${change.kind} · ${change.len} entries`,
        detail: new Date(change.ts).toLocaleString(),
        change,
      })),
      { placeHolder: 'The version to bring back' },
    );
    if (picked) {
      await this.sidecar.request('history/revert', { history, toVersion: picked.change.version });
    }
  }

  private async editMessage(target: Target): Promise<void> {
    const uri = editUri(await this.entry(target));
    if (!uri) {
      throw new Error('This entry has no text to edit.');
    }
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), {
      viewColumn: vscode.ViewColumn.Beside,
      preview: false,
    });
  }

  private async cut(target: Target, sure: boolean): Promise<void> {
    const entry = await this.entry(target);
    if (sure || (await confirmed(`Cut ${entry.history} back to entry ${entry.index}?`, 'Cut'))) {
      await this.sidecar.request('history/truncate', {
        history: entry.history,
        ifVersion: entry.version,
        afterEntry: entry.entryId,
      });
    }
  }

  private async copyProjection(target: Target, given?: string): Promise<void> {
    const history = await this.history(target);
    const vendor = given ?? (await this.vendor());
    const answer = await this.sidecar.execute<{ text: string }>('history.copyProjection', { history, vendor });
    await vscode.env.clipboard.writeText(answer.text);
  }

  private async export(target: Target): Promise<void> {
    const history = await this.history(target);
    const format = await vscode.window.showQuickPick(
      [
        { label: 'Markdown', id: 'markdown', ending: 'history.md' },
        { label: 'JSON lines', id: 'own-jsonl', ending: 'jsonl', description: 'loses nothing' },
      ],
      { placeHolder: 'Format' },
    );
    const redact = await vscode.window.showQuickPick(
      [
        { label: 'Mask secrets', redact: true },
        { label: 'As it is', redact: false },
      ],
      { placeHolder: 'Keys, tokens and passwords in the text' },
    );
    const last = history.split('/').pop() ?? history;
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const to =
      format && redact
        ? await vscode.window.showSaveDialog(
            folder ? { defaultUri: vscode.Uri.joinPath(folder, `${last}.${format.ending}`) } : {},
          )
        : undefined;
    if (format && redact && to) {
      const answer = await this.sidecar.request<{ text: string }>('history/export', {
        history,
        format: format.id,
        redact: redact.redact,
      });
      await vscode.workspace.fs.writeFile(to, new TextEncoder().encode(answer.text));
    }
  }

  // --- what a command is about -----------------------------------------------------------------------------------

  private active(): string | undefined {
    const uri = vscode.window.activeTextEditor?.document.uri;
    return uri?.scheme === 'history' ? historyOf(uri.path) : undefined;
  }

  private async history(target: Target): Promise<string> {
    if (typeof target === 'string') {
      return target.startsWith('history:') ? (historyOf(vscode.Uri.parse(target).path) ?? target) : target;
    }
    if (target instanceof vscode.Uri) {
      const named = historyOf(target.path);
      if (named) {
        return named;
      }
    } else if (target?.kind === 'history') {
      return target.info.history;
    } else if (target?.kind === 'entry') {
      return target.history;
    }
    const active = this.active();
    if (active) {
      return active;
    }
    const picked = await this.pick();
    if (!picked) {
      throw new vscode.CancellationError();
    }
    return picked;
  }

  private async pick(): Promise<string | undefined> {
    const page = this.sidecar.request<Page<HistoryInfo>>('history/list', { orderBy: 'updatedAt', limit: 200 });
    const items = page.then((found) =>
      found.data.map((info) => ({
        label: info.history,
        description: [info.title ?? '', `${info.len} entries`, tokens(info.tokenEstimate)].filter(Boolean).join(' · '),
      })),
    );
    const picked = await vscode.window.showQuickPick(items, { placeHolder: 'History', matchOnDescription: true });
    return picked?.label;
  }

  private async newOrKnown(): Promise<string> {
    return ask('Name of the history', 'notes');
  }

  private async vendor(): Promise<string> {
    const page = this.sidecar.request<{ data: VendorInfo[] }>('wire/vendors');
    const items = page.then((found) => found.data.map((vendor) => ({ label: vendor.id, description: vendor.title })));
    const picked = await vscode.window.showQuickPick(items, { placeHolder: 'Vendor' });
    if (!picked) {
      throw new vscode.CancellationError();
    }
    return picked.label;
  }

  private async entry(target: Target): Promise<EntryAt> {
    if (target && typeof target === 'object' && 'kind' in target && target.kind === 'entry') {
      return this.sidecar.execute<EntryAt>('history.entryAt', { uri: address(target.history), entryId: target.item.id });
    }
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.uri.scheme !== 'history') {
      throw new Error('Put the cursor on an entry of a transcript.');
    }
    return this.sidecar.execute<EntryAt>('history.entryAt', {
      uri: editor.document.uri.toString(),
      line: editor.selection.active.line,
    });
  }
}

async function ask(prompt: string, value: string, mayBeEmpty = false): Promise<string> {
  const answer = await vscode.window.showInputBox({ prompt, value });
  if (answer === undefined || (!answer && !mayBeEmpty)) {
    throw new vscode.CancellationError();
  }
  return answer;
}

async function confirmed(question: string, verb: string): Promise<boolean> {
  const detail = 'Older versions stay readable and can be brought back.';
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, verb)) === verb;
}

/** Run a command; a failure is one sentence for the user, never a stack. */
async function attempt(run: () => Promise<unknown>): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof vscode.CancellationError)) {
      const message = error instanceof Error ? error.message : String(error);
      void vscode.window.showErrorMessage(`History: ${message}`);
    }
    return undefined;
  }
}
