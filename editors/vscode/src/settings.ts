import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';

export const SECTION = 'historySidecar';

export class ProgramNotFound extends Error {
  constructor() {
    super('The program history-sidecar was not found. Install it, or set historySidecar.path.');
  }
}

export function configuration(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration(SECTION);
}

/** The program and its arguments: by setting, then environment, then PATH. */
export function findProgram(): { command: string; args: string[] } {
  const store = configuration().get<string>('store', '').trim();
  const args = store ? ['--store', store] : [];
  const wanted = configuration().get<string>('path', '').trim() || process.env['HISTORY_SIDECAR'] || '';
  const command = wanted ? executable(wanted) : onPath('history-sidecar');
  if (!command) {
    throw new ProgramNotFound();
  }
  return { command, args };
}

/** What the sidecar is told at `initialize`, and again when the user changes it. */
export function defaults(): object {
  const current = configuration();
  return {
    vendors: current.get<string[]>('vendors', []),
    codeLens: current.get<boolean>('codeLens', false),
    inlayHints: current.get<boolean>('inlayHints', false),
  };
}

function executable(file: string): string | undefined {
  if (!file.includes(path.sep) && !file.includes('/')) {
    return onPath(file);
  }
  return isExecutable(file) ? file : undefined;
}

function onPath(name: string): string | undefined {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', ''] : [''];
  for (const folder of (process.env['PATH'] ?? '').split(path.delimiter)) {
    for (const ending of endings) {
      const file = path.join(folder, name + ending);
      if (folder && isExecutable(file)) {
        return file;
      }
    }
  }
  return undefined;
}

function isExecutable(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
