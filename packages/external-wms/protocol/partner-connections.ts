import { type KeptConnections, keptConnections } from '@tradepost/runtime';
import type { Pool } from 'undici';

const maxAnswerBytes = 1024 * 1024;
export const connections = 64;
const idleMs = 30_000;
const connectMs = 5_000;

type Partner = KeptConnections & { origin: string; prefix: string };

/** Keeps connections to the current endpoint. When the setting changes, running calls to the previous endpoint are finished. */
export function openPartnerConnections() {
  let partner: Partner | null = null;
  const retired = new Set<Pool>();
  return {
    at(endpoint: string): Partner {
      const { origin, pathname } = new URL(endpoint);
      const prefix = pathname.replace(/\/+$/, '');
      if (partner?.origin === origin) return { ...partner, prefix };
      if (partner) {
        // `close` waits for the running calls.
        const { pool } = partner;
        retired.add(pool);
        pool.close().then(
          () => retired.delete(pool),
          () => {},
        );
      }
      partner = {
        origin,
        prefix,
        ...keptConnections(origin, { connections, connectMs, keepAliveMs: idleMs, maxAnswerBytes }),
      };
      return partner;
    },
    /** Aborts the running calls. */
    async close(): Promise<void> {
      const pools = [...retired, ...(partner ? [partner.pool] : [])];
      partner = null;
      await Promise.all(pools.map((pool) => pool.destroy()));
    },
  };
}
