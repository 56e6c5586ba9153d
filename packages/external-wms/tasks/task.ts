import type { TaskAction } from '../protocol/actions.ts';

export const taskStatuses = ['pending', 'processing', 'success', 'failed'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

/** A task to write. `payload` is the body of the call without request_id. */
export type NewTask = {
  biz_type: string;
  biz_no: string;
  action: TaskAction;
  payload: Readonly<Record<string, unknown>>;
  /** Tasks with the same key are delivered one after the other. The default is `<biz_type>:<biz_no>`. */
  sequence_key?: string;
};

/** The id of a task at the partner. It is the same in every attempt, and also the idempotency key. */
export const requestIdOf = (task: Pick<NewTask, 'biz_type' | 'biz_no' | 'action'>): string =>
  `${task.biz_type}:${task.biz_no}:${task.action}`;
