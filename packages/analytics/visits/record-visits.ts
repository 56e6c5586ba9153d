import { createHmac, randomBytes } from 'node:crypto';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { LRUCache } from 'lru-cache';
import { type Day, dayOf } from '../days/shop-days.ts';
import { rememberedLoads } from '../limits.ts';
import type { Channel, Device, PageKind } from './classify-visit.ts';
import { addVisits, type Count, type SeenVisitor, selectSalt } from './visit-store.ts';

/** A message of a storefront. Without `stay` a page was opened, with it the visitor has left the page. */
export type Visit = {
  readonly day: Day;
  readonly visitor: string;
  readonly page: PageKind;
  readonly channel: Channel;
  readonly device: Device;
  /** Seconds on the page. */
  readonly stay: number | null;
};

/** The visitors and counters of a batch: one row for each visitor and counter of a day. */
function summed(visits: readonly Visit[]): { seen: SeenVisitor[]; counts: Count[] } {
  const seen = new Map<string, SeenVisitor>();
  const counts = new Map<string, Count>();
  const add = (day: Day, counter: string, n: number) => {
    const key = `${day} ${counter}`;
    counts.set(key, { day, counter, n: (counts.get(key)?.n ?? 0) + n });
  };
  for (const { day, visitor, page, channel, device, stay } of visits) {
    if (stay !== null) {
      add(day, `stays:${page}`, 1);
      add(day, `seconds:${page}`, stay);
      continue;
    }
    add(day, 'views', 1);
    const key = `${day} ${visitor}`;
    const known = seen.get(key);
    if (known) known.views += 1;
    else seen.set(key, { day, visitor, views: 1, channel, device });
  }
  return { seen: [...seen.values()], counts: [...counts.values()] };
}

export type Recorder = ReturnType<typeof openRecorder>;

/** Records visits under group commit, and makes the hashes of visitors. */
export function openRecorder({ sql, settings, now, groupCommit }: Runtime) {
  const record = groupCommit<Visit, true>('visits', async (visits) => {
    await addVisits(sql, summed(visits));
    return visits.map(() => true as const);
  });
  const loads = new LRUCache<string, true>({ max: rememberedLoads });
  let current: { day: Day; salt: Promise<Uint8Array> } | null = null;
  const saltOf = (day: Day): Promise<Uint8Array> => {
    if (current?.day !== day) {
      const salt = selectSalt(sql, day, randomBytes(32));
      current = { day, salt };
      // A failure is not kept: the next visit asks again.
      salt.catch(() => {
        current = null;
      });
    }
    return current.salt;
  };
  return {
    /** Whether this process sees the message of a page load for the first time. */
    isFirst(load: string): boolean {
      if (loads.has(load)) return false;
      loads.set(load, true);
      return true;
    },
    async record(visit: Omit<Visit, 'day' | 'visitor'>, person: string): Promise<void> {
      const day = dayOf(now(), settings.get(timeZone));
      const visitor = createHmac('sha256', await saltOf(day))
        .update(person)
        .digest('hex')
        .slice(0, 24);
      await record({ ...visit, day, visitor });
    },
  };
}
