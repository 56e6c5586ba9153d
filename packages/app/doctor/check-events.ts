import type { DoctorCheck } from '@tradepost/module';
import { selectBacklog, selectEvents } from '@tradepost/runtime';

const lateMinutes = 5;
/** Counting stops here: a long backlog is not counted to its end. */
const mostCounted = 10_000;

export const eventsCheck: DoctorCheck = {
  area: { name: 'events', sort: 41 },
  async check({ sql }, { ok, warning, error }) {
    const { waiting, oldest } = await selectBacklog(sql, mostCounted);
    const minutes = oldest ? Math.floor((Date.now() - oldest.getTime()) / 60_000) : 0;
    const count = waiting === mostCounted ? `${mostCounted} or more` : String(waiting);
    if (minutes >= lateMinutes)
      error(
        'events/late',
        `${count} events wait, the oldest for ${minutes} min: messages and webhooks are late`,
        'tradepost start --only worker, and tradepost events list --waiting',
      );
    else ok(`${count} events wait for their dispatch`);
    const failed = await selectEvents(sql, { states: ['failed'] }, 1);
    if (failed.length > 0)
      warning('events/failed', 'events have used all attempts', 'tradepost events list --failed, then events retry');
  },
};
