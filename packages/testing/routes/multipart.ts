import type { Route } from '@tradepost/http';
import { inputSchema } from './inputs.ts';

/** A PNG of one pixel. */
export const examplePng: Uint8Array<ArrayBuffer> = Uint8Array.from(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
);

/** The multipart form of a streamed route. Its files are the example image, whatever `body` has in their place. */
export function formOf(route: Route, body: Readonly<Record<string, unknown>>): FormData {
  const { properties = {} } = route.body ? inputSchema(route.body) : {};
  const form = new FormData();
  for (const [name, value] of Object.entries(body))
    if (properties[name]?.format === 'binary')
      form.append(name, new File([examplePng], 'example.png', { type: 'image/png' }));
    else if (value !== undefined && value !== null) form.append(name, String(value));
  return form;
}
