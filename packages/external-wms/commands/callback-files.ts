import { readFile } from 'node:fs/promises';

/** A callback to be sent: `outer` as it was recorded, or only what its body says. */
export type Recorded = { from: string } & ({ outer: Readonly<Record<string, unknown>> } | { body: string });

function recordedOf(value: unknown, from: string): Recorded {
  const { body, request_id } = (value ?? {}) as Record<string, unknown>;
  if (typeof value === 'object' && !Array.isArray(value)) {
    if (body !== undefined) return { from, outer: value as Record<string, unknown> };
    if (request_id !== undefined) return { from, body: JSON.stringify(value) };
  }
  throw new Error(
    `${from}: is no callback: neither { app_key, timestamp, nonce, sign, body } nor its inner { request_id, callback_id, status, message }`,
  );
}

/** The callbacks of a file: one, or an array of them; each as the partner sent it, or only its inner body. */
export async function readCallbacks(file: string): Promise<Recorded[]> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file}: ${error instanceof SyntaxError ? 'is not valid JSON' : (error as Error).message}`);
  }
  if (!Array.isArray(value)) return [recordedOf(value, file)];
  return value.map((one, index) => recordedOf(one, `${file}, number ${index + 1}`));
}

/** What an inner body is about, as far as it can be read. */
export function innerOf(body: unknown): { request_id: string; callback_id: string; status: string } {
  let inner: Record<string, unknown> = {};
  try {
    inner = (JSON.parse(String(body)) ?? {}) as Record<string, unknown>;
  } catch {}
  const text = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '-');
  return { request_id: text(inner.request_id), callback_id: text(inner.callback_id), status: text(inner.status) };
}
