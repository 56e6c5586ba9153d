import { resolve } from 'node:path';
import { setting } from '@tradepost/runtime';
import { z } from 'zod';
import type { DriverRuntime } from '../driver.ts';

export const uploadDir = setting(
  'storage_local.upload_dir',
  z.string().trim().min(1).max(1_000),
  'uploads',
  'folder of uploaded files, in the data folder unless it is absolute; all processes of the shop share it',
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
);

/** The folder of uploaded files. */
export const uploadFolder = ({ config, settings }: DriverRuntime): string =>
  resolve(config.data, settings.get(uploadDir));
