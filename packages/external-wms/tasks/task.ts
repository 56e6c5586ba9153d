import type { TaskAction } from '../protocol/actions.ts';

export const taskStatuses = ['pending', 'processing', 'success', 'failed'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

/** One intent. `payload` is the body of the call without request_id. */
export type NewTask = {
  biz_type: string;
  biz_no: string;
  action: TaskAction;
  payload: Readonly<Record<string, unknown>>;
  /** Tasks of one key go one after the other; default `<biz_type>:<biz_no>`. */
  sequence_key?: string;
};

/** The same in every attempt; it is also the idempotency key. */
export const requestIdOf = (task: Pick<NewTask, 'biz_type' | 'biz_no' | 'action'>): string =>
  `${task.biz_type}:${task.biz_no}:${task.action}`;
