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
  if (process.env.CONSOLE) {
    page.on('console', (message) => fs.appendFileSync(process.env.CONSOLE, `${message.text()}\n`));
  }
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
  // A request names the picture; its second line is the text of a row that must be shown first, its third of one to click.
  let busy = false;
  const shooter = setInterval(async () => {
    const request = !busy && fs.existsSync(wanted) ? fs.readFileSync(wanted, 'utf8').split('\n') : [''];
    if (!request[0]) {
      return;
    }
    busy = true;
    try {
      if (request[1]) {
        await page.locator('.monaco-list-row', { hasText: request[1] }).first().waitFor({ timeout: 30000 });
      }
      if (request[2]) {
        await page.locator('.monaco-list-row', { hasText: request[2] }).first().click({ timeout: 30000 });
      }
      await page.screenshot({ path: path.join(process.env.ARTEFACTS, `${request[0]}.png`) });
      fs.writeFileSync(`${wanted}.answer`, 'ok');
    } catch (error) {
      await page.screenshot({ path: path.join(process.env.ARTEFACTS, `${request[0]}-failed.png`) }).catch(() => {});
      fs.writeFileSync(`${wanted}.answer`, String(error));
    }
    fs.rmSync(wanted, { force: true });
    busy = false;
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
