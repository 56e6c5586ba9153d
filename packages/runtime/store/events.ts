import { openDatabase, type Sql } from '@tradepost/postgres';
import type { Log } from '../observability/log.ts';
import type { Store } from './store.ts';

/**
 * Messages to all instances on this database, including this one. A message arrives at most once and is never repeated,
 * so users also need a poll.
 */
export type Events = Pick<Store, 'publish' | 'subscribe'> & {
  /** Called when a lost connection is back. Messages in between are lost. */
  onReconnect(handle: () => void): void;
  close(): Promise<void>;
};

const channel = 'tradepost';
/** PostgreSQL accepts payloads below 8,000 bytes. */
const maxMessage = 7_000;

/** The name of the database session of an instance. While a session has this name, the instance runs. */
export const sessionName = (instance: string) => `tradepost:${instance}`;

/**
 * Opens LISTEN and NOTIFY. Unlike messages of the store, these also arrive from commands in other processes, and
 * between instances without Redis. The connection stays open until `close`.
 */
export async function openEvents(deps: { url: string; sql: Sql; instance: string; log: Log }): Promise<Events> {
  const { sql, log } = deps;
  const handlers = new Map<string, Set<(message: string) => void>>();
  const session = openDatabase(deps.url, { max: 1, name: sessionName(deps.instance), maxLifetimeSeconds: null });
  const reconnected: (() => void)[] = [];
  let listening = false;
  const deliver = (payload: string) => {
    const space = payload.indexOf(' ');
    for (const handle of handlers.get(payload.slice(0, space)) ?? []) {
      try {
        handle(payload.slice(space + 1));
      } catch (error) {
        log.error({ err: error, topic: payload.slice(0, space) }, 'the handler of an event failed');
      }
    }
  };
  await session.listen(channel, deliver, () => {
    if (listening) for (const handle of reconnected) handle();
    listening = true;
  });
  return {
    async publish(topic, message) {
      if (message.length > maxMessage) throw new RangeError(`an event of ${message.length} characters`);
      await sql`select pg_notify(${channel}, ${`${topic} ${message}`})`;
    },
    async subscribe(topic, handle) {
      const set = handlers.get(topic) ?? new Set();
      handlers.set(topic, set);
      const listener = (message: string) => handle(message);
      set.add(listener);
      return async () => {
        set.delete(listener);
      };
    },
    onReconnect: (handle) => void reconnected.push(handle),
    close: () => session.end({ timeout: 1 }),
  };
}
