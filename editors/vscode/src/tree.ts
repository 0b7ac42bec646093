import * as vscode from 'vscode';
import { HistoryInfo, Outline, OutlineItem, PINNED, Page, address } from './protocol';
import { Sidecar } from './sidecar';

const PAGE = 100;
const REFRESH_DELAY = 150;

export interface HistoryNode {
  kind: 'history';
  info: HistoryInfo;
}

export interface EntryNode {
  kind: 'entry';
  history: string;
  version: number;
  item: OutlineItem;
}

export interface MoreNode {
  kind: 'more';
  history: HistoryNode;
  earlier: number;
}

export type Node = HistoryNode | EntryNode | MoreNode;

const ICONS: Record<string, string> = {
  system: 'gear',
  user: 'account',
  assistant: 'sparkle',
  tool: 'tools',
  note: 'note',
  summary: 'fold',
};

/** Histories, pinned ones first, the newest first; below each its newest entries, a page at a time. */
export class HistoryTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<Node | undefined>();
  readonly onDidChangeTreeData = this.emitter.event;
  private readonly shown = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly sidecar: Sidecar) {}

  /** Read again soon, once for a burst of changes. */
  refreshSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.emitter.fire(undefined);
    }, REFRESH_DELAY);
  }

  refresh(): void {
    this.emitter.fire(undefined);
  }

  showMore(node: MoreNode): void {
    const name = node.history.info.history;
    this.shown.set(name, (this.shown.get(name) ?? PAGE) + PAGE);
    this.emitter.fire(node.history);
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (!node) {
      try {
        const histories = await this.histories();
        // Only now: while they are read, the view must not say that there are none.
        void vscode.commands.executeCommand('setContext', 'historySidecar.empty', histories.length === 0);
        return histories;
      } catch (error) {
        this.sidecar.log(error); // the welcome view says what to do
        return [];
      }
    }
    return node.kind === 'history' ? this.entries(node) : [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case 'history':
        return historyItem(node.info);
      case 'entry':
        return entryItem(node);
      case 'more': {
        const item = new vscode.TreeItem(`${node.earlier} earlier entries…`);
        item.command = { command: 'historySidecar.showMore', title: 'Show More', arguments: [node] };
        return item;
      }
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.emitter.dispose();
  }

  private async histories(): Promise<HistoryNode[]> {
    const found: HistoryInfo[] = [];
    let cursor: string | null = null;
    do {
      const page: Page<HistoryInfo> = await this.sidecar.request('history/list', {
        orderBy: 'updatedAt',
        limit: 200,
        ...(cursor ? { cursor } : {}),
      });
      found.push(...page.data);
      cursor = page.nextCursor;
    } while (cursor && found.length < 1000);
    const pinned = (info: HistoryInfo) => info.tags.includes(PINNED);
    return [...found.filter(pinned), ...found.filter((info) => !pinned(info))].map((info) => ({ kind: 'history', info }));
  }

  private async entries(node: HistoryNode): Promise<Node[]> {
    const count = this.shown.get(node.info.history) ?? PAGE;
    const outline = await this.sidecar.request<Outline>('history/outline', {
      history: node.info.history,
      start: -count,
      count,
    });
    const entries = outline.data.map((item): EntryNode => {
      return { kind: 'entry', history: node.info.history, version: outline.version, item };
    });
    const earlier = outline.len - entries.length;
    return earlier > 0 ? [{ kind: 'more', history: node, earlier }, ...entries] : entries;
  }
}

function historyItem(info: HistoryInfo): vscode.TreeItem {
  const pinned = info.tags.includes(PINNED);
  const item = new vscode.TreeItem(info.title || info.history, vscode.TreeItemCollapsibleState.Collapsed);
  item.id = `history/${info.history}`;
  item.contextValue = pinned ? 'history.pinned' : 'history';
  item.iconPath = new vscode.ThemeIcon(pinned ? 'pinned' : 'comment-discussion');
  const words = [info.title ? info.history : '', `${info.len} entries`, tokens(info.tokenEstimate)];
  item.description = words.filter(Boolean).join(' · ');
  item.tooltip = `${info.history}\nversion ${info.version}\nchanged ${new Date(info.updatedAt).toLocaleString()}`;
  return item;
}

function entryItem(node: EntryNode): vscode.TreeItem {
  const { item: row, history } = node;
  const item = new vscode.TreeItem(row.line || row.role);
  item.id = `entry/${history}/${row.id}`;
  item.contextValue = 'entry';
  item.iconPath = new vscode.ThemeIcon(ICONS[row.role] ?? 'circle-outline');
  item.description = [`${row.index}`, tokens(row.tokens), row.elided ? 'elided' : ''].filter(Boolean).join(' · ');
  item.tooltip = `${row.index}. ${row.role}${row.ts === null ? '' : `\n${new Date(row.ts).toLocaleString()}`}`;
  item.accessibilityInformation = { label: `${row.role} message ${row.index}: ${row.line}` };
  item.command = {
    command: 'historySidecar.open',
    title: 'Open Transcript',
    arguments: [address(history), row.id],
  };
  return item;
}

export function tokens(count: number | null): string {
  if (count === null) {
    return '';
  }
  return count < 10_000 ? `${count} tokens` : `${Math.round(count / 1000)}k tokens`;
}
