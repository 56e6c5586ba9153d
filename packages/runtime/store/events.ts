import { openDatabase, type Sql } from '@tradepost/postgres';
import type { Log } from '../observability/log.ts';
import type { Store } from './store.ts';

/** Messages to every instance on this database, this one included; at most once, no replay: keep a poll as the net. */
export type Events = Pick<Store, 'publish' | 'subscribe'> & {
  /** The connection was lost and is back: messages of the time between are lost. */
  onReconnect(handle: () => void): void;
  close(): Promise<void>;
};

const channel = 'tradepost';
/** PostgreSQL takes payloads below 8,000 bytes. */
const maxMessage = 7_000;

/** The name of an instance's own session, by which others see that it lives. */
export const sessionName = (instance: string) => `tradepost:${instance}`;

/**
 * LISTEN and NOTIFY. Unlike the store it also reaches a server from a command beside it, and instances without Redis. Its
 * connection stays open for as long as the instance lives.
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
