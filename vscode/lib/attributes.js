// The table of configuration attributes in docs/vscode.md, made from package.json: `node lib/attributes.js` prints it.
'use strict';

const requests = { launch: 'launch', attach: 'attach' };

/** Markdown lines: one row an attribute, with the requests that have it. */
function table({ contributes }) {
  const attributes = contributes.debuggers[0].configurationAttributes;
  const names = [...new Set(Object.keys(requests).flatMap(request => Object.keys(attributes[request].properties)))];
  return ['| attribute | request | type | default | what it says |', '|---|---|---|---|---|', ...names.map(name => row(name, attributes))];
}

function row(name, attributes) {
  const having = Object.keys(requests).filter(request => attributes[request].properties[name]);
  const { enum: choices, type, default: usual, markdownDescription } = attributes[having[0]].properties[name];
  const kind = choices ? choices.map(each => `\`${each}\``).join(', ') : [type].flat().join(' or ');
  const shown = usual === undefined ? '' : `\`${typeof usual === 'string' ? usual : JSON.stringify(usual)}\``;
  return `| \`${name}\` | ${having.join(', ')} | ${kind} | ${shown} | ${markdownDescription} |`;
}

module.exports = { table };

if (require.main === module) console.log(table(require('../package.json')).join('\n'));
