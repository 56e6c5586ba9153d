import type { Shop } from './shop.ts';

/** What opens, ends or colours a transaction, and what a new connection asks the server about its types. */
const housekeeping = /^\s*(begin|commit|rollback|savepoint|release|set local)\b|\bpg_catalog\.pg_type\b/i;

/** Every instance's answer to the news of a changed setting, and so this one's: sent by nobody's call. */
const settingsNews = 'select key, value from runtime.settings';

export type StatementLog = {
  /** The statements sent until `work` has ended. The shop does nothing else meanwhile. */
  during<T>(work: () => Promise<T>): Promise<{ value: T; texts: string[] }>;
};

/** Reads along what the shop's pool sends. Timers must rest (`vi.useFakeTimers`): its polls would count as the call's. */
export function logStatements(shop: Shop): StatementLog {
  // The driver looks this option up for every statement it sends.
  const options = shop.server.runtime.sql.options as { debug: unknown };
  const before = options.debug as ((connection: number, text: string) => void) | undefined;
  let texts: string[] = [];
  options.debug = (connection: number, text: string) => {
    before?.(connection, text);
    if (!housekeeping.test(text)) texts.push(text.trim().replace(/\s+/g, ' '));
  };
  return {
    async during(work) {
      texts = [];
      const mine = texts;
      const value = await work();
      texts = [];
      const first = mine.indexOf(settingsNews);
      return { value, texts: mine.filter((text, index) => text !== settingsNews || index === first) };
    },
  };
}
