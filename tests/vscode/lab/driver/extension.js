// Runs JavaScript posted to the unix socket $LAB_SOCK in the extension host, and logs all DAP messages to $LAB_DAP_LOG.
// A post is {code, argument}: code is the body of an async function of (vscode, lab, argument); its value comes back as JSON.
const vscode = require('vscode'), http = require('http'), fs = require('fs'), { EventEmitter } = require('events');
const PATIENCE = 60000; // ms
const events = new EventEmitter().setMaxListeners(0);
const stops = []; // {name, type, body, session, taken}
const sessions = new Set();
const ended = [];

/** The value of `look()` once it is not false; it looks again whenever something was debugged. */
const whenever = (look, what, ms = PATIENCE) => new Promise((resolve, reject) => {
  const again = () => {
    const value = look();
    if (!value) return false;
    clearTimeout(timer);
    events.off('any', again);
    resolve(value);
    return true;
  };
  const timer = setTimeout(() => {
    events.off('any', again);
    reject(new Error(`waited in vain for ${what}; stops: ${JSON.stringify(stops.map(({ name, body, taken }) => ({ name, ...body, taken })))}; ended: ${ended}`));
  }, ms);
  if (!again()) events.on('any', again);
});

const lab = {
  stops, sessions, ended, whenever,
  /** The next stop not yet taken of the session whose name has `name` in it: {name, body, frames}. */
  async stop(name = '', ms = PATIENCE) {
    const stop = await whenever(() => stops.find(one => !one.taken && one.name.includes(name)), `a stop of '${name}'`, ms);
    stop.taken = true;
    const { stackFrames } = await stop.session.customRequest('stackTrace', { threadId: stop.body.threadId, startFrame: 0, levels: 100 });
    return { name: stop.name, body: stop.body, frames: stackFrames };
  },
  /** Sends a DAP request in the session with `name` in its name. */
  request: (name, command, args) => lab.session(name).customRequest(command, args),
  session: name => [...sessions].find(one => one.name.includes(name)),
  /** When no session runs. */
  idle: ms => whenever(() => sessions.size === 0, 'all sessions to end', ms),
  /** When a session with `name` in its name has ended. */
  end: (name, ms) => whenever(() => ended.some(one => one.includes(name)), `the end of '${name}'`, ms),
};

const tracker = session => ({
  onWillReceiveMessage: message => log(session, 'to adapter', message),
  onDidSendMessage(message) {
    log(session, 'from adapter', message);
    if (message.event === 'stopped') stops.push({ name: session.name, type: session.type, body: message.body, session });
    events.emit('any');
  },
  onError: error => log(session, 'error', String(error)),
  onExit: (code, signal) => log(session, 'exit', [code, signal]),
});

const log = (session, way, message) =>
  fs.appendFileSync(process.env.LAB_DAP_LOG, JSON.stringify({ t: Date.now(), session: session.name, type: session.type, way, message }) + '\n');

const answer = async (body, response) => {
  try {
    const { code, argument } = JSON.parse(body);
    const AsyncFunction = (async () => {}).constructor;
    const value = await new AsyncFunction('vscode', 'lab', 'argument', code)(vscode, lab, argument);
    response.end(value === undefined ? '' : JSON.stringify(value, (key, one) => key === 'session' ? undefined : one));
  } catch (error) {
    response.statusCode = 500;
    response.end(String(error && error.stack || error));
  }
};

exports.activate = context => {
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', data => body += data).on('end', () => answer(body, response));
  }).listen(process.env.LAB_SOCK);
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterTrackerFactory('*', { createDebugAdapterTracker: tracker }),
    vscode.debug.onDidStartDebugSession(session => { sessions.add(session); events.emit('any'); }),
    vscode.debug.onDidTerminateDebugSession(session => { sessions.delete(session); ended.push(session.name); events.emit('any'); }),
    { dispose: () => server.close() },
  );
};
