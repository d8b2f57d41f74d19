// Starts the debug adapter of a session; VS Code itself connects those whose configuration names a `debugServer`.
'use strict';

class Factory {
  /** `home` is a folder that holds no Python module, so that none there hides one that the adapter imports. */
  constructor(vscode, home) {
    this.vscode = vscode;
    this.home = home;
  }

  createDebugAdapterDescriptor(session) {
    return new this.vscode.DebugAdapterExecutable(session.configuration.python, ['-m', 'pyharness', 'dap'], { cwd: this.home });
  }
}

module.exports = { Factory };
