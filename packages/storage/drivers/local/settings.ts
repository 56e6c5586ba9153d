import { resolve } from 'node:path';
import { type ConfigPage, setting } from '@tradepost/runtime';
import { z } from 'zod';
import type { DriverRuntime } from '../driver.ts';

const page: ConfigPage = { plugin: 'storage_local', title: { en: 'Local storage', 'zh-CN': '本地存储' }, sort: 11 };

export const uploadDir = setting(
  'storage_local.upload_dir',
  z.string().trim().min(1).max(1_000),
  'uploads',
  'folder of uploaded files, in the data folder unless it is absolute; all processes of the shop share it',
  { field: { page, label: { en: 'Folder', 'zh-CN': '存储目录' }, placeholder: 'uploads' } },
);
export const baseUrl = setting(
  'storage_local.base_url',
  z
    .string()
    .trim()
    .max(500)
    .regex(/^$|^https?:\/\/[^\s"'<>\\]+$|^\/(?!\/)[^\s"'<>\\]*$/, {
      error: 'must be empty, a path, or an http(s) address',
    }),
  '',
  'address before the paths of local files, such as that of a CDN; empty: /uploads of this shop',
  {
    field: {
      page,
      label: { en: 'Base URL', 'zh-CN': '访问地址' },
      rule: { en: 'must be empty, a path, or an http(s) address', 'zh-CN': '须为空、路径或 http(s) 地址' },
    },
  },
);

/** The folder of uploaded files. */
export const uploadFolder = ({ config, settings }: DriverRuntime): string =>
  resolve(config.data, settings.get(uploadDir));
