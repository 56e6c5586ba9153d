import { createWriteStream } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** The bare server of the bench uploads: writes each body to a file, flushes it to disk and renames it. */
const [folder = ''] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
let count = 0;

async function write(body: AsyncIterable<Uint8Array>): Promise<void> {
  count += 1;
  const file = join(folder, `${count}`);
  await pipeline(body, createWriteStream(`${file}.part`));
  const handle = await open(`${file}.part`, 'r');
  await handle.sync();
  await handle.close();
  await rename(`${file}.part`, file);
}

createServer((request, response) => {
  const work = request.method === 'POST' ? write(request) : Promise.resolve();
  work.then(
    () => response.setHeader('content-type', 'application/json').end('{"code":0}'),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
}).listen(Number(process.env.PORT), '127.0.0.1');
process.once('SIGTERM', () => process.exit());
