// Opens a history that is empty and one that is long; each line of $STAGE/report is a name and the seconds it took.
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');

exports.run = async () => {
  const api = await vscode.extensions.getExtension('history-sidecar.history-sidecar').activate();
  const mark = () => api.request('sidecar/info');
  const timed = async (name, body) => {
    await mark();
    const started = performance.now();
    const result = await body();
    const took = (performance.now() - started) / 1000;
    await mark();
    fs.appendFileSync(path.join(process.env.STAGE, 'report'), `${name} ${took.toFixed(4)}\n`);
    return result;
  };
  await mark();
  // The first document brings much of the workbench up, whatever it holds.
  await vscode.commands.executeCommand('historySidecar.open', 'warm');
  for (const name of ['empty', 'long']) {
    const text = await timed(name, () => vscode.commands.executeCommand('historySidecar.open', name));
    assert.match(text, new RegExp(`^# ${name}`));
  }
  const node = (await api.children()).find(({ info }) => info.history === 'long');
  const [more] = await timed('tree', () => api.children(node));
  assert.equal(more.earlier, 9900);
};
