import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { examplePng } from '@tradepost/testing/routes/multipart';
import type { Shop } from '@tradepost/testing/shop';

/** A PNG of this size. What follows its header chunk is not examined. */
export function pngOf(bytes: number): Uint8Array<ArrayBuffer> {
  const content = new Uint8Array(bytes);
  content.set(examplePng.subarray(0, Math.min(bytes, examplePng.length)));
  return content;
}

export type FormOptions = {
  content?: Uint8Array<ArrayBuffer>;
  name?: string;
  field?: string;
  /** Text fields before and after the file. */
  before?: Record<string, string>;
  after?: Record<string, string>;
};

export function formWith({
  content = examplePng,
  name = 'photo.png',
  field = 'file',
  before = {},
  after = {},
}: FormOptions = {}) {
  const form = new FormData();
  for (const [key, value] of Object.entries(before)) form.append(key, value);
  form.append(field, new File([content], name, { type: 'image/png' }));
  for (const [key, value] of Object.entries(after)) form.append(key, value);
  return form;
}

export const uploadFile = (
  shop: Pick<Shop, 'call'>,
  token: string,
  {
    query = '',
    path = '/api/v1/upload',
    lang = 'en',
    ...form
  }: FormOptions & { query?: string; path?: string; lang?: string } = {},
) => shop.call('POST', path + query, { token, body: formWith(form), lang });

/** All files below a folder, as paths relative to it. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
