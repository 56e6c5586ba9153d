/** An endpoint without an envelope: health, metrics, documents, files, and notices whose answers another service prescribes. */
export type Resource = {
  /** Default: GET, which also answers HEAD. The body of a POST is at most 16 KiB. */
  method?: 'GET' | 'POST';
  path: string;
  summary: string;
  contentType: string;
  handle(request: Request, params: Record<string, string>): Response | Promise<Response>;
};
