// The entries of the program are CommonJS without types: any Node.js can read them, and one that is too old says so in one line.
const [major, minor] = process.versions.node.split('.').map(Number);
const runsTypeScript = (major === 22 && minor >= 18) || (major === 23 && minor >= 6) || major >= 24;
if (!runsTypeScript) {
  const { existsSync } = require('node:fs');
  const { join, relative } = require('node:path');
  const pinned = join(__dirname, '../node_modules/.bin/node');
  const [program, script] = [pinned, process.argv[1]].map((path) => relative(process.cwd(), path));
  const how = existsSync(pinned) ? `: run ${program} ${script}` : '';
  process.stderr.write(`error: Tradepost needs Node.js 22.18 or newer, and this is ${process.versions.node}${how}\n`);
  process.exit(1);
}
