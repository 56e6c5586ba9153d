import { type Setting, setting } from '@tradepost/runtime';
import { z } from 'zod';
import type { StorageDriverEntry } from './drivers/driver.ts';
import { largestFile } from './limits.ts';
import { defaultExtensions, extensions } from './uploads/file-kinds.ts';

/**
 * The key with which the setting of the router is read. Its values depend on the modules that run, so the registered
 * definition comes from `routerSettings`. The same holds for `enabledDrivers`.
 */
export const defaultDriver = setting(
  'storage_router.default_driver',
  z.string(),
  'local',
  'storage driver of uploads that name none',
  {
    field: {
      page: { plugin: 'storage_router', title: { en: 'Storage', 'zh-CN': '存储设置' }, sort: 10 },
      label: { en: 'Default driver', 'zh-CN': '默认驱动' },
      choiceLabels: { local: { en: 'This server', 'zh-CN': '本地存储' } },
      required: true,
    },
  },
);
export const enabledDrivers = setting(
  'storage_router.enabled_drivers',
  z.array(z.string()).max(20),
  ['local', 'oss', 'cos', 'qiniu'],
  'storage drivers that take new files; each also needs its own settings. Stored files stay where they are',
);

/** The settings of the router, with the names and aliases of these drivers as their values. */
export function routerSettings(drivers: readonly StorageDriverEntry[]): Setting[] {
  const names = drivers.map(({ name }) => name);
  const all = [...new Set(drivers.flatMap(({ name, aliases }) => [name, ...aliases]))];
  const listed = new Intl.ListFormat('en', { type: 'disjunction' }).format(names);
  return [
    {
      ...defaultDriver,
      ...{ schema: z.enum(all), about: `${defaultDriver.about}: ${listed}` },
      field: { ...defaultDriver.field!, choices: names },
    },
    { ...enabledDrivers, schema: z.array(z.enum(all)).min(1).max(20), fallback: names },
  ];
}

export const maxBytes = setting(
  'storage.max_bytes',
  z.number().int().min(1_024).max(largestFile),
  10 * 1024 * 1024,
  'largest uploaded file in bytes; MAX_UPLOAD_BYTES limits the whole request',
);
export const allowedExtensions = setting(
  'storage.extensions',
  z.array(z.enum(extensions)).min(1).max(extensions.length),
  defaultExtensions,
  `types of files that may be uploaded: ${extensions.join(', ')}; the content decides, not the name`,
);
export const uploadsPerHour = setting(
  'storage.uploads_per_hour',
  z.number().int().min(1).max(1_000_000),
  1_000,
  'files that one account may upload in an hour',
);
export const unreferencedDays = setting(
  'storage.unreferenced_days',
  z.number().int().min(0).max(36_500),
  30,
  'days that a file is kept after its last reference was removed; 0 keeps it for ever',
);

export const storageSettings = [maxBytes, allowedExtensions, uploadsPerHour, unreferencedDays] as const;
