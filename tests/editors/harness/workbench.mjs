// A real VS Code: its server from the npm package code-server, its workbench in headless Chromium.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const SETTINGS = {
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'workbench.startupEditor': 'none',
  'chat.disableAIFeatures': true,
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'git.enabled': false,
  'workbench.enableExperiments': false,
  'files.watcherExclude': { '**': true },
};

export const CHROMIUM = {
  executablePath: process.env.CHROMIUM,
  headless: true,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
};

/** Start `out/server-main.js` itself: code-server's wrapper would hide the test options. */
export async function startServer({ dataDir, settings = {}, args = [] }) {
  // Settings must be in both places, else the remote half keeps its defaults.
  for (const who of ['User', 'Machine']) {
    const folder = path.join(dataDir, 'data', who);
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'settings.json'), JSON.stringify({ ...SETTINGS, ...settings }));
  }
  const argv = [
    path.join(process.env.VSCODE_SERVER, 'out/server-main.js'),
    ...['--host', '127.0.0.1', '--port', '0', '--without-connection-token', '--accept-server-license-terms'],
    ...['--server-data-dir', dataDir, '--telemetry-level', 'off', '--log', 'off', ...args],
  ];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const kill = (signal) => {
    try {
      process.kill(-child.pid, signal); // the whole group: extension host and pty host too
    } catch {}
  };
  process.on('exit', () => kill('SIGKILL'));
  let output = '';
  const port = await new Promise((resolve, reject) => {
    const read = (data) => {
      output += data;
      const found = /Extension host agent listening on (\d+)/.exec(output);
      if (found) {
        resolve(Number(found[1]));
      }
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('exit', (code) => reject(new Error(`VS Code's server ended with ${code}\n${output}`)));
    setTimeout(() => reject(new Error(`VS Code's server did not start\n${output}`)), 60000).unref();
  });
  return { port, url: `http://127.0.0.1:${port}`, output: () => output, kill };
}
