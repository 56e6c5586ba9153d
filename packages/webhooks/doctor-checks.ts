import type { DoctorCheck } from '@tradepost/module';
import { selectOldestDue } from './delivery-log/delivery-list-store.ts';
import { selectCounts, selectEndpoints } from './endpoints/endpoint-store.ts';

const area = { name: 'webhooks', sort: 55 };
/** A due delivery that has waited this long is not sent by anyone. */
const overdueMinutes = 10;

const endpoints: DoctorCheck = {
  area,
  async check({ sql }, { ok, note, warning }) {
    const all = await selectEndpoints(sql, null);
    if (all.length === 0) return;
    const counts = await selectCounts(
      sql,
      all.map(({ id }) => id),
    );
    for (const { id, url, enabled, disabled_reason: reason, failing_since: since } of all) {
      const name = `endpoint ${id} (${new URL(url).hostname})`;
      const failed = counts.get(id)?.failed ?? 0;
      if (reason !== '')
        warning(
          'webhooks/disabled',
          `${name} was disabled: ${reason === 'gone' ? 'it answered 410' : 'all attempts of some days failed'}`,
          `tradepost webhooks test ${id}, then tradepost webhooks enable ${id}`,
        );
      else if (!enabled)
        note(
          'webhooks/disabled-by-staff',
          `${name} is disabled by staff`,
          `tradepost webhooks enable ${id}, or remove ${id}`,
        );
      else if (since)
        warning(
          'webhooks/failing',
          `${name} fails since ${since.toISOString()}`,
          `tradepost webhooks deliveries --endpoint ${id}`,
        );
      else ok(`${name} has no failure`);
      if (failed > 0)
        warning(
          'webhooks/failed-deliveries',
          `${name}: ${failed} deliveries have used all attempts`,
          `tradepost webhooks replay ${id} --failed`,
        );
    }
  },
};

const backlog: DoctorCheck = {
  area,
  async check({ sql }, { warning }) {
    const oldest = await selectOldestDue(sql);
    const minutes = oldest ? Math.floor((Date.now() - oldest.getTime()) / 60_000) : 0;
    if (minutes >= overdueMinutes)
      warning(
        'webhooks/overdue',
        `a webhook delivery is due for ${minutes} min: no worker sends it, or its endpoint does not keep up`,
        'start a worker; tradepost webhooks deliveries --status waiting shows the backlog',
      );
  },
};

export const webhookDoctorChecks: readonly DoctorCheck[] = [endpoints, backlog];
