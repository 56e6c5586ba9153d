import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The only keys that the server accepts. */
export const s3Keys = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };

export type S3Faults = {
  /** Every so many requests one fails: with 503, without an answer, or in the middle of an object. */
  every?: number;
  /** More objects are refused, as by a quota. */
  maxObjects?: number;
};

/** Starts a server with the S3 protocol and these buckets as a process of its own. */
export async function startS3(buckets: readonly string[], faults: S3Faults = {}) {
  const script = fileURLToPath(new URL('./s3-process.ts', import.meta.url));
  const child = spawn(process.execPath, [script, s3Keys.id, s3Keys.secret, JSON.stringify(faults), ...buckets], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH ?? '' },
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: line.toString().trim(),
    async close() {
      const ended = once(child, 'close');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
