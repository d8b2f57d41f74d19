// Starts a served workbench for a test, with its browser page and a line to the driver extension; ends all of it.
const { spawn, spawnSync } = require('child_process');
const { test } = require('node:test');
const fs = require('fs'), http = require('http'), os = require('os'), path = require('path');
const repository = path.resolve(__dirname, '../../..');
const installed = process.env.VSCODE_LAB || path.join(repository, '.vscode-lab');
const workbench = require('./workbench');

const artifacts = path.join(repository, 'artifacts/vscode');

exports.repository = repository;
exports.artifact = name => path.join(artifacts, name);

/** A test of Node's runner with a workbench of its own, `body(bench)`: on failure a last look is kept as an artifact. */
exports.test = (name, options, body) => test(name, { timeout: 300000 }, async () => {
  const bench = await exports.start(options);
  const file = exports.artifact(`failed-${name.replace(/\W+/g, '-')}`);
  try {
    await body(bench);
    requireValid(bench.dap());
  } catch (error) {
    await bench.shot(`${file}.png`).catch(() => {});
    fs.writeFileSync(`${file}.jsonl`, bench.dap().map(entry => JSON.stringify(entry)).join('\n'));
    throw error;
  } finally {
    await bench.stop();
  }
});

/** Everything that our adapter said follows the protocol's schema. */
function requireValid(entries) {
  const said = entries.filter(entry => entry.type === 'pyharness' && entry.way === 'from adapter').map(entry => JSON.stringify(entry.message));
  const python = path.join(repository, '.venv/bin/python');
  const checked = spawnSync(python, [path.join(repository, 'tests/dap/valid.py')], {
    input: said.join('\n'), encoding: 'utf8', env: { ...process.env, PYTHONPATH: path.join(repository, 'tests') },
  });
  if (checked.status !== 0) throw new Error(`messages that the protocol does not have:\n${checked.stdout}${checked.stderr}`);
}

/** Serve `workspace` (a folder, or what makes one) with further `vsix` files and open it: {page helpers of workbench.js, drive, dap, run, stop}. */
exports.start = async ({ workspace = repository, vsix = [], python = path.join(repository, '.venv/bin/python'), env = {}, settings } = {}) => {
  const run = fs.mkdtempSync(path.join(os.tmpdir(), 'lab-'));
  if (settings) userSettings(run, settings);
  const server = spawn(path.join(__dirname, 'serve.sh'), [typeof workspace === 'function' ? workspace() : workspace, ...vsix], {
    env: { ...process.env, VSCODE_LAB: installed, LAB_PYTHON: python, LAB_RUN: run, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a group of its own, ended as one
  });
  try {
    const url = await listening(server);
    const bench = await workbench.open(url);
    const drive = (code, argument) => post(path.join(run, 'driver.sock'), { code: source(code), argument });
    await bench.until(() => fs.existsSync(path.join(run, 'driver.sock')), 'the extension host to start');
    return { ...bench, run, drive, dap: () => dapLog(run), stop: () => stop(server, bench, drive, run) };
  } catch (error) {
    await end(server);
    throw error;
  }
};

function userSettings(run, settings) {
  const folder = path.join(run, 'data/User');
  fs.mkdirSync(folder, { recursive: true });
  const ours = JSON.parse(fs.readFileSync(path.join(__dirname, 'settings.json')));
  fs.writeFileSync(path.join(folder, 'settings.json'), JSON.stringify({ ...ours, ...settings }));
}

/** The URL that the server prints once it answers; its output with the error when it ends before. */
const listening = server => new Promise((resolve, reject) => {
  let output = '';
  const read = data => {
    output += data;
    const url = /listening on (http:\S+)/.exec(output);
    if (url) resolve(url[1]);
  };
  server.stdout.on('data', read);
  server.stderr.on('data', read);
  server.on('error', reject);
  server.on('exit', code => reject(new Error(`the workbench's server ended with ${code}:\n${output}`)));
});

/** A function is sent as its text and called with (vscode, lab, argument) in the extension host. */
const source = code => typeof code === 'function' ? `return (${code})(vscode, lab, argument)` : code;

const post = (socketPath, body) => new Promise((resolve, reject) => {
  const request = http.request({ socketPath, method: 'POST' }, response => {
    let text = '';
    response.on('data', data => text += data).on('end', () => {
      if (response.statusCode === 200) resolve(text.trim() ? JSON.parse(text) : undefined);
      else reject(new Error(`in the extension host: ${text}`));
    });
  });
  request.on('error', reject);
  request.end(JSON.stringify(body));
});

/** Every DAP message so far: {t, session, type, way, message}. */
function dapLog(run) {
  const file = path.join(run, 'dap.jsonl');
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map(line => JSON.parse(line)) : [];
}

async function stop(server, bench, drive, run) {
  try {
    await drive(async (vscode, lab) => { await vscode.debug.stopDebugging(); await lab.idle(); });
  } finally {
    await bench.close();
    await end(server);
    fs.rmSync(run, { recursive: true, force: true });
  }
}

const end = server => new Promise(resolve => {
  if (server.exitCode !== null || server.signalCode !== null) { resolve(); return; }
  server.removeAllListeners('exit');
  const impatient = setTimeout(() => process.kill(-server.pid, 'SIGKILL'), 10000);
  server.on('exit', () => { clearTimeout(impatient); resolve(); });
  process.kill(-server.pid, 'SIGTERM');
});
