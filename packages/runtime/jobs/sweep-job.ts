import type { Job } from './jobs.ts';

const bucketMs = 15_000;

/** The job of a sweep that runs just after this time. Rows that are due in one quarter of a minute share a job. */
export function sweepJob(task: string, dueAt: Date): Job & { readonly key: string } {
  const bucket = Math.floor(dueAt.getTime() / bucketMs) + 1;
  return { task, payload: {}, runAt: new Date(bucket * bucketMs), key: `${task}:${bucket}` };
}
