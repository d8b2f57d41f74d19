// What VS Code calls: registers the debug type `pyharness`, its commands and the links of generated code.
'use strict';
const vscode = require('vscode');
const adapter = require('./lib/adapter');
const configuration = require('./lib/configuration');
const generated = require('./lib/generated');
const interpreter = require('./lib/interpreter');
const processes = require('./lib/processes');
const status = require('./lib/status');

const TYPE = 'pyharness';

exports.activate = context => {
  const home = context.extensionPath;
  const fill = new configuration.Provider(vscode, new interpreter.Interpreters(vscode, home));
  const dynamic = vscode.DebugConfigurationProviderTriggerKind.Dynamic;
  context.subscriptions.push(
    vscode.debug.registerDebugConfigurationProvider(TYPE, fill),
    vscode.debug.registerDebugConfigurationProvider(TYPE, { provideDebugConfigurations: configuration.offered }, dynamic),
    vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, new adapter.Factory(vscode, home)),
    vscode.commands.registerCommand('pyharness.debugFile', file => configuration.debugFile(vscode, file)),
    vscode.commands.registerCommand('pyharness.pickProcess', () => processes.pick(vscode)),
    ...status.register(vscode, TYPE),
    ...generated.register(vscode, TYPE),
  );
};
