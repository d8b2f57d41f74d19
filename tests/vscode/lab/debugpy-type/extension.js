// Stand-in for type debugpy: the adapter of the debugpy package, as the real extension starts it.
const vscode = require('vscode');
exports.activate = context => context.subscriptions.push(vscode.debug.registerDebugAdapterDescriptorFactory('debugpy', {
  createDebugAdapterDescriptor({ configuration }) {
    if (configuration.request === 'attach' && configuration.connect)
      return new vscode.DebugAdapterServer(Number(configuration.connect.port), configuration.connect.host || '127.0.0.1');
    return new vscode.DebugAdapterExecutable(configuration.python || process.env.LAB_PYTHON, ['-m', 'debugpy.adapter']);
  },
}));
