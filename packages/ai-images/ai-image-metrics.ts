import { defineMetrics } from '@tradepost/runtime';

export const aiImageMetrics = defineMetrics(({ counter, histogram }) => ({
  tasks: counter({
    name: 'ai_image_tasks_total',
    help: 'AI image tasks that ended: done or failed',
    labelNames: ['result'],
  }),
  seconds: histogram({
    name: 'ai_image_task_seconds',
    help: 'Time from the creation of an AI image task until it was done',
    buckets: [1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1_800],
  }),
  attemptSeconds: histogram({
    name: 'ai_image_attempt_seconds',
    help: 'Time of one attempt of an AI image task, successful or not',
    buckets: [0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 900],
  }),
}));
export type AiImageMetrics = ReturnType<typeof aiImageMetrics>;
