import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from './attack.ts';
import { dial, inParallel, type RawConnection, times } from './sockets.ts';
import { firehoseModel } from './test-servers.ts';

/** A public answer of more than a megabyte. */
const bigAnswer = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: shop.example\r\n\r\n';
/** Time in which a server closes the connection of a client that reads nothing. */
const cutSeconds = 25;

/** The server does not wait for clients that read nothing, and buffers no more for them than the kernel does. */
export const readers: Attack = {
  name: 'slow-readers',
  about: 'large answers and gateway streams that the client never reads',
  transports: 'each',
  waits: true,
  async run(attackRun) {
    const { servers, target } = attackRun;
    const key = await servers.gatewayKey();
    const chat = JSON.stringify({ model: firehoseModel, stream: true, messages: [{ role: 'user', content: 'go on' }] });
    const stream =
      `POST /v1/chat/completions HTTP/1.1\r\nHost: gateway.example\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${chat.length}\r\n\r\n${chat}`;
    const asked = [
      ...times(attackRun.of({ short: 60, long: 300 })).map(() => ({ port: target.api.port, text: bigAnswer })),
      // Pipelined requests: the server would have to buffer each answer until the one before it is read.
      ...times(attackRun.of({ short: 5, long: 30 })).map(() => ({ port: target.api.port, text: bigAnswer.repeat(50) })),
      ...times(attackRun.of({ short: 20, long: 80 })).map(() => ({ port: target.gateway.port, text: stream })),
    ];
    const connections: RawConnection[] = [];
    await inParallel(asked, 50, async ({ port, text }) => {
      const connection = await dial(port, { reads: false });
      connections.push(connection);
      connection.send(text);
      attackRun.sent(1);
    });
    await sleep(attackRun.of({ short: 1_500, long: cutSeconds * 1_000 }));
    if (servers.firehose.received.length === 0) attackRun.fault('no stream started, so the attack tested nothing');
    for (const connection of connections) connection.destroy();
    const gone = () => servers.firehose.received.every(({ aborted }) => aborted);
    for (const end = performance.now() + 5_000; !gone() && performance.now() < end; ) await sleep(50);
    if (!gone() && attackRun.size === 'long')
      attackRun.fault('the upstream still sends to clients that have disconnected');
  },
};
