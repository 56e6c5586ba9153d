import type { Attack } from './attack.ts';
import { faultOfReply, openAttacker } from './attacker.ts';
import { shapes } from './shapes.ts';
import { inParallel, times } from './sockets.ts';

/** Just below what the gateway takes by default. */
const bytes = 8_000_000;
const places = ['messages', 'metadata', 'input'] as const;

/** The gateway refuses what is dear to read at a price that its other callers do not notice. */
export const gatewayBodies: Attack = {
  name: 'gateway-bodies',
  about: '8 MB of numbers, literals, nesting, escapes and keys to the gateway, 60 at once',
  transports: 'any',
  // The gateway may hold 128 MB of bodies, and what it parses is on a heap of up to 384.
  growthMb: 500,
  async run(battle) {
    const { arena, target, size } = battle;
    const key = await arena.gatewayKey();
    const atOnce = battle.of({ short: 24, long: 60 });
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
        battle.sent(1);
        const fault = faultOfReply(reply);
        if (fault) battle.fault(`${name}: ${fault}`);
      });
      battle.progress(`${atOnce} x ${name}: ${Math.round(performance.now() - begun)} ms`);
    }
    attacker.close();
  },
};
