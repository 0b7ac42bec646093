import * as vscode from 'vscode';
import { EntryAt, address } from './protocol';
import { Sidecar } from './sidecar';

export const EDIT_SCHEME = 'history-edit';

/**
 * One message of a history as a file: `history-edit:/<history>/<entry id>.md?<block>`.
 *
 * Saving sends the new text with the version it was read at (`setText`), so the rest of the entry stays byte for byte,
 * and an edit on top of somebody else's change is refused instead of lost.
 */
export class MessageFiles implements vscode.FileSystemProvider {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;
  private readonly versions = new Map<string, { version: number; size: number; time: number }>();

  constructor(private readonly sidecar: Sidecar) {}

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const { history, entryId, block } = parse(uri);
    const entry = await this.entry(history, entryId);
    const part = entry.texts.find((text) => text.block === block);
    if (!part) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    const bytes = new TextEncoder().encode(part.text);
    this.remember(uri, entry.version, bytes.length);
    return bytes;
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const { history, entryId, block } = parse(uri);
    const known = this.versions.get(uri.toString());
    const version = known?.version ?? (await this.entry(history, entryId)).version;
    const text = new TextDecoder().decode(content);
    const edit = { kind: 'setText', entryId, text, ...(block === null ? {} : { block }) };
    try {
      const answer = await this.sidecar.request<{ version: number }>('history/applyEdits', {
        history,
        ifVersion: version,
        edits: [edit],
      });
      this.remember(uri, answer.version, content.length);
      this.changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
    } catch (error) {
      throw vscode.FileSystemError.Unavailable(error instanceof Error ? error.message : String(error));
    }
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    if (!uri.path.endsWith('.md')) {
      // Before it writes, VS Code makes sure that the folder is there.
      return { type: vscode.FileType.Directory, ctime: 0, mtime: 0, size: 0 };
    }
    if (!this.versions.has(uri.toString())) {
      await this.readFile(uri);
    }
    const known = this.versions.get(uri.toString());
    return { type: vscode.FileType.File, ctime: 0, mtime: known?.time ?? 0, size: known?.size ?? 0 };
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  private entry(history: string, entryId: string): Promise<EntryAt> {
    return this.sidecar.execute<EntryAt>('history.entryAt', { uri: address(history), entryId });
  }

  private remember(uri: vscode.Uri, version: number, size: number): void {
    this.versions.set(uri.toString(), { version, size, time: Date.now() });
  }
}

export function editUri(entry: EntryAt): vscode.Uri | undefined {
  const part = entry.texts[0];
  if (!part) {
    return undefined;
  }
  return vscode.Uri.from({
    scheme: EDIT_SCHEME,
    path: `/${entry.history}/${encodeURIComponent(entry.entryId)}.md`,
    query: part.block === null ? '' : `block=${part.block}`,
  });
}

function parse(uri: vscode.Uri): { history: string; entryId: string; block: number | null } {
  const match = /^\/(.+)\/([^/]+)\.md$/.exec(uri.path);
  if (!match?.[1] || !match[2]) {
    throw vscode.FileSystemError.FileNotFound(uri);
  }
  const block = /^block=(\d+)$/.exec(uri.query);
  return { history: match[1], entryId: decodeURIComponent(match[2]), block: block ? Number(block[1]) : null };
}
