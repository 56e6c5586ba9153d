import type { Transaction } from '@tradepost/postgres';

/** Which ended deliveries of an endpoint are sent again. All given conditions count. */
export type ReplayFilter = {
  readonly ids?: readonly number[] | undefined;
  /** Only failed ones. */
  readonly failed?: boolean | undefined;
  /** Of events from this time on, and before `until`. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
};

/** Makes ended deliveries wait again. Returns the subject of each. The caller holds `lockToAdd`. */
export async function restartDeliveries(
  tx: Transaction,
  endpointId: number,
  { filter, limit, now }: { filter: ReplayFilter; limit: number; now: Date },
): Promise<string[]> {
  const { ids, failed, since = null, until = null } = filter;
  const rows = await tx<{ subject: string }[]>`
    with chosen as (
      select id from webhooks.deliveries
      where endpoint_id = ${endpointId} and ${failed ? tx`status = 'failed'` : tx`status <> 'waiting'`}
        and ${ids ? tx`id = any(${[...ids]}::bigint[])` : tx`true`}
        and (${since}::timestamptz is null or occurred_at >= ${since})
        and (${until}::timestamptz is null or occurred_at < ${until})
      order by event_id limit ${limit})
    update webhooks.deliveries d
    set status = 'waiting', ready = false, attempts_before = attempts, due_at = ${now}, ended_at = null
    from chosen where d.id = chosen.id
    returning d.subject`;
  return rows.map(({ subject }) => subject);
}
