import { binary, defineRoute, fileUrls, type Route, type RouteContext, text, url } from '@tradepost/http';
import { z } from 'zod';
import { uploadErrors } from '../errors.ts';
import { largestFile } from '../limits.ts';
import { receiveUpload } from './receive-upload.ts';
import type { StorageDeps } from './storage-deps.ts';

const driver = () => text(50).trim();

const query = z.object({
  driver: driver()
    .optional()
    .meta({ examples: ['local'] }),
});
const form = z.object({
  file: binary(largestFile),
  driver: driver()
    .optional()
    .meta({ examples: ['local'] }),
});
type Context = Pick<
  RouteContext<'shopper', undefined, typeof query, typeof form>,
  'query' | 'caller' | 'bodyStream' | 'request' | 'write'
>;

const stored = z.object({
  path: z.string().meta({ examples: ['2026/11/1795468397123456789_0123456789ab.png'] }),
  url: url(),
  size: z.int().meta({ examples: [48_213] }),
  mime: z.string().meta({ examples: ['image/png'] }),
});
const description =
  'A form (`multipart/form-data`) with the field `file`. The content of the file decides its type and its extension; its ' +
  'name does not count. `driver` chooses the storage: `local`, `oss`, `cos` or `qiniu`. The query has priority over the ' +
  'field of the form.';

export const uploadRoutes = (deps: StorageDeps): Route[] => {
  const shared = {
    method: 'POST',
    ...{ query, body: form, bodyStream: true, description },
    response: stored,
    refuses: Object.values(uploadErrors),
    repeat: 'recorded',
    // The lock and the row of the file, another driver in the form, the end of the upload. When that fails, two more
    // remove the row.
    statements: 6,
  } as const;
  const handle = async ({ query, caller, bodyStream, request, write }: Context) => {
    const owner = { role: caller.role, id: caller.id };
    const file = await receiveUpload(deps, { body: bodyStream, owner, driver: query.driver || undefined, write });
    const { path, address, size, mime } = file;
    return { path, url: fileUrls(request, deps.runtime.config).absolute(address), size, mime };
  };
  return [
    defineRoute({
      ...shared,
      path: '/api/v1/upload',
      auth: 'shopper',
      tag: 'Uploads',
      summary: 'Upload a file',
      handle,
    }),
    defineRoute({
      ...shared,
      path: '/admin/api/upload',
      auth: 'staff',
      tag: 'Uploads (admin)',
      summary: 'Upload a file',
      handle,
    }),
  ];
};
