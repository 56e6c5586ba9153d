import type { Attack, AttackRun } from './attack.ts';
import { type Attacker, faultOfReply, openAttacker, type Reply } from './attacker.ts';
import { inParallel, times } from './sockets.ts';

/** Defaults of login.failures_per_address, login.failures_per_account and sms.per_address_hour. */
const promised = { failuresPerAddress: 50, failuresPerAccount: 10, codesPerAddress: 60 } as const;

/** Sends `count` requests at once. Returns the answers that were not refused by a limit. */
async function flood(attackRun: AttackRun, count: number, ask: (index: number) => Promise<Reply>): Promise<Reply[]> {
  const heard: Reply[] = [];
  await inParallel(times(count), count, async (index) => {
    const reply = await ask(index);
    attackRun.sent(1);
    const fault = faultOfReply(reply);
    if (fault) attackRun.fault(fault);
    const isPutOff = reply.code === 429 || reply.status === 429 || reply.status === 503;
    if (!isPutOff) heard.push(reply);
  });
  return heard;
}

const guess = (attacker: Attacker, url: string, username: string, index: number) =>
  attacker.ask(url, '/api/auth/login', {
    json: { username, password: `guess ${index}` },
    // No proxy is trusted, so X-Forwarded-For must not change the address.
    headers: { 'x-forwarded-for': `198.51.100.${index % 250}`, 'x-real-ip': `203.0.113.${index % 250}` },
  });

/** Attempts to guess passwords and codes, and messages that the shop pays for, are limited also for concurrent requests. */
export const logins: Attack = {
  name: 'logins',
  about: 'wrong passwords and login codes, all at once: one address, one account, one phone, many phones',
  transports: 'any',
  async run(attackRun) {
    const { servers, target } = attackRun;
    const { url } = target.api;
    const count = attackRun.of({ short: 120, long: 400 });
    const name = `${target.name}-${Math.random().toString(36).slice(2, 8)}`;
    const one = openAttacker({ sockets: 400 });
    const ofAddress = await flood(attackRun, count, (index) => guess(one, url, `${name}-${index}`, index));
    if (ofAddress.length > promised.failuresPerAddress)
      attackRun.fault(
        `${ofAddress.length} passwords were tried from one address (at most ${promised.failuresPerAddress})`,
      );

    if (process.platform === 'linux') {
      const crowd = times(40).map((index) => openAttacker({ from: `127.10.${index}.1`, sockets: 10 }));
      const ofAccount = await flood(attackRun, 120, (index) => guess(crowd[index % crowd.length]!, url, name, index));
      if (ofAccount.length > promised.failuresPerAccount)
        attackRun.fault(
          `${ofAccount.length} passwords were tried for one account (at most ${promised.failuresPerAccount})`,
        );
      for (const attacker of crowd) attacker.close();
    }

    const send = (phone: string) => one.ask(url, '/api/v1/auth/sms/send', { json: { phone } });
    const digits = String(10_000_000 + Math.floor(Math.random() * 80_000_000));
    const sentBefore = servers.codesSent();
    const ofPhone = (await flood(attackRun, 30, () => send(`139${digits}`))).filter(({ code }) => code === 0);
    if (ofPhone.length !== 1)
      attackRun.fault(`${ofPhone.length} codes were requested for one phone within a minute (one)`);
    const others = await flood(attackRun, count, (index) =>
      send(`137${String(Number(digits) + index).padStart(8, '0')}`),
    );
    const taken = others.filter(({ code }) => code === 0).length + ofPhone.length;
    if (taken > promised.codesPerAddress)
      attackRun.fault(`${taken} codes were requested from one address (at most ${promised.codesPerAddress} an hour)`);
    if (servers.codesSent() - sentBefore > promised.codesPerAddress)
      attackRun.fault(`${servers.codesSent() - sentBefore} messages were sent`);
    one.close();
  },
};
