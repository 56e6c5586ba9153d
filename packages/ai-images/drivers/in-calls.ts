import type { PictureRequest, ServicePicture } from './driver.ts';

/** Calls a service as often as it needs for all pictures, with `perCall` of them at once. */
export async function inCalls(
  perCall: number,
  request: PictureRequest,
  call: (request: PictureRequest) => Promise<readonly ServicePicture[]>,
): Promise<ServicePicture[]> {
  const pictures: ServicePicture[] = [];
  while (pictures.length < request.count) {
    const more = await call({ ...request, count: Math.min(perCall, request.count - pictures.length) });
    pictures.push(...more);
    // A service that answers fewer pictures than asked would be called again and again.
    if (more.length < perCall) break;
  }
  return pictures.slice(0, request.count);
}
