// Speaks DAP on stdio as type cppdbg: cdt-gdb-adapter, started in the order of commands of Microsoft's MIEngine.
// What MIEngine does and this leaves out: it runs gdb in the integrated terminal, and stops at the first library's load to
// clear that terminal (tests/vscode/test_miengine_order.py replays it).
const path = require('path');
const installed = path.join(process.env.LAB_DIR, 'node_modules/cdt-gdb-adapter/dist');
const { GDBDebugSession } = require(path.join(installed, 'desktop/GDBDebugSession'));

const quoted = text => `"${text.replace(/(["\\])/g, '\\$1')}"`;
const asMi = text => text.startsWith('-') ? text : `-interpreter-exec console ${quoted(text)}`;

/** The commands before the program is there: [text, whether a failure is ignored]. */
const preparation = args => [
  ...(args.setupCommands || []).map(command => [command.text, command.ignoreFailures]),
  ['set pagination off'], ['set debuginfod enabled off', true],
  [`-gdb-set auto-solib-add ${(args.symbolLoadInfo || {}).loadAll === false ? 'off' : 'on'}`],
];

/** The commands that bring the program. */
const connection = args => {
  if (args.customLaunchSetupCommands) return args.customLaunchSetupCommands.map(command => [command.text, command.ignoreFailures]);
  const file = ['-file-exec-and-symbols ' + quoted(args.program)];
  if (args.coreDumpPath) return [file, [`-target-select core ${args.coreDumpPath}`]];
  if (args.processId) return [file, [`-target-attach ${args.processId}`]];
  return [['-environment-cd ' + quoted(args.cwd)], file, ...(args.args?.length ? [[`-exec-arguments ${args.args.join(' ')}`]] : [])];
};

class Session extends GDBDebugSession {
  async attachOrLaunchRequest(response, request, args) {
    this.configuration = args;
    this.launched = request === 'launch' && !args.coreDumpPath;
    this.isAttach = !this.launched || args.launchCompleteCommand === 'exec-continue'; // what configurationDone does
    const gdb = { ...args, gdb: args.miDebuggerPath || 'gdb', gdbAsync: true };
    await this.setupCommonLoggerAndBackends(gdb);
    this.initializeSessionArguments(gdb);
    await this.spawn(gdb);
    this.asMIEngine(this.gdb);
    for (const [text, ignoreFailures] of [...preparation(args), ...connection(args)]) {
      await this.gdb.sendCommand(asMi(text)).catch(error => { if (!ignoreFailures) throw error; });
    }
    this.sendInitializedEvent();
    this.sendResponse(response);
  }

  /** MIEngine's breakpoints may wait for their library, and a frame filter's `file` is as good as a `fullname`. */
  asMIEngine(gdb) {
    const send = gdb.sendCommand.bind(gdb);
    gdb.sendCommand = async command => {
      const result = await send(command.replace(/^-break-insert (?!.*-f )/, '-break-insert -f '));
      for (const frame of result?.stack || []) if (frame.file?.startsWith('/')) frame.fullname ||= frame.file;
      return result;
    };
  }

  /** MIEngine says nothing of a thread that starts; VS Code would forget which call stacks it still has to ask for. */
  sendEvent(event) {
    if (event.event !== 'continued' || event.body.allThreadsContinued) super.sendEvent(event);
  }

  async configurationDoneRequest(response, args) {
    if (!this.configuration.coreDumpPath) { await super.configurationDoneRequest(response, args); return; }
    this.sendResponse(response);
    const { 'current-thread-id': id } = await this.gdb.sendCommand('-thread-info');
    this.sendEvent({ seq: 0, type: 'event', event: 'stopped', body: { reason: 'exception', threadId: Number(id), allThreadsStopped: true } });
  }

  async evaluateRequest(response, args) { // "-exec COMMAND" is how a person talks to gdb in the Debug Console
    await super.evaluateRequest(response, { ...args, expression: args.expression.replace(/^-exec /, '>') });
  }

  async disconnectRequest(response, args) {
    if (this.launched && args.terminateDebuggee !== false && this.gdb) {
      await this.pauseIfNeeded().catch(() => {});
      await this.gdb.sendCommand('-interpreter-exec console "kill"').catch(() => {});
    }
    await super.disconnectRequest(response, args);
  }
}

process.on('uncaughtException', error => process.stderr.write(`${error.stack}\n`));
GDBDebugSession.run(Session);
