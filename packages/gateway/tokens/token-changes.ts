import { shoppersEndedSince } from '@tradepost/identity';
import type { Runtime } from '@tradepost/runtime';
import { selectChangedSince } from './api-token-store.ts';

const channel = 'gateway.tokens';
/** Each read covers this much of the time before the last read, because transactions do not commit in timestamp order. */
const overlapMs = 60_000;
/** A message of PostgreSQL holds 8,000 bytes. */
const idsPerMessage = 300;

/** Ids of changed tokens, and of users whose tokens have all changed. */
export type Changed = { readonly tokens?: readonly number[]; readonly users?: readonly number[] };

/** Notifies the other instances of changed tokens. */
export async function publishChanges(
  { events, log }: Pick<Runtime, 'events' | 'log'>,
  changed: Changed,
): Promise<void> {
  for (const kind of ['tokens', 'users'] as const) {
    const ids = changed[kind] ?? [];
    for (let i = 0; i < ids.length; i += idsPerMessage)
      await events.publish(channel, `${kind} ${ids.slice(i, i + idsPerMessage).join(',')}`).catch((error: unknown) => {
        log.warn({ err: error }, 'other instances learn of changed API tokens at their next poll');
      });
  }
}

/** Calls `invalidate` for changes of other instances. Returns the function that ends the subscription. */
export const onTokensChanged = ({ events }: Pick<Runtime, 'events'>, invalidate: (changed: Changed) => void) =>
  events.subscribe(channel, (message) => {
    const [kind, list = ''] = message.split(' ');
    const ids = list.split(',').map(Number);
    if (kind === 'tokens' || kind === 'users') invalidate({ [kind]: ids });
  });

/** Returns a function that reads changes from the database, and calls `invalidate` for those that it has not read before. */
export function openChangeReader(
  runtime: Pick<Runtime, 'control' | 'now'>,
  invalidate: (changed: Changed) => void,
): () => Promise<void> {
  const { control } = runtime;
  let readFrom = runtime.now();
  /** Changes within the overlap, and when they were last read (`performance.now`). */
  const known = new Map<string, number>();
  const isNew = (change: string): boolean => {
    const isUnknown = !known.has(change);
    known.set(change, performance.now());
    return isUnknown;
  };

  return async () => {
    const since = new Date(readFrom.getTime() - overlapMs);
    const { at, tokens, users } = await selectChangedSince(control, since);
    const ended = await shoppersEndedSince(control, since);
    readFrom = at;
    const readAt = performance.now();
    const changed = {
      tokens: tokens.filter((each) => isNew(`token ${each.id} ${each.version}`)).map(({ id }) => id),
      users: [
        ...users.filter((each) => isNew(`limits ${each.id} ${each.version}`)),
        ...ended.filter((each) => isNew(`ended ${each.id} ${each.generation}`)),
      ].map(({ id }) => id),
    };
    for (const [change, lastRead] of known) if (lastRead < readAt) known.delete(change);
    if (changed.tokens.length > 0 || changed.users.length > 0) invalidate(changed);
  };
}
