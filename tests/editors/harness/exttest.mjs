// Runs TESTS (a CommonJS module with `run`) inside the extension host, with EXTENSION loaded; exit code 0 if it resolved.
//
// As VS Code's own remote integration tests do: extensionDevelopmentPath and extensionTestsPath in the payload of the
// page. A built VS Code takes them only with --enable-smoke-test-driver. `codeAutomationExit` brings the exit code.
// The test asks for a screenshot by writing a file name into $STAGE/shot.
import fs from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { CHROMIUM, startServer } from './workbench.mjs';

const stage = process.env.STAGE;
const workspace = path.join(stage, 'workspace');
fs.mkdirSync(workspace, { recursive: true });
const server = await startServer({
  dataDir: path.join(stage, 'vscode'),
  args: ['--enable-smoke-test-driver'],
  // The extension host gets the PATH of a login shell, not ours.
  settings: { 'historySidecar.path': path.join(stage, 'bin', 'history-sidecar') },
});
const browser = await chromium.launch(CHROMIUM);
let code = 1;
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const done = new Promise((resolve, reject) => {
    page.exposeFunction('codeAutomationExit', resolve);
    setTimeout(() => reject(new Error('timed out')), 150000).unref();
  });
  await page.exposeFunction('codeAutomationLog', () => {});
  const authority = `vscode-remote://127.0.0.1:${server.port}`;
  const payload = JSON.stringify([
    ['extensionDevelopmentPath', authority + process.env.EXTENSION],
    ['extensionTestsPath', authority + process.env.TESTS],
    ['skipWelcome', 'true'],
  ]);
  await page.goto(`${server.url}/?folder=${encodeURIComponent(workspace)}&payload=${encodeURIComponent(payload)}`);
  const wanted = path.join(stage, 'shot');
  const shooter = setInterval(async () => {
    if (fs.existsSync(wanted)) {
      const name = fs.readFileSync(wanted, 'utf8').trim();
      if (name) {
        await page.screenshot({ path: path.join(process.env.ARTEFACTS, `${name}.png`) }).catch(() => {});
        fs.rmSync(wanted, { force: true });
      }
    }
  }, 100);
  code = await done;
  clearInterval(shooter);
} catch (error) {
  console.error(String(error), server.output().slice(-2000));
} finally {
  await browser.close();
  server.kill('SIGTERM');
  await new Promise((resolve) => setTimeout(resolve, 500));
  server.kill('SIGKILL');
}
process.exit(code);
