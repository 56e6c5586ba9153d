import type { Shop } from './shop.ts';

/** Statements that control a transaction, the actor of the change log, and the query of the driver for the types of a new connection. */
const housekeeping =
  /^\s*(begin|commit|rollback|savepoint|release|set local)\b|^\s*select set_config\('tradepost\.actor'|\bpg_catalog\.pg_type\b/i;

/** Each instance reads the settings again after a change was notified. The measured call does not send this. */
export const settingsReload = 'select key, value from runtime.settings order by key';

export type StatementLog = {
  /** Runs `work` and answers the statements that were sent meanwhile. The shop must do nothing else at the same time. */
  during<T>(work: () => Promise<T>): Promise<{ value: T; texts: string[] }>;
};

/** Records the statements of the shop's pool. Use fake timers (`vi.useFakeTimers`): statements of periodic polls would be counted. */
export function logStatements(shop: Shop): StatementLog {
  // The driver reads this option for each statement.
  const options = shop.server.runtime.sql.options as { debug: unknown };
  const debugBefore = options.debug as ((connection: number, text: string) => void) | undefined;
  let texts: string[] = [];
  options.debug = (connection: number, text: string) => {
    debugBefore?.(connection, text);
    if (!housekeeping.test(text)) texts.push(text.trim().replace(/\s+/g, ' '));
  };
  return {
    async during(work) {
      texts = [];
      const recorded = texts;
      const value = await work();
      texts = [];
      // A reload may belong to the call: the first one is counted.
      const firstReload = recorded.indexOf(settingsReload);
      return { value, texts: recorded.filter((text, index) => text !== settingsReload || index === firstReload) };
    },
  };
}
