import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack, AttackRun } from './attack.ts';
import { openAttacker } from './attacker.ts';
import { times } from './sockets.ts';

type Receiver = { url: string; requests(): number; most(): number; close(): Promise<void> };

/** Answers of webhook receivers that never end. */
const answers: readonly (readonly [name: string, answer: (socket: Socket) => void])[] = [
  ['no answer', () => {}],
  [
    'a body without end',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n');
      const chunk = Buffer.alloc(1_000_000, 0x78);
      const fill = () => {
        while (socket.writable && socket.write(chunk));
      };
      socket.on('drain', fill);
      fill();
    },
  ],
  [
    'a head without end',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write(`X-A: ${'a'.repeat(900)}\r\n`), 20);
      socket.on('close', () => clearInterval(timer));
    },
  ],
];

async function openReceiver(answer: (socket: Socket) => void): Promise<Receiver> {
  const open = new Set<Socket>();
  let requests = 0;
  let most = 0;
  const server = createServer((socket) => {
    open.add(socket);
    most = Math.max(most, open.size);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
    socket.once('data', () => {
      requests += 1;
      answer(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}/`,
    requests: () => requests,
    most: () => most,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Requests to an endpoint at once: those of both workers (`webhooks.concurrency`), and test messages (`testSlots`). */
const mostRequests = 2 * 8 + 2 * 8;

async function attackWith(attackRun: AttackRun, name: string, answer: (socket: Socket) => void): Promise<void> {
  const { servers, target } = attackRun;
  const attacker = openAttacker({ sockets: 100 });
  const receiver = await openReceiver(answer);
  const token = servers.staff;
  const path = '/admin/api/webhooks/endpoints';
  const json = { url: receiver.url, event_kinds: ['order.placed', 'order.paid', 'order.cancelled'] };
  const made = await attacker.ask(target.api.url, path, { token, json });
  if (made.code !== 0) return attackRun.fault(`${name}: the endpoint was refused: ${made.text.slice(0, 200)}`);
  const { id } = JSON.parse(made.text).data;
  const tests = times(100).map(() => attacker.ask(target.api.url, `${path}/${id}/test`, { method: 'POST', token }));
  attackRun.sent(tests.length);
  // Shoppers of the ordinary load cause events.
  await sleep(attackRun.of({ short: 1_500, long: 16_000 }));
  // On a busy machine the first request leaves later.
  for (const end = performance.now() + 20_000; receiver.requests() === 0 && performance.now() < end; ) await sleep(50);
  if (receiver.requests() === 0) attackRun.fault(`${name}: the receiver got nothing, so the attack tested nothing`);
  if (receiver.most() > mostRequests)
    attackRun.fault(`${name}: ${receiver.most()} requests at once to one endpoint (at most ${mostRequests})`);
  const removed = await attacker.ask(target.api.url, `${path}/${id}`, { method: 'DELETE', token });
  if (removed.code !== 0) attackRun.fault(`${name}: the endpoint is not removed: ${removed.text.slice(0, 200)}`);
  await receiver.close();
  for (const { status, text } of await Promise.all(tests))
    if (status !== 200 && status !== 503)
      attackRun.fault(`${name}: a test is answered with ${status} ${text.slice(0, 200)}`);
  attacker.close();
}

/** Webhook receivers that never end their answer take a bounded number of connections, and no memory. */
export const receivers: Attack = {
  name: 'receivers',
  about: 'webhook endpoints that never answer, or answer without end; 100 test messages at once',
  transports: 'any',
  waits: true,
  run: async (attackRun) =>
    void (await Promise.all(answers.map(([name, answer]) => attackWith(attackRun, name, answer)))),
};
