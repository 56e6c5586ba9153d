/** An endpoint without an envelope, for GET and HEAD: health, metrics, documents, files. */
export type Resource = {
  path: string;
  summary: string;
  contentType: string;
  handle(request: Request, params: Record<string, string>): Response | Promise<Response>;
};
