import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { finished } from 'node:stream/promises';

/** Writes to a file, or to standard output with `-`, with back-pressure. A file gets its name when it is complete. */
export async function openOutput(file: string) {
  const part = `${file}.part`;
  const stream = file === '-' ? process.stdout : createWriteStream(part);
  if (file !== '-') await once(stream, 'open');
  const failed = new Promise<never>((_, reject) => stream.once('error', reject));
  failed.catch(() => {});
  return {
    async write(text: string) {
      if (!stream.write(text)) await Promise.race([once(stream, 'drain'), failed]);
    },
    async end() {
      if (file === '-') return;
      stream.end();
      await finished(stream);
      await rename(part, file);
    },
    async drop() {
      if (file === '-') return;
      stream.destroy();
      await rm(part, { force: true });
    },
  };
}
