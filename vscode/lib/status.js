// The status bar's word on what takes long in a session: reading symbols, attaching.
'use strict';

function register(vscode, type) {
  const bar = vscode.window.createStatusBarItem('pyharness.progress', vscode.StatusBarAlignment.Left, 0);
  bar.name = 'Pyharness: Progress';
  return [bar, vscode.debug.registerDebugAdapterTrackerFactory(type, { createDebugAdapterTracker: () => new Tracker(bar) })];
}

/** Follows the progress events of one session. */
class Tracker {
  constructor(bar) {
    this.bar = bar;
    this.work = new Map();
  }

  onDidSendMessage({ event, body }) {
    if (event === 'progressStart') this.work.set(body.progressId, body.title);
    else if (event === 'progressUpdate' && body.message) this.work.set(body.progressId, body.message);
    else if (event === 'progressEnd') this.work.delete(body.progressId);
    else return;
    this.show();
  }

  onWillStopSession() {
    this.work.clear();
    this.show();
  }

  show() {
    const newest = [...this.work.values()].pop();
    if (!newest) return this.bar.hide();
    this.bar.text = `$(sync~spin) ${newest}`;
    this.bar.show();
  }
}

module.exports = { register, Tracker };
