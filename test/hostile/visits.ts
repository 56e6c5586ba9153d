import type { Attack } from './attack.ts';
import { faultOfReply, openAttacker } from './attacker.ts';
import { inParallel, times } from './sockets.ts';

/** Visits of one network that are counted in a minute (`visitsPerMinute` of analytics). The attack may touch two minutes. */
const perMinute = 120;

/** Visits that a program invents are answered, and add a bounded number of rows. */
export const visits: Attack = {
  name: 'visits',
  about: 'invented visits of one network, each with another browser and page load',
  transports: 'any',
  async run(attackRun) {
    const { servers, target } = attackRun;
    const attacker = openAttacker();
    const count = async () =>
      (await servers.sql<{ rows: number }[]>`select count(*)::int as rows from analytics.visitors`)[0]!.rows;
    const before = await count();
    await inParallel(times(attackRun.of({ short: 600, long: 10_000 })), 64, async (index) => {
      const reply = await attacker.ask(target.api.url, '/api/v1/visits', {
        json: { path: `/products/${index}`, page_load: `load-${index}`, campaign: `campaign ${index}` },
        headers: { 'user-agent': `Mozilla/5.0 (Windows NT 10.0; ${index}) Firefox/140.0` },
      });
      attackRun.sent(1);
      const fault = faultOfReply(reply);
      if (fault) attackRun.fault(`a visit: ${fault}`);
    });
    const added = (await count()) - before;
    if (added === 0) attackRun.fault('no visit was counted, so the attack tested nothing');
    if (added > 3 * perMinute)
      attackRun.fault(`${added} visitors of one network were stored (at most ${perMinute} a minute)`);
    attacker.close();
  },
};
