// Completes debug configurations: what F5 means without a launch.json, the folder and the interpreter.
'use strict';

const CURRENT_FILE = { name: 'Pyharness: current file', type: 'pyharness', request: 'launch', program: '${file}' };
const NOTHING_OPEN = 'Pyharness debugs Python programs: open the Python file to run, or name it in launch.json.';

class Provider {
  constructor(vscode, interpreters) {
    this.vscode = vscode;
    this.interpreters = interpreters;
  }

  /** Before variables are replaced. `null` opens launch.json. */
  resolveDebugConfiguration(folder, config) {
    if (!config.type && !config.request && !config.name) {
      if (this.vscode.window.activeTextEditor?.document.languageId !== 'python') {
        this.vscode.window.showErrorMessage(NOTHING_OPEN);
        return null;
      }
      Object.assign(config, CURRENT_FILE, config.noDebug ? { noDebug: true } : {});
    }
    if (config.request === 'launch' && !config.cwd && (folder || !config.coreFile))
      config.cwd = folder ? '${workspaceFolder}' : '${fileDirname}';
    return config;
  }

  /** After variables are replaced. `undefined` ends it, the reason having been shown. */
  async resolveDebugConfigurationWithSubstitutedVariables(folder, config) {
    if (/^\d+$/.test(config.processId)) config.processId = Number(config.processId);
    if (config.debugServer) return config; // an adapter runs already, in an interpreter of its choice
    const python = await this.interpreters.choose(folder, config.python);
    const problem = await this.interpreters.problem(python);
    if (problem) return void (await this.interpreters.explain(problem));
    return { ...config, python };
  }
}

/** What the "Run and Debug" picker offers without a launch.json. */
function offered() {
  return [
    { ...CURRENT_FILE },
    { name: 'Pyharness: pytest, current file', type: 'pyharness', request: 'launch', module: 'pytest', args: ['-s', '${file}'] },
    { name: 'Pyharness: attach to a process', type: 'pyharness', request: 'attach', processId: '${command:pickProcess}' },
  ];
}

/** The button in the editor's title: debug this file, whatever launch.json has. */
function debugFile(vscode, file = vscode.window.activeTextEditor?.document.uri) {
  if (!file) return vscode.window.showErrorMessage(NOTHING_OPEN);
  return vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(file), { ...CURRENT_FILE, program: file.fsPath });
}

module.exports = { Provider, offered, debugFile };
