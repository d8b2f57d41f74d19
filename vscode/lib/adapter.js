// Which debug adapter a session talks to: one of its own over stdio, or the one that started it (child sessions).
'use strict';

class Factory {
  /** `home` is a folder that holds no Python module, so that none there hides one that the adapter imports. */
  constructor(vscode, home) {
    this.vscode = vscode;
    this.home = home;
  }

  createDebugAdapterDescriptor(session) {
    const { connect, python } = session.configuration;
    if (connect) return new this.vscode.DebugAdapterServer(Number(connect.port), connect.host || '127.0.0.1');
    return new this.vscode.DebugAdapterExecutable(python, ['-m', 'pyharness', 'dap'], { cwd: this.home });
  }
}

module.exports = { Factory };
