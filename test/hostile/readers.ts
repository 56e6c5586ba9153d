import { setTimeout as sleep } from 'node:timers/promises';
import { firehoseModel } from './arena.ts';
import type { Attack } from './attack.ts';
import { dial, inParallel, type RawConnection, times } from './sockets.ts';

/** Public, and more than a megabyte. */
const bigAnswer = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: shop.example\r\n\r\n';
/** Time in which a server cuts a reader that takes nothing. */
const cutSeconds = 25;

/** Whoever asks for much and reads nothing is not waited for, and costs no more than what the kernel holds. */
export const readers: Attack = {
  name: 'slow-readers',
  about: 'big answers and streams of the gateway that are asked for and never read',
  transports: 'each',
  waits: true,
  async run(battle) {
    const { arena, target } = battle;
    const key = await arena.gatewayKey();
    const chat = JSON.stringify({ model: firehoseModel, stream: true, messages: [{ role: 'user', content: 'go on' }] });
    const stream =
      `POST /v1/chat/completions HTTP/1.1\r\nHost: gateway.example\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${chat.length}\r\n\r\n${chat}`;
    const asked = [
      ...times(battle.of({ short: 60, long: 300 })).map(() => ({ port: target.api.port, text: bigAnswer })),
      // Pipelined: each answer would be kept while the one before it is not read.
      ...times(battle.of({ short: 5, long: 30 })).map(() => ({ port: target.api.port, text: bigAnswer.repeat(50) })),
      ...times(battle.of({ short: 20, long: 80 })).map(() => ({ port: target.gateway.port, text: stream })),
    ];
    const connections: RawConnection[] = [];
    await inParallel(asked, 50, async ({ port, text }) => {
      const connection = await dial(port, { reads: false });
      connections.push(connection);
      connection.send(text);
      battle.sent(1);
    });
    await sleep(battle.of({ short: 1_500, long: cutSeconds * 1_000 }));
    if (arena.firehose.received.length === 0) battle.fault('no stream has begun: nothing is shown');
    for (const connection of connections) connection.destroy();
    const gone = () => arena.firehose.received.every(({ aborted }) => aborted);
    for (const end = performance.now() + 5_000; !gone() && performance.now() < end; ) await sleep(50);
    if (!gone() && battle.size === 'long') battle.fault('the upstream still sends to clients that have gone');
  },
};
