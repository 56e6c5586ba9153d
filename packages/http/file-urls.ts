/**
 * Uploaded files are stored by path and answered as absolute URLs, since clients on other origins put them into
 * `img src` unchanged. An editor sends those URLs back: they become paths again, so that the shop can move.
 */
export function fileUrls(request: Request, publicUrl: string | undefined) {
  const origin = (publicUrl ?? request.url.slice(0, request.url.indexOf('/', 8))).replace(/\/$/, '');
  return {
    absolute: (path: string) => (path.startsWith('/') ? origin + path : path),
    relative: (url: string) => (url.startsWith(`${origin}/uploads/`) ? url.slice(origin.length) : url),
  };
}
