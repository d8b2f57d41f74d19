// Source maps of generated code, as pyharness writes them beside each file: FILE.map.json.
'use strict';
const fs = require('node:fs');

const SUFFIX = '.map.json';
const cache = new Map();

/** The map of a generated file: `{graph, lines: [{line, last, node, module, file, origin}]}`; `undefined` for any other. */
function mapOf(file) {
  try {
    const modified = fs.statSync(file + SUFFIX).mtimeMs;
    const known = cache.get(file);
    if (known?.modified === modified) return known.map;
    const map = parse(fs.readFileSync(file + SUFFIX, 'utf8'));
    cache.set(file, { modified, map });
    return map;
  } catch {
    return undefined; // no map, or not one of ours: an ordinary file
  }
}

function parse(text) {
  const data = JSON.parse(text);
  if (data.version !== 1) throw new Error('not a source map of version 1');
  const lines = data.lines.map(each => ({
    line: each.line, last: each.last_line ?? each.line, node: each.node, module: each.module, file: each.origin_file, origin: each.origin_line,
  }));
  return { graph: data.graph, lines };
}

/** The statement on a 1-based line of the generated file. */
const at = (map, line) => map.lines.find(each => each.line === line) ?? map.lines.find(each => each.line <= line && line <= each.last);

/** The statements that a 1-based line of the user's file became. */
const from = (map, file, line) => map.lines.filter(each => each.file === file && each.origin === line);

module.exports = { SUFFIX, mapOf, parse, at, from };
