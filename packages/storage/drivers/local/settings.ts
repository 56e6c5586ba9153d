import { resolve } from 'node:path';
import { type ConfigPage, isHttpAddress, setting } from '@tradepost/runtime';
import { z } from 'zod';
import type { DriverRuntime } from '../driver.ts';

const baseUrlRule = {
  en: 'must be empty, a path, or an http(s) address without user and password',
  'zh-CN': '须为空、路径或不含用户名和密码的 http(s) 地址',
};
const page: ConfigPage = { plugin: 'storage_local', title: { en: 'Local storage', 'zh-CN': '本地存储' }, sort: 11 };

/**
 * The folders that staff can choose: inside the data folder, without hidden folders and without the database. Otherwise an account
 * of the console could make the server write anywhere on its disks.
 */
const isInsideData = (folder: string): boolean =>
  /^(?:\w[\w.-]*)(?:\/\w[\w.-]*)*\/?$/.test(folder) && !/^postgres(?:\/|$)/i.test(folder);

export const uploadDir = setting(
  'storage_local.upload_dir',
  z.string().trim().min(1).max(1_000),
  'uploads',
  'folder of uploaded files, in the data folder unless it is absolute; all processes of the shop share it',
  {
    field: {
      page,
      label: { en: 'Folder', 'zh-CN': '存储目录' },
      placeholder: 'uploads',
      staffRule: {
        allows: isInsideData,
        text: {
          en: 'must be a folder inside the data folder, such as uploads; the command tradepost settings can set others',
          'zh-CN': '须为数据目录内的文件夹，例如 uploads；其他目录可用 tradepost settings 命令设置',
        },
      },
    },
  },
);
export const baseUrl = setting(
  'storage_local.base_url',
  z
    .string()
    .trim()
    .max(500)
    .regex(/^$|^https?:\/\/[^\s"'<>\\]+$|^\/(?!\/)[^\s"'<>\\]*$/, { error: baseUrlRule.en })
    .refine((text) => text === '' || text.startsWith('/') || isHttpAddress(text), { error: baseUrlRule.en }),
  '',
  'address before the paths of local files, such as that of a CDN; empty: /uploads of this shop',
  {
    field: {
      page,
      label: { en: 'Base URL', 'zh-CN': '访问地址' },
      rule: baseUrlRule,
    },
  },
);

/** The folder of uploaded files. */
export const uploadFolder = ({ config, settings }: DriverRuntime): string =>
  resolve(config.data, settings.get(uploadDir));
