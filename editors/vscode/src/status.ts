import * as vscode from 'vscode';
import { HistoryInfo, historyOf } from './protocol';
import { Sidecar } from './sidecar';
import { tokens } from './tree';

const REFRESH_DELAY = 150;

/** The language status of a transcript: how long it is, how many tokens, which version. */
export class HistoryStatus implements vscode.Disposable {
  private readonly item = vscode.languages.createLanguageStatusItem('historySidecar.history', { scheme: 'history' });
  private readonly listeners: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly sidecar: Sidecar) {
    this.item.name = 'History';
    this.item.command = { command: 'historySidecar.versions', title: 'Versions' };
    this.listeners = [
      vscode.window.onDidChangeActiveTextEditor(() => this.updateSoon()),
      sidecar.onDidChange((history) => {
        if (history === this.history) {
          this.updateSoon();
        }
      }),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.listeners, this.item).dispose();
  }

  private get history(): string | undefined {
    const uri = vscode.window.activeTextEditor?.document.uri;
    return uri?.scheme === 'history' ? historyOf(uri.path) : undefined;
  }

  private updateSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.update();
    }, REFRESH_DELAY);
  }

  private async update(): Promise<void> {
    const history = this.history;
    if (!history || !this.sidecar.isStarted) {
      return;
    }
    const info = await this.sidecar.request<HistoryInfo>('history/info', { history }).catch(() => undefined);
    this.item.text = info ? [`${info.len} entries`, tokens(info.tokenEstimate)].filter(Boolean).join(' · ') : 'no such history';
    this.item.detail = info ? `version ${info.version}` : '';
  }
}
