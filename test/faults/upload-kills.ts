import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { examplePng } from '@tradepost/testing/routes/multipart';
import { openDataFolder, openTarget, startShop } from './kills.ts';
import { audit, check, emptyOutcome, type Scenario } from './scenario.ts';
import { until } from './test-shop.ts';

const clients = 8;
const imageBytes = 600_000;
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

type Uploader = {
  /** Hashes of all images that were sent, also of interrupted uploads. */
  readonly sent: ReadonlySet<string>;
  /** Hash of each confirmed upload, by its path. */
  readonly confirmed: ReadonlyMap<string, string>;
  interrupted(): number;
  finish(): Promise<void>;
};

/** Uploads different images without a pause. */
function startUploads(
  target: () => Promise<string>,
  tokens: readonly string[],
  refused: (text: string) => void,
): Uploader {
  const sent = new Set<string>();
  const confirmed = new Map<string, string>();
  let interrupted = 0;
  let ending = false;
  const client = async (token: string) => {
    while (!ending) {
      const url = await target();
      const bytes = Buffer.concat([examplePng, randomBytes(imageBytes)]);
      const hash = hashOf(bytes);
      sent.add(hash);
      const form = new FormData();
      form.append('file', new File([bytes], 'a.png', { type: 'image/png' }));
      try {
        const response = await fetch(`${url}/api/v1/upload`, {
          ...{ method: 'POST', body: form, headers: { authorization: `Bearer ${token}` } },
          signal: AbortSignal.timeout(30_000),
        });
        const answer = (await response.json()) as { code: number; message: string; data: { path: string } };
        if (answer.code === 0) confirmed.set(answer.data.path, hash);
        else if (response.status !== 503) refused(`an upload was refused: ${answer.code} ${answer.message}`);
      } catch {
        interrupted += 1;
        await sleep(20);
      }
    }
  };
  const running = Array.from({ length: clients }, (_, index) => client(tokens[index % tokens.length]!));
  return {
    sent,
    confirmed,
    interrupted: () => interrupted,
    async finish() {
      ending = true;
      await Promise.all(running);
    },
  };
}

/** All files of the upload folder, as relative paths. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

export const uploadsKilled: Scenario = {
  name: 'uploads-killed',
  about:
    'the API process is killed with -9 during uploads; only whole files are served, and half-written ones are removed',
  async run(environment) {
    const outcome = emptyOutcome();
    const folder = await openDataFolder();
    const uploadFolder = join(folder.data, 'uploads');
    const at = openTarget();
    const start = async () => {
      const server = await startShop(folder.data);
      at.up(server.url);
      return server;
    };
    let server = await start();
    const fault = (text: string) => {
      if (outcome.faults.length < 5) outcome.faults.push(text);
    };
    const uploader = startUploads(
      at.target,
      folder.buyers.map(({ token }) => token),
      fault,
    );
    for (const rounds = environment.size === 'long' ? 15 : 2; outcome.rounds < rounds; outcome.rounds += 1) {
      const from = uploader.confirmed.size;
      await until('uploads are confirmed', () => uploader.confirmed.size >= from + clients, 180);
      await sleep(Math.random() * 100);
      at.down();
      server.child.kill('SIGKILL');
      await server.ended;
      server = await start();
      environment.progress(
        `killed ${outcome.rounds + 1} of ${rounds} times, ${uploader.confirmed.size} uploads confirmed`,
      );
    }
    await uploader.finish();
    if (uploader.interrupted() === 0) outcome.faults.push('no upload was interrupted, so the scenario tested nothing');
    outcome.requests = uploader.sent.size;
    outcome.confirmed = uploader.confirmed.size;
    const read = async (file: string): Promise<string | null> => {
      const response = await fetch(`${server.url}/uploads/${file}`);
      const bytes = new Uint8Array(await response.arrayBuffer());
      return response.status === 200 ? hashOf(bytes) : null;
    };
    for (const [file, hash] of uploader.confirmed)
      if ((await read(file)) !== hash) fault(`${file} was confirmed and is not served as it was sent`);
    // A file may be complete although its answer was lost. What is served must be a whole image.
    for (const file of await filesBelow(uploadFolder)) {
      const hash = await read(file);
      if (hash !== null && !uploader.sent.has(hash)) fault(`${file} is served and is not a whole image`);
      if (file.startsWith('.incoming')) fault(`${file} stayed after the restart`);
    }
    await audit(folder.sql(), outcome);
    server.child.kill('SIGTERM');
    check(outcome, 'exit code of the shop after SIGTERM', await server.ended, 0);
    return outcome;
  },
};
