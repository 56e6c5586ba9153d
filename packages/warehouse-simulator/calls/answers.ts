import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Fault } from '../behaviour/draw-plans.ts';

const json = { 'content-type': 'application/json; charset=utf-8' };

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const text = JSON.stringify(value);
  response.writeHead(status, { ...json, 'content-length': Buffer.byteLength(text) }).end(text);
}

export type Reply = { code: number | string; message: string; request_id: string; data?: unknown };

/** Always HTTP 200. The code carries the result. */
export function sendReply(response: ServerResponse, { code, message, request_id, data }: Reply): void {
  sendJson(response, 200, { code, message, request_id, data: data ?? {} });
}

const page = '<!doctype html><title>Gateway</title><h1>The gateway is under maintenance</h1>';

export function sendFault(response: ServerResponse, { kind, code, status }: Fault, request_id: string): void {
  if (kind === 'fail') sendReply(response, { code, message: 'simulated failure', request_id });
  else if (kind === 'string_code') sendReply(response, { code: '0', message: 'done', request_id });
  else if (kind === 'html') response.writeHead(status, { 'content-type': 'text/html' }).end(page);
  else if (kind === 'close') response.socket?.destroy();
  // hang: the client ends the request, or the simulator closes.
}

const maxBody = 1024 * 1024;

/** The body as text, or null when it is too large. */
export function readBody(request: IncomingMessage): Promise<string | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBody) return resolve(null);
      chunks.push(chunk);
    });
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    // When the client disconnects, this promise stays pending and is collected with the request.
  });
}
