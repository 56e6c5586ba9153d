import { setting } from '@tradepost/runtime';
import { z } from 'zod';

export const webhookConcurrency = setting(
  'webhooks.concurrency',
  z.number().int().min(1).max(64),
  8,
  'requests to one webhook endpoint at once, by each worker',
);
export const disableAfterDays = setting(
  'webhooks.disable_after_days',
  z.number().int().min(0).max(365),
  5,
  'days of only failures after which a webhook endpoint is disabled; 0 never disables it',
);

export const webhookSettings = [webhookConcurrency, disableAfterDays] as const;
