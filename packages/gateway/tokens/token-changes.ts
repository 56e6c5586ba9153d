import { shoppersEndedSince } from '@tradepost/identity';
import type { Runtime } from '@tradepost/runtime';
import { selectChangedSince } from './api-token-store.ts';

const channel = 'gateway.tokens';
/** Changes are read again for so long: transactions do not end in the order of their timestamps. */
const overlapMs = 60_000;
/** A message of PostgreSQL holds 8,000 bytes. */
const idsPerMessage = 300;

/** Ids of changed tokens, and of users of whom all tokens have changed. */
export type Changed = { tokens?: readonly number[]; users?: readonly number[] };

/** Tells the other instances what has changed. */
export async function publishChanges({ events, log }: Pick<Runtime, 'events' | 'log'>, of: Changed): Promise<void> {
  for (const kind of ['tokens', 'users'] as const) {
    const ids = of[kind] ?? [];
    for (let i = 0; i < ids.length; i += idsPerMessage)
      await events.publish(channel, `${kind} ${ids.slice(i, i + idsPerMessage).join(',')}`).catch((error: unknown) => {
        log.warn({ err: error }, 'other instances learn of changed API tokens at their next reading');
      });
  }
}

/** Calls `forget` for what other instances have changed; answers the function that ends it. */
export const onTokensChanged = ({ events }: Pick<Runtime, 'events'>, forget: (of: Changed) => void) =>
  events.subscribe(channel, (message) => {
    const [kind, list = ''] = message.split(' ');
    const ids = list.split(',').map(Number);
    if (kind === 'tokens' || kind === 'users') forget({ [kind]: ids });
  });

/** Answers a function that reads changes from the database, and calls `forget` for those that were not read before. */
export function openChangeReader(
  runtime: Pick<Runtime, 'control' | 'now'>,
  forget: (of: Changed) => void,
): () => Promise<void> {
  const { control } = runtime;
  let readFrom = runtime.now();
  /** Changes within the overlap, and when they were last read (`performance.now`). */
  const known = new Map<string, number>();
  const isNew = (change: string): boolean => {
    const unseen = !known.has(change);
    known.set(change, performance.now());
    return unseen;
  };

  return async () => {
    const since = new Date(readFrom.getTime() - overlapMs);
    const { at, tokens, users } = await selectChangedSince(control, since);
    const ended = await shoppersEndedSince(control, since);
    readFrom = at;
    const seenBefore = performance.now();
    const changed = {
      tokens: tokens.filter((each) => isNew(`token ${each.id} ${each.version}`)).map(({ id }) => id),
      users: [
        ...users.filter((each) => isNew(`limits ${each.id} ${each.version}`)),
        ...ended.filter((each) => isNew(`ended ${each.id} ${each.generation}`)),
      ].map(({ id }) => id),
    };
    for (const [change, seen] of known) if (seen < seenBefore) known.delete(change);
    if (changed.tokens.length > 0 || changed.users.length > 0) forget(changed);
  };
}
