import { setting } from '@tradepost/runtime';
import { z } from 'zod';

export const maxAttempts = setting(
  'ai_images.max_attempts',
  z.number().int().min(1).max(20),
  3,
  'attempts of an AI image task at its service; a refused request is not repeated',
);
export const requestSeconds = setting(
  'ai_images.request_seconds',
  z.number().int().min(5).max(900),
  120,
  'seconds after which an attempt of an AI image task ends without an answer',
);
export const deadlineMinutes = setting(
  'ai_images.deadline_minutes',
  z.number().int().min(1).max(1_440),
  15,
  'minutes after which an AI image task that is not done has failed',
);
export const runningPerStaff = setting(
  'ai_images.running_per_staff',
  z.number().int().min(1).max(1_000),
  5,
  'AI image tasks that one administrator may have running at once',
);
export const runningTasks = setting(
  'ai_images.running',
  z.number().int().min(1).max(10_000),
  20,
  'AI image tasks that may run at once in the whole shop',
);

export const aiImageSettings = [maxAttempts, requestSeconds, deadlineMinutes, runningPerStaff, runningTasks] as const;
