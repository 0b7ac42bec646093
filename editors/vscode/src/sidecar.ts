import * as vscode from 'vscode';
import { LanguageClient, LanguageClientOptions, State } from 'vscode-languageclient/node';
import { ProgramNotFound, SECTION, defaults, findProgram } from './settings';

/** The one connection of this window; the process starts with the first request. */
export class Sidecar implements vscode.Disposable {
  private starting: Promise<LanguageClient> | undefined;
  private readonly changed = new vscode.EventEmitter<string>();
  private readonly output = vscode.window.createOutputChannel('History Sidecar', { log: true });

  /** Fires with the name of a history that changed, whoever changed it. */
  readonly onDidChange = this.changed.event;

  get isStarted(): boolean {
    return this.starting !== undefined;
  }

  async request<T>(method: string, params: object = {}): Promise<T> {
    const client = await this.client();
    return client.sendRequest<T>(method, params);
  }

  async execute<T>(command: string, argument: object): Promise<T> {
    return this.request<T>('workspace/executeCommand', { command, arguments: [argument] });
  }

  client(): Promise<LanguageClient> {
    this.starting ??= this.start().catch((error: unknown) => {
      this.starting = undefined;
      throw error;
    });
    return this.starting;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.client();
  }

  async stop(): Promise<void> {
    const starting = this.starting;
    this.starting = undefined;
    const client = await starting?.catch(() => undefined);
    await client?.dispose(2000).catch(() => undefined);
  }

  /** Tell the sidecar about settings that the user changed. */
  async configure(): Promise<void> {
    if (this.starting) {
      const client = await this.client();
      await client.sendNotification('workspace/didChangeConfiguration', { settings: { historySidecar: defaults() } });
    }
  }

  log(error: unknown): void {
    this.output.error(error instanceof Error ? error.message : String(error));
  }

  showOutput(): void {
    this.output.show();
  }

  dispose(): void {
    void this.stop();
    this.changed.dispose();
    this.output.dispose();
  }

  private async start(): Promise<LanguageClient> {
    let program;
    try {
      program = findProgram();
    } catch (error) {
      await this.tell(error instanceof ProgramNotFound ? 'missing' : 'failed');
      throw error;
    }
    const options: LanguageClientOptions = {
      documentSelector: [{ scheme: 'history' }, { scheme: 'file', pattern: '**/*.history.md' }],
      outputChannel: this.output,
      initializationOptions: {
        sidecar: {
          protocolVersion: 1,
          client: { name: 'vscode', version: vscode.version },
          defaults: defaults(),
        },
      },
    };
    const client = new LanguageClient(SECTION, 'History Sidecar', program, options);
    client.onNotification('history/didChange', (change: { history: string }) => this.changed.fire(change.history));
    client.onNotification('history/didDelete', (change: { history: string }) => this.changed.fire(change.history));
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) {
        // A restarted process knows nothing of the subscriptions of the one before.
        void client.sendRequest('history/subscribe', { prefix: '', entries: false });
      }
    });
    try {
      await client.start();
    } catch (error) {
      await this.tell('failed');
      throw error;
    }
    await this.tell('running');
    return client;
  }

  private async tell(state: 'running' | 'missing' | 'failed'): Promise<void> {
    await vscode.commands.executeCommand('setContext', 'historySidecar.state', state);
  }
}
