import { Agent, request } from 'node:http';
import { join } from 'node:path';
import type { BenchOptions } from './alternating-runs.ts';
import { mean, progress, type Row, type Section } from './report.ts';
import { seedBuyers } from './seed.ts';
import { type Cluster, freePort, type Process, startProcess, startShop, temporaryFolder } from './server.ts';
import { cpuSeconds, residentMb } from './usage.ts';

const imageBytes = 1_000_000;
const connections = 8;
const rounds = 2;
const kinds = ['bare server', 'shop'] as const;
type Kind = (typeof kinds)[number];
type Turn = { mbPerSecond: number; peakMb: number | null; cpuMs: number | null };

const boundary = 'tradepost-bench';

/** A PNG by its first bytes, and the multipart form around it. */
function bodies() {
  const image = Buffer.alloc(imageBytes, 7);
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(image);
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n`;
  return { raw: image, form: Buffer.concat([Buffer.from(head), image, Buffer.from(`\r\n--${boundary}--\r\n`)]) };
}

function post(url: string, agent: Agent, body: Buffer, headers: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method: 'POST', agent, headers: { ...headers, 'content-length': body.length } },
      (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        answer.on('end', () =>
          text.startsWith('{"code":0') ? resolve() : reject(new Error(`${answer.statusCode}: ${text}`)),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Uploads images on all connections for some seconds. The first second is not measured. */
async function turnOf(server: Process, path: string, body: Buffer, headers: Record<string, string>, seconds: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const url = server.url + path;
  const run = async (until: number) => {
    let done = 0;
    const one = async () => {
      while (performance.now() < until) {
        await post(url, agent, body, headers);
        done += 1;
      }
    };
    await Promise.all(Array.from({ length: connections }, one));
    return done;
  };
  await run(performance.now() + 1_000);
  let peakMb = residentMb(server.pid);
  const watch = setInterval(() => {
    const now = residentMb(server.pid);
    if (now !== null && now > (peakMb ?? 0)) peakMb = now;
  }, 100);
  const cpuBefore = cpuSeconds(server.pid);
  const began = performance.now();
  const done = await run(began + seconds * 1_000);
  const elapsed = (performance.now() - began) / 1_000;
  const cpuAfter = cpuSeconds(server.pid);
  clearInterval(watch);
  agent.destroy();
  const cpuMs = cpuBefore === null || cpuAfter === null ? null : ((cpuAfter - cpuBefore) / done) * 1_000;
  return { mbPerSecond: (done * imageBytes) / 1e6 / elapsed, peakMb, cpuMs } satisfies Turn;
}

/** Uploads of 1 MB images to the local driver, compared with a server that only writes the same bytes to files. */
export async function uploads(cluster: Cluster, { seconds, profile }: BenchOptions): Promise<Section[]> {
  const [buyer] = await seedBuyers(cluster.sql, cluster.tokens, 1);
  await cluster.sql`
    insert into runtime.settings (key, value) values ('storage.uploads_per_hour', '1000000')
    on conflict (key) do update set value = excluded.value`;
  const folder = await temporaryFolder();
  const port = await freePort();
  const script = join(import.meta.dirname, 'upload-target.ts');
  const bare = await startProcess([script, join(folder.path, 'bare')], {
    port,
    env: { PORT: String(port) },
    path: '/',
  });
  const shop = await startShop({ data: folder.path, databaseUrl: cluster.url, profile });
  const { raw, form } = bodies();
  const headers = {
    authorization: `Bearer ${buyer!.token}`,
    'content-type': `multipart/form-data; boundary=${boundary}`,
  };
  const turns: Record<Kind, Turn[]> = { 'bare server': [], shop: [] };
  for (let round = 0; round < rounds; round++)
    for (const kind of kinds) {
      const turn =
        kind === 'shop'
          ? await turnOf(shop, '/api/v1/upload', form, headers, seconds)
          : await turnOf(bare, '/', raw, {}, seconds);
      progress(`${kind}: ${turn.mbPerSecond.toFixed(0)} MB/s`);
      turns[kind].push(turn);
    }
  await shop.stop();
  await bare.stop();
  await folder.remove();
  const means = kinds.map((kind) => ({
    kind,
    speed: mean(turns[kind].map(({ mbPerSecond }) => mbPerSecond)),
    peak: turns[kind].some(({ peakMb }) => peakMb === null)
      ? null
      : Math.max(...turns[kind].map(({ peakMb }) => peakMb!)),
    cpu: turns[kind].some(({ cpuMs }) => cpuMs === null) ? null : mean(turns[kind].map(({ cpuMs }) => cpuMs!)),
  }));
  const rows = means.map(
    ({ kind, speed, peak, cpu }): Row => ({
      server: kind,
      'MB/s': speed,
      'of bare': speed / means[0]!.speed,
      'peak RSS MB': peak,
      'CPU ms/image': cpu,
    }),
  );
  return [
    {
      title: `uploads of 1 MB images on ${connections} connections, mean of ${rounds} runs`,
      rows,
      notes: [
        'the bare server writes the bytes to a file, flushes and renames it; the shop also checks the token, the',
        'form, the type and the limits, and writes two rows',
      ],
    },
  ];
}
