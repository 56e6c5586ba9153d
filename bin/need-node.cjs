// The entries of the program are CommonJS without types: any Node.js can read them, and one that is too old says so in one line.
const [major, minor] = process.versions.node.split('.').map(Number);
const runsTypeScript = (major === 22 && minor >= 18) || (major === 23 && minor >= 6) || major >= 24;
if (!runsTypeScript) {
  const { join, relative } = require('node:path');
  const pinned = relative(process.cwd(), join(__dirname, '../node_modules/.bin/node'));
  const script = relative(process.cwd(), process.argv[1]);
  process.stderr.write(
    `error: Tradepost needs Node.js 22.18 or newer, and this is ${process.versions.node}: run ${pinned} ${script}\n`,
  );
  process.exit(1);
}
