import type { Attack, Battle } from './attack.ts';
import { type Attacker, faultOfReply, openAttacker, type Reply } from './attacker.ts';
import { inParallel, times } from './sockets.ts';

/** Defaults of login.failures_per_address, login.failures_per_account and sms.per_address_hour. */
const promised = { failuresPerAddress: 50, failuresPerAccount: 10, codesPerAddress: 60 } as const;

/** As many at once as one address has, or one each from as many addresses; the replies that were not put off. */
async function flood(battle: Battle, count: number, ask: (index: number) => Promise<Reply>): Promise<Reply[]> {
  const heard: Reply[] = [];
  await inParallel(times(count), count, async (index) => {
    const reply = await ask(index);
    battle.sent(1);
    const fault = faultOfReply(reply);
    if (fault) battle.fault(fault);
    const isPutOff = reply.code === 429 || reply.status === 429 || reply.status === 503;
    if (!isPutOff) heard.push(reply);
  });
  return heard;
}

const guess = (attacker: Attacker, url: string, username: string, index: number) =>
  attacker.ask(url, '/api/auth/login', {
    json: { username, password: `guess ${index}` },
    // No proxy is trusted: another address in every request changes nothing.
    headers: { 'x-forwarded-for': `198.51.100.${index % 250}`, 'x-real-ip': `203.0.113.${index % 250}` },
  });

/** Guessing passwords and codes, and sending messages at the shop's expense, is bounded also for requests sent at once. */
export const logins: Attack = {
  name: 'logins',
  about: 'wrong passwords and login codes, all at once: one address, one account, one phone, many phones',
  transports: 'any',
  async run(battle) {
    const { arena, target } = battle;
    const { url } = target.api;
    const count = battle.of({ short: 120, long: 400 });
    const name = `${target.name}-${Math.random().toString(36).slice(2, 8)}`;
    const one = openAttacker({ sockets: 400 });
    const ofAddress = await flood(battle, count, (index) => guess(one, url, `${name}-${index}`, index));
    if (ofAddress.length > promised.failuresPerAddress)
      battle.fault(
        `${ofAddress.length} passwords were tried from one address (at most ${promised.failuresPerAddress})`,
      );

    if (process.platform === 'linux') {
      const crowd = times(40).map((index) => openAttacker({ from: `127.10.${index}.1`, sockets: 10 }));
      const ofAccount = await flood(battle, 120, (index) => guess(crowd[index % crowd.length]!, url, name, index));
      if (ofAccount.length > promised.failuresPerAccount)
        battle.fault(
          `${ofAccount.length} passwords were tried for one account (at most ${promised.failuresPerAccount})`,
        );
      for (const attacker of crowd) attacker.close();
    }

    const send = (phone: string) => one.ask(url, '/api/v1/auth/sms/send', { json: { phone } });
    const digits = String(10_000_000 + Math.floor(Math.random() * 80_000_000));
    const sentBefore = arena.codesSent();
    const ofPhone = (await flood(battle, 30, () => send(`139${digits}`))).filter(({ code }) => code === 0);
    if (ofPhone.length !== 1) battle.fault(`${ofPhone.length} codes were asked for one phone within a minute (one)`);
    const others = await flood(battle, count, (index) => send(`137${String(Number(digits) + index).padStart(8, '0')}`));
    const taken = others.filter(({ code }) => code === 0).length + ofPhone.length;
    if (taken > promised.codesPerAddress)
      battle.fault(`${taken} codes were asked from one address (at most ${promised.codesPerAddress} an hour)`);
    if (arena.codesSent() - sentBefore > promised.codesPerAddress)
      battle.fault(`${arena.codesSent() - sentBefore} messages were sent`);
    one.close();
  },
};
