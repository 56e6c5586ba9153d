import { registerHooks } from 'node:module';
import type Postgres from 'postgres';

type Repair = readonly [fault: string, repair: string];

/**
 * postgres.js 3.4.9 with its faults on broken connections repaired while it is loaded (its issues 1154 and 1208;
 * database.test.ts shows them). A statement or rollback on a connection that has just broken is written to a null socket
 * in a setImmediate, which ends the process. And what was waiting to be written then stays behind with a dead timer, so
 * that the connection never writes again: after a restart of the database the pool is lost until the shop is restarted.
 */
const connectionRepairs: readonly Repair[] = [
  [
    'const x = socket.write(chunk, fn)',
    `if (!socket) {
      chunk = nextWriteTimer = null
      error(Errors.connection('CONNECTION_CLOSED', options))
      return true
    }
    const x = socket.write(chunk, fn)`,
  ],
  [
    "clearImmediate(nextWriteTimer)\n    socket.removeListener('data', data)",
    "clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = null\n    socket.removeListener('data', data)",
  ],
  [
    `if (initial)
      return reconnect()

    !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))`,
    `const waiting = initial
    initial = null
    if (query || sent.length) error(Errors.connection('CONNECTION_CLOSED', options))
    query = errorResponse = null
    initial = waiting
    if (initial) return reconnect()`,
  ],
  // Statements sent in one turn travel in one write, also large ones: a write is the dearest part of a small statement.
  ['fn || chunk.length >= 1024', 'fn || chunk.length >= 65536'],
  // Nobody handles the promise of this query.
  ['`], [], execute)\n    types.forEach', '`], [], execute).catch(() => [])\n    types.forEach'],
];

const indexRepairs: readonly Repair[] = [
  // Statements are counted through `debug`; with it the driver makes an Error for every fragment of every statement.
  ['handler.debug = options.debug', 'handler.debug = false'],
  // BEGIN travels with the first statements: what waits for it is the server, not the transaction.
  [
    "await sql.unsafe('begin ' + options.replace(/[^a-z ]/ig, ''), [], { onexecute }).execute()",
    `await new Promise((sent, failed) => {
        sql.unsafe('begin ' + options.replace(/[^a-z ]/ig, ''), [], { onexecute: c => (onexecute(c), sent(), false) }).catch(failed)
      })`,
  ],
  // A transaction that sent its own commit (writeTransaction) has ended, and its connection may be another's already.
  ['await (name\n          ?', '(name || !sql.ended) && await (name\n          ?'],
  ['if (!name) {', 'if (!name && !sql.ended) {'],
];

const repairsOf: Readonly<Record<string, readonly Repair[]>> = {
  'connection.js': connectionRepairs,
  'index.js': indexRepairs,
};

function repaired(source: string, repairs: readonly Repair[]): string {
  return repairs.reduce((text, [fault, repair]) => {
    if (text.split(fault).length !== 2)
      throw new Error('postgres.js has changed: see whether packages/postgres/driver-patch.ts is still needed');
    return text.replace(fault, () => repair);
  }, source);
}

// Under an address of its own, so that it does not matter who has imported the driver before.
const mark = '?repaired';
const hooks = registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    return /\/postgres\/src\/\w+\.js$/.test(found.url) ? { ...found, url: found.url + mark } : found;
  },
  load(url, context, next) {
    const loaded = next(url, context);
    const repairs = url.endsWith(mark) ? repairsOf[url.slice(url.lastIndexOf('/') + 1, -mark.length)] : undefined;
    return repairs ? { ...loaded, source: repaired(String(loaded.source), repairs) } : loaded;
  },
});
const driver = await import('postgres');
hooks.deregister();

export const postgres: typeof Postgres = driver.default;
