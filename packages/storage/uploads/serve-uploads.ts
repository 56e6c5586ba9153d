import { fileResponse, type Resource } from '@tradepost/http';
import { servedUnder } from '../drivers/local/local-driver.ts';
import { kindWithExtension } from './file-kinds.ts';
import { isStoredPath } from './stored-path.ts';

/** Stored files never change. */
const yearSeconds = 31_536_000;

async function uploadResponse(request: Request, folder: string, path: string): Promise<Response> {
  // A path of another form leads to no file: incoming files and whatever else is in the folder are not served.
  const response = await fileResponse(request, folder, isStoredPath(path) ? path : '', {
    maxAge: yearSeconds,
    sandbox: true,
  });
  const kind = kindWithExtension(path.slice(path.lastIndexOf('.') + 1));
  if (response.status !== 200 || !kind) return response;
  response.headers.set('content-type', kind.mime);
  if (!kind.isImage) response.headers.set('content-disposition', 'attachment');
  return response;
}

/** Serves the files of the local driver. Clients know both addresses. */
export const uploadResources = (folder: () => string): Resource[] =>
  [servedUnder, '/api/v1/uploads'].map((under) => ({
    path: `${under}/**:path`,
    summary: 'An uploaded file',
    contentType: 'image/*',
    handle: (request, { path = '' }) => uploadResponse(request, folder(), path),
  }));
