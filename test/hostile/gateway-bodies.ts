import type { Attack } from './attack.ts';
import { faultOfReply, openAttacker } from './attacker.ts';
import { shapes } from './shapes.ts';
import { inParallel, times } from './sockets.ts';

/** Just below the default body limit of the gateway. */
const bytes = 8_000_000;
const places = ['messages', 'metadata', 'input'] as const;

/** The gateway refuses bodies that are expensive to parse without delaying other callers. */
export const gatewayBodies: Attack = {
  name: 'gateway-bodies',
  about: '8 MB of numbers, literals, nesting, escapes and keys to the gateway, 60 at once',
  transports: 'any',
  // The gateway may buffer 128 MB of bodies, and parses them on a heap of up to 384 MB.
  growthMb: 500,
  async run(attackRun) {
    const { servers, target, size } = attackRun;
    const key = await servers.gatewayKey();
    const atOnce = attackRun.of({ short: 24, long: 60 });
    const attacker = openAttacker({ sockets: atOnce });
    const chosen = size === 'long' ? shapes : shapes.filter(({ name }) => ['numbers', 'many keys'].includes(name));
    for (const [index, { name, value }] of chosen.entries()) {
      if (target.ended() !== null) return;
      const field = places[index % places.length]!;
      const body = Buffer.from(`{"model":"m","messages":[],"${field}":${value(bytes)}}`);
      const begun = performance.now();
      await inParallel(times(atOnce), atOnce, async () => {
        const reply = await attacker.ask(target.gateway.url, '/v1/chat/completions', {
          body,
          token: key,
          limitMs: 60_000,
        });
        attackRun.sent(1);
        const fault = faultOfReply(reply);
        if (fault) attackRun.fault(`${name}: ${fault}`);
      });
      attackRun.progress(`${atOnce} x ${name}: ${Math.round(performance.now() - begun)} ms`);
    }
    attacker.close();
  },
};
