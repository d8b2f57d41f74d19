// Just enough of the `vscode` module for what runs without a workbench; it records what it is asked to do.
'use strict';

exports.fake = ({ settings = {}, editor, extensions = {}, answers = {}, session } = {}) => {
  const calls = [];
  const record = name => (...args) => (calls.push([name, ...args]), Promise.resolve(answers[name]));
  class Plain { constructor(...args) { this.args = args; } }
  class InlayHintLabelPart { constructor(value) { this.value = value; } }
  class InlayHint { constructor(position, label) { Object.assign(this, { position, label }); } }
  return {
    calls,
    Range: Plain, Position: Plain, Location: Plain, DebugAdapterExecutable: Plain, InlayHint, InlayHintLabelPart,
    Uri: { file: fsPath => ({ fsPath }), parse: text => ({ fsPath: new URL(text).pathname }) },
    window: {
      activeTextEditor: editor, showErrorMessage: record('error'), showInformationMessage: record('information'),
      showQuickPick: record('quickPick'), showTextDocument: record('open'),
    },
    workspace: {
      getConfiguration: section => ({ get: name => settings[`${section}.${name}`] }), getWorkspaceFolder: () => undefined,
    },
    extensions: { getExtension: id => extensions[id] },
    env: { clipboard: { writeText: record('clipboard') } },
    commands: { executeCommand: record('command'), getCommands: async () => answers.commands ?? [] },
    debug: { startDebugging: record('start'), activeDebugSession: session },
  };
};

exports.folder = fsPath => ({ uri: { fsPath } });
