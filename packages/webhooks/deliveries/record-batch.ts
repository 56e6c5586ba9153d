import { type Runtime, recordEvents } from '@tradepost/runtime';
import {
  type Disabled,
  disableDead,
  disableGone,
  lockEndpointRows,
  recordFailures,
  recordSuccesses,
} from '../endpoints/endpoint-health-store.ts';
import { disableAfterDays } from '../settings.ts';
import { endpointDisabled } from '../webhook-events.ts';
import { type Outcome, recordOutcomes } from './delivery-store.ts';

const dayMs = 86_400_000;
const gone = 410;

type Reason = 'gone' | 'dead';

/** Stores the outcomes of attempts and what they say about their endpoints, in one transaction. */
export async function recordBatch(
  runtime: Pick<Runtime, 'sql' | 'settings' | 'now' | 'log'>,
  outcomes: readonly Outcome[],
): Promise<void> {
  const { sql, settings, log } = runtime;
  const now = runtime.now();
  const endpointsOf = (wanted: (outcome: Outcome) => boolean) => [
    ...new Set(outcomes.filter(wanted).map(({ claim }) => claim.endpoint_id)),
  ];
  const succeeded = endpointsOf(({ status }) => status === 'delivered');
  const failed = endpointsOf(({ status }) => status !== 'delivered').filter((id) => !succeeded.includes(id));
  const answeredGone = endpointsOf(({ attempt }) => attempt.status === gone);
  const endpoints = [...succeeded, ...failed];
  const days = settings.get(disableAfterDays);
  const disabled = await sql.begin(async (tx) => {
    await recordOutcomes(tx, outcomes, now);
    if (endpoints.length > 1) await lockEndpointRows(tx, endpoints);
    if (succeeded.length > 0) await recordSuccesses(tx, succeeded, now);
    if (failed.length > 0) await recordFailures(tx, failed, now);
    const before = new Date(now.getTime() - days * dayMs);
    const byReason: Record<Reason, Disabled[]> = {
      gone: answeredGone.length > 0 ? await disableGone(tx, answeredGone, now) : [],
      dead: failed.length > 0 && days > 0 ? await disableDead(tx, failed, { before, now }) : [],
    };
    const facts = (['gone', 'dead'] as const).flatMap((reason) =>
      byReason[reason].map(({ id, url }) => ({ endpoint_id: id, host: new URL(url).hostname, reason })),
    );
    if (facts.length > 0) await recordEvents(tx, endpointDisabled, facts, now);
    return facts;
  });
  for (const { endpoint_id, host, reason } of disabled)
    log.error({ endpoint: endpoint_id, host, reason, days }, 'a webhook endpoint was disabled');
}
