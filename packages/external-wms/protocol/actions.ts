/** The actions that the shop sends as tasks. Each has its own path. */
export const taskActions = ['reserve', 'confirm', 'release', 'deduct', 'restore', 'sync_sku'] as const;
export type TaskAction = (typeof taskActions)[number];
