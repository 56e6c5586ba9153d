import type { SealedColumn, TableInChangeLog } from '@tradepost/runtime';

export const aiImageTables: readonly string[] = ['ai_images.models', 'ai_images.tasks'];

/** The name that the key of a model is sealed with. */
export const modelSecret = (id: number | string): string => `ai_images.models:${id}`;

export const aiImageSealed: readonly SealedColumn[] = [
  { table: 'ai_images.models', key: 'id', column: 'api_key_sealed', nameOf: modelSecret },
];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const aiImagesInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'ai_images.models': { en: 'image model', 'zh-CN': '图片模型' },
  'ai_images.tasks': { en: 'image task', 'zh-CN': '图片任务' },
};
