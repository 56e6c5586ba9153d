/**
 * Exits with 0 when the process with this admin listener is ready, otherwise with 1. For services and containers: it starts in a
 * tenth of the time of the command. `--wait SECONDS` asks until then; `--admin-port` is ADMIN_PORT or 8082 by default. With
 * `--ignore PART` a process in which only this part fails is ready.
 */
require('../bin/need-node.cjs');
const { parseArgs } = require('node:util');

const { values } = parseArgs({
  options: { 'admin-port': { type: 'string' }, wait: { type: 'string', default: '0' }, ignore: { type: 'string' } },
});
const { ADMIN_HOST = '127.0.0.1', ADMIN_PORT = '8082' } = process.env;
const host = ADMIN_HOST === '0.0.0.0' ? '127.0.0.1' : ADMIN_HOST === '::' ? '::1' : ADMIN_HOST;
const url = `http://${host.includes(':') ? `[${host}]` : host}:${values['admin-port'] ?? ADMIN_PORT}/ready`;
const end = performance.now() + Number(values.wait) * 1000;

/** Why the process is not ready, or null. */
async function faultOf() {
  const answer = await fetch(url, { signal: AbortSignal.timeout(3000) }).catch((error) => error);
  if (answer instanceof Error) return String(answer.cause ?? answer.message);
  if (answer.ok) return null;
  const text = await answer.text().catch(String);
  if (values.ignore === undefined || answer.status !== 503) return text;
  for (const part of JSON.parse(text).parts) if (!part.ok && part.name !== values.ignore) return text;
  return null;
}

async function ask() {
  const fault = await faultOf();
  if (fault === null) process.exit(0);
  if (!(performance.now() < end)) {
    process.stderr.write(`${url}: ${fault}\n`);
    process.exit(1);
  }
  setTimeout(ask, 200);
}

ask();
