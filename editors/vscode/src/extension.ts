import * as vscode from 'vscode';
import { Commands } from './commands';
import { EDIT_SCHEME, MessageFiles } from './edit';
import { SECTION } from './settings';
import { Sidecar } from './sidecar';
import { HistoryStatus } from './status';
import { HistoryTree, Node } from './tree';

/** What other extensions may use. */
export interface Api {
  readonly isStarted: () => boolean;
  readonly request: <T>(method: string, params?: object) => Promise<T>;
  /** The nodes of the tree below one, as the view shows them. */
  readonly children: (node?: Node) => Promise<Node[]>;
}

export function activate(context: vscode.ExtensionContext): Api {
  const sidecar = new Sidecar();
  const tree = new HistoryTree(sidecar);
  context.subscriptions.push(
    sidecar,
    tree,
    new HistoryStatus(sidecar),
    sidecar.onDidChange(() => tree.refreshSoon()),
    vscode.window.createTreeView('historySidecar.histories', { treeDataProvider: tree, showCollapseAll: true }),
    vscode.workspace.registerFileSystemProvider(EDIT_SCHEME, new MessageFiles(sidecar), { isCaseSensitive: true }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration(`${SECTION}.path`) || event.affectsConfiguration(`${SECTION}.store`)) {
        if (sidecar.isStarted) {
          await sidecar.restart().catch(() => undefined);
          tree.refresh();
        }
      } else if (event.affectsConfiguration(SECTION)) {
        await sidecar.configure();
      }
    }),
  );
  new Commands(sidecar, tree).register(context);
  if (vscode.workspace.textDocuments.some((document) => document.uri.scheme === 'history')) {
    // A restored window shows a transcript already; its text comes from the sidecar.
    void sidecar.client().catch(() => undefined);
  }
  return {
    isStarted: () => sidecar.isStarted,
    request: (method, params) => sidecar.request(method, params),
    children: (node) => tree.getChildren(node),
  };
}
