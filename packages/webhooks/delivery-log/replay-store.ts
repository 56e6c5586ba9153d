import type { Transaction } from '@tradepost/postgres';

/** Which ended deliveries of an endpoint are sent again. All given conditions count. */
export type ReplayFilter = {
  readonly ids?: readonly number[] | undefined;
  /** Only failed ones. */
  readonly failed?: boolean | undefined;
  /** Of events from this time on, and before `until`. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** Only of events with a higher id. A call that continues another one must not meet what was sent meanwhile. */
  readonly after?: number | undefined;
};

/** Ended deliveries that match, at most `limit`, those of the oldest events in their order. */
export async function selectEnded(
  tx: Transaction,
  endpointId: number,
  filter: ReplayFilter,
  limit: number,
): Promise<{ id: number; event_id: number }[]> {
  const { ids, failed, since = null, until = null, after = 0 } = filter;
  return tx<{ id: number; event_id: number }[]>`
    select id, event_id from webhooks.deliveries
    where endpoint_id = ${endpointId} and event_id > ${after} and ${failed ? tx`status = 'failed'` : tx`status <> 'waiting'`}
      and ${ids ? tx`id = any(${[...ids]}::bigint[])` : tx`true`}
      and (${since}::timestamptz is null or occurred_at >= ${since})
      and (${until}::timestamptz is null or occurred_at < ${until})
    order by event_id limit ${limit}`;
}

/** Makes these deliveries wait again, if they have ended. Returns the subject of each. The caller holds `lockToAdd`. */
export async function restartDeliveries(tx: Transaction, ids: readonly number[], now: Date): Promise<string[]> {
  const rows = await tx<{ subject: string }[]>`
    update webhooks.deliveries
    set status = 'waiting', ready = false, attempts_before = attempts, due_at = ${now}, ended_at = null
    where id = any(${[...ids]}::bigint[]) and status <> 'waiting'
    returning subject`;
  return rows.map(({ subject }) => subject);
}
