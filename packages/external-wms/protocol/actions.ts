/** What the shop sends to the external warehouse as a task: one path of the protocol each. */
export const taskActions = ['reserve', 'confirm', 'release', 'deduct', 'restore', 'sync_sku'] as const;
export type TaskAction = (typeof taskActions)[number];
