import { CircuitBreaker } from '@tradepost/core';
import { type KeptConnections, keptConnections } from '@tradepost/runtime';
import pLimit, { type LimitFunction } from 'p-limit';
import { maxAnswerBytes } from '../limits.ts';
import { carrierConcurrency } from '../settings.ts';
import type { CarrierDriver, SettingReader } from './driver.ts';

type Service = KeptConnections & { readonly origin: string };

/** What one carrier service has of its own: its limit of concurrent queries and its circuit breaker. */
export type Line = { readonly limit: LimitFunction; readonly circuit: CircuitBreaker };

const connections = 64;
const connectMs = 5_000;
const keepAliveMs = 30_000;
const circuitOptions = { failuresToOpen: 5, firstPauseMs: 5_000, longestPauseMs: 60_000 };

/** The lines and connections to carrier services. They are opened when they are first needed. */
export function openServiceLines(settings: SettingReader) {
  const lines = new Map<string, Line>();
  const services = new Map<string, Service>();
  const retired = new Set<Service['pool']>();
  return {
    lineOf({ name }: CarrierDriver): Line {
      const line = lines.get(name) ?? { limit: pLimit(1), circuit: new CircuitBreaker(circuitOptions) };
      lines.set(name, line);
      line.limit.concurrency = settings.get(carrierConcurrency);
      return line;
    },
    /** The connections to the address of the settings. Queries to a previous address are finished. */
    serviceAt({ name }: CarrierDriver, origin: string): Service {
      const known = services.get(name);
      if (known?.origin === origin) return known;
      if (known) {
        const { pool } = known;
        retired.add(pool);
        pool.close().then(
          () => retired.delete(pool),
          () => {},
        );
      }
      const opened = { origin, ...keptConnections(origin, { connections, connectMs, keepAliveMs, maxAnswerBytes }) };
      services.set(name, opened);
      return opened;
    },
    /** Aborts the running queries. */
    async close(): Promise<void> {
      await Promise.all([...retired, ...[...services.values()].map(({ pool }) => pool)].map((pool) => pool.destroy()));
    },
  };
}
