/** The calls that the shop sends as tasks. Each has a path of its own. */
export const taskActions = ['reserve', 'confirm', 'release', 'deduct', 'restore', 'sync_sku'] as const;
export type TaskAction = (typeof taskActions)[number];
