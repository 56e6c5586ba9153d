import { once } from 'node:events';
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/*
 * Thread of a test: clients that open a connection for each request until the port refuses them, as a proxy without idle connections
 * does. Posts the number of requests that were answered, and what became of the others.
 */
const { port, clients } = workerData as { port: number; clients: number };
const lost: string[] = [];
let answered = 0;
let refused = 0;

async function send(): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  const closed = once(socket, 'close').catch((error: NodeJS.ErrnoException) => error.code ?? error.message);
  socket.once('connect', () =>
    socket.write('POST / HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc'),
  );
  const ended = await closed;
  if (ended === 'ECONNREFUSED') refused += 1;
  else if (received.endsWith('hello')) answered += 1;
  else lost.push(`${typeof ended === 'string' ? ended : 'closed'} after ${JSON.stringify(received)}`);
  return ended !== 'ECONNREFUSED';
}

await Promise.all(
  Array.from({ length: clients }, async () => {
    while (await send());
  }),
);
parentPort?.postMessage({ answered, refused, lost });
