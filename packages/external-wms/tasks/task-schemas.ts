import { isoInZone } from '@tradepost/core';
import { id, text, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { taskActions } from '../protocol/actions.ts';
import { taskStatuses } from './task.ts';
import type { TaskRow } from './task-list-store.ts';

export const taskListQuery = z.object({
  status: z.enum(taskStatuses).optional(),
  biz_no: text(200)
    .optional()
    .meta({ description: 'number of the order or document', examples: ['1772358600000000001'] }),
  action: z.enum(taskActions).optional(),
});

const moment = () => timestamp().nullable();

export const taskSchema = z
  .object({
    id: id(),
    provider: z.string().meta({ examples: ['external_wms'] }),
    biz_type: z.string().meta({ examples: ['order'] }),
    biz_no: z.string().meta({ examples: ['1772358600000000001'] }),
    action: z.enum(taskActions),
    request_id: z.string().meta({
      description: 'the id that the warehouse gets with every attempt, also as Idempotency-Key',
      examples: ['order:1772358600000000001:reserve'],
    }),
    sequence_key: z.string().meta({
      description: 'tasks with the same key are delivered one after the other',
      examples: ['order:1772358600000000001'],
    }),
    mode: z.enum(['sync', 'async']),
    payload: z.string().meta({ description: 'JSON text', examples: ['{"biz_type":"order"}'] }),
    status: z.enum(taskStatuses),
    attempt_count: z.int(),
    max_attempts: z.int(),
    backoff_seconds: z.int(),
    next_retry_at: timestamp(),
    last_code: z.int().nullable(),
    last_error: z.string(),
    lock_owner: z.string().nullable(),
    lock_expires_at: moment(),
    accepted_at: moment().meta({ description: 'when the warehouse accepted the task; it will call back' }),
    completed_at: moment(),
    last_callback_id: z.string().nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'InventoryTask' });

export const retriedSchema = z.object({ retried: id() });

export function taskView(task: TaskRow, zone: string): z.input<typeof taskSchema> {
  const at = (moment: Date | null) => moment && isoInZone(moment, zone);
  return {
    ...task,
    payload: JSON.stringify(task.payload),
    next_retry_at: isoInZone(task.next_retry_at, zone),
    lock_expires_at: at(task.lock_expires_at),
    accepted_at: at(task.accepted_at),
    completed_at: at(task.completed_at),
    created_at: isoInZone(task.created_at, zone),
    updated_at: isoInZone(task.updated_at, zone),
  };
}
