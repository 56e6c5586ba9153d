import type { Attack, AttackRun } from './attack.ts';
import { faultOfReply, openAttacker } from './attacker.ts';
import { type Shape, shapes } from './shapes.ts';
import { inParallel, times } from './sockets.ts';

/** Just below the default body limit of the gateway. */
const bytes = 8_000_000;
const places = ['messages', 'metadata', 'input'] as const;

type Named = { name: string; body: Uint8Array };

/** Sends each body `atOnce` times at once. */
async function send({ servers, target, progress, fault, sent }: AttackRun, bodies: Iterable<Named>, atOnce: number) {
  const key = await servers.gatewayKey();
  const attacker = openAttacker({ sockets: atOnce });
  for (const { name, body } of bodies) {
    if (target.ended() !== null) return;
    const begun = performance.now();
    await inParallel(times(atOnce), atOnce, async () => {
      const reply = await attacker.ask(target.gateway.url, '/v1/chat/completions', {
        body,
        token: key,
        limitMs: 60_000,
      });
      sent(1);
      const wrong = faultOfReply(reply);
      if (wrong) fault(`${name}: ${wrong}`);
    });
    progress(`${atOnce} x ${name}: ${Math.round(performance.now() - begun)} ms`);
  }
  attacker.close();
}

/** A message of the same size: cheap to parse, and answered by the upstream. */
function* plainTexts() {
  const body = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'a'.repeat(bytes) }] }));
  for (let n = 1; n <= 4; n += 1) yield { name: `plain text ${n}`, body };
}

function* hostileBodies(chosen: readonly Shape[]) {
  for (const [index, { name, value }] of chosen.entries()) {
    const field = places[index % places.length]!;
    yield { name, body: Buffer.from(`{"model":"m","messages":[],"${field}":${value(bytes)}}`) };
  }
}

/** The gateway refuses bodies that are expensive to parse without delaying other callers. */
export const gatewayBodies: Attack = {
  name: 'gateway-bodies',
  about: '8 MB of numbers, literals, nesting, escapes and keys to the gateway, 60 at once',
  transports: 'any',
  // The gateway may buffer 128 MB of bodies, and parses them on a heap of up to 384 MB.
  growthMb: 500,
  harmless: { run: (attackRun) => send(attackRun, plainTexts(), 60), times: 4 },
  async run(attackRun) {
    const isLong = attackRun.size === 'long';
    const chosen = isLong ? shapes : shapes.filter(({ name }) => ['numbers', 'many keys'].includes(name));
    await send(attackRun, hostileBodies(chosen), attackRun.of({ short: 24, long: 60 }));
  },
};
