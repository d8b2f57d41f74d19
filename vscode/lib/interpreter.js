// Which Python runs the adapter and the program, and whether pyharness is installed in it.
'use strict';
const { execFile } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const PROBE = 'import importlib.util as u, sys; p = u.find_spec("pyharness"); sys.exit(0 if p and u.find_spec("pyharness.dap") else 4 if p else 3)';
const INSTALL = python => `${python} -m pip install pyharness-debugger`;
const EXIT = {
  3: python => ({ message: `pyharness is not installed in ${python}.`, remedy: `Install it there (${INSTALL(python)}), or choose another interpreter.`, install: INSTALL(python) }),
  4: python => ({ message: `The pyharness in ${python} is too old for VS Code.`, remedy: 'Update it there, or choose another interpreter.', install: `${INSTALL(python)} --upgrade` }),
};
const PROBE_MS = 30000; // a cold network file system; a warm one answers in 0.03 s

class Interpreters {
  /** `home` is where the adapter will be started: what can be imported must not depend on another folder. */
  constructor(vscode, home) {
    this.vscode = vscode;
    this.home = home;
    this.good = new Set();
  }

  /** The interpreter for `folder`: a path, or a name that PATH has. */
  async choose(folder, configured) {
    const root = folder?.uri.fsPath ?? os.homedir();
    const setting = this.vscode.workspace.getConfiguration('python', folder?.uri).get('defaultInterpreterPath');
    const named = configured || (await this.selected(folder)) || (setting !== 'python' && setting); // "python": its unset value
    if (named) return expanded(named, root);
    const local = path.join(root, '.venv', 'bin', 'python');
    return fs.existsSync(local) ? local : 'python3';
  }

  /** What is selected in the Python extension, where that runs. */
  async selected(folder) {
    const environments = this.vscode.extensions.getExtension('ms-python.python')?.exports?.environments;
    const chosen = environments?.getActiveEnvironmentPath?.(folder?.uri);
    const details = chosen && (await environments.resolveEnvironment(chosen));
    return details?.executable?.uri?.fsPath;
  }

  /** Why this interpreter cannot debug: `{message, remedy, install}`, or `undefined` where it can. */
  async problem(python) {
    if (this.good.has(python)) return undefined;
    const { code, said } = await run(python, ['-c', PROBE], this.home);
    if (code === 0) return void this.good.add(python);
    if (EXIT[code]) return EXIT[code](python);
    const message = code === 'ENOENT' ? `There is no Python interpreter ${python}.` : `${python} does not run: ${said || code}`;
    return { message, remedy: 'Choose another: "python" in launch.json, or the setting python.defaultInterpreterPath.' };
  }

  /** Show a problem and what can be done about it. */
  async explain({ message, remedy, install }) {
    const copy = 'Copy Install Command', choose = 'Choose Interpreter';
    const actions = install ? [copy, choose] : [choose];
    const picked = await this.vscode.window.showErrorMessage(message, { modal: true, detail: remedy }, ...actions);
    if (picked === copy) await this.vscode.env.clipboard.writeText(install);
    if (picked === choose) await this.vscode.commands.executeCommand(...(await this.chooser()));
  }

  async chooser() {
    const known = await this.vscode.commands.getCommands(true);
    if (known.includes('python.setInterpreter')) return ['python.setInterpreter'];
    return ['workbench.action.debug.configure'];
  }
}

/** `~` and the variables that settings may hold, replaced. */
function expanded(text, root) {
  const home = text.replace(/^~(?=\/|$)/, os.homedir()).replace(/\$\{userHome\}/g, os.homedir());
  const full = home.replace(/\$\{workspaceFolder\}/g, root).replace(/\$\{env:(\w+)\}/g, (_all, name) => process.env[name] ?? '');
  return full.includes('/') ? path.resolve(root, full) : full;
}

function run(command, args, cwd) {
  return new Promise(resolve => {
    execFile(command, args, { cwd, timeout: PROBE_MS }, (error, _out, err) => resolve({ code: error ? error.code ?? error.signal : 0, said: err.trim().split('\n').pop() }));
  });
}

module.exports = { Interpreters, expanded };
