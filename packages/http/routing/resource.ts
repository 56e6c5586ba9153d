/** What is served without an envelope: health, metrics, documents, files. GET and HEAD. */
export type Resource = {
  path: string;
  summary: string;
  contentType: string;
  handle(request: Request, params: Record<string, string>): Response | Promise<Response>;
};
