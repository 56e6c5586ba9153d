/**
 * Exits with 0 when the process with this admin listener is ready, otherwise with 1. For services and containers: it starts in a
 * tenth of the time of the command. `--wait SECONDS` asks until then; `--admin-port` is ADMIN_PORT or 8082 by default. With
 * `--ignore PART` a process in which only this part fails is ready. As ExecStartPost of systemd, which sets MAINPID, it ends when that
 * process has ended, and does not take the answer of another one. Until it ends, systemd does not see that the start has failed.
 */
require('../bin/need-node.cjs');
const { parseArgs } = require('node:util');

const { values } = parseArgs({
  options: { 'admin-port': { type: 'string' }, wait: { type: 'string', default: '0' }, ignore: { type: 'string' } },
});
const { ADMIN_HOST = '127.0.0.1', ADMIN_PORT = '8082', MAINPID = '' } = process.env;
const host = ADMIN_HOST === '0.0.0.0' ? '127.0.0.1' : ADMIN_HOST === '::' ? '::1' : ADMIN_HOST;
const url = `http://${host.includes(':') ? `[${host}]` : host}:${values['admin-port'] ?? ADMIN_PORT}/ready`;
const end = performance.now() + Number(values.wait) * 1000;

/** The object of a JSON text. Another program can answer with any text. */
function parsedObject(text = '') {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Why the process is not ready, or null. */
async function faultOf() {
  const answer = await fetch(url, { signal: AbortSignal.timeout(3000) }).catch((error) => error);
  if (answer instanceof Error) return String(answer.cause ?? answer.message);
  const text = await answer.text().catch(String);
  const { pid, parts } = parsedObject(text);
  if (!Array.isArray(parts)) return `another program answers on this port: ${answer.status} ${text.slice(0, 200)}`;
  if (MAINPID !== '' && pid !== Number(MAINPID)) return `process ${pid} answers, and not ${MAINPID}`;
  for (const part of parts) {
    const isIgnored = values.ignore !== undefined && part?.name === values.ignore;
    if (!part?.ok && !isIgnored) return text;
  }
  return null;
}

function hasEnded() {
  if (MAINPID === '') return false;
  try {
    process.kill(Number(MAINPID), 0);
    return false;
  } catch (error) {
    return Object(error).code === 'ESRCH';
  }
}

async function ask() {
  // Before the question: a process that has ended does not answer it.
  const ended = hasEnded();
  const fault = await faultOf();
  if (fault === null) process.exit(0);
  if (ended || !(performance.now() < end)) {
    process.stderr.write(ended ? `process ${MAINPID} has ended, its log says why\n` : `${url}: ${fault}\n`);
    process.exit(1);
  }
  setTimeout(ask, 200);
}

ask();
