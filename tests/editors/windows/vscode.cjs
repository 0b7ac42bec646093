// One of several windows on one store: shows `live`, edits what $NAME.edit says, tells what it sees.
const fs = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');

exports.run = async () => {
  const place = path.join(process.env.STAGE, process.env.NAME);
  const api = await vscode.extensions.getExtension('history-sidecar.history-sidecar').activate();
  await vscode.commands.executeCommand('historySidecar.open', 'live');
  const { document } = vscode.window.activeTextEditor;
  const shown = () => {
    fs.writeFileSync(`${place}.new`, document.getText());
    fs.renameSync(`${place}.new`, `${place}.shown`);
  };
  vscode.workspace.onDidChangeTextDocument((event) => event.document === document && shown());
  shown();
  while (!fs.existsSync(path.join(process.env.STAGE, 'end'))) {
    if (fs.existsSync(`${place}.edit`)) {
      const text = fs.readFileSync(`${place}.edit`, 'utf8').trim();
      fs.rmSync(`${place}.edit`);
      const { version } = await api.request('history/len', { history: 'live' });
      const edits = [{ kind: 'setText', entryId: 'first', text }];
      const answer = await api.request('history/applyEdits', { history: 'live', ifVersion: version, edits }).then(() => 'ok', String);
      fs.writeFileSync(`${place}.answer`, answer);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
