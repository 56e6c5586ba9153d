import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { parseJson } from '../protocol/answer.ts';

/** A callback to send: `outer` is the recorded message, `body` only its inner body. */
export type Recorded = { from: string } & ({ outer: Readonly<Record<string, unknown>> } | { body: string });

const jsonObject = z.record(z.string(), z.unknown());

function recordedOf(value: unknown, from: string): Recorded {
  const object = jsonObject.safeParse(value).data;
  if (object?.body !== undefined) return { from, outer: object };
  if (object?.request_id !== undefined) return { from, body: JSON.stringify(value) };
  throw new Error(
    `${from}: is not a callback: neither { app_key, timestamp, nonce, sign, body } nor its inner body { request_id, callback_id, status, message }`,
  );
}

/** Reads a file with one callback or an array of callbacks. Each is a message as the partner sent it, or only its inner body. */
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

const shownText = z.union([z.string(), z.number()]).transform(String).catch('-');
const shownFields = z.object({ request_id: shownText, callback_id: shownText, status: shownText });

/** The fields of an inner body that a table shows. A field that can not be read is shown as `-`. */
export function innerOf(body: unknown): z.output<typeof shownFields> {
  return shownFields.parse(jsonObject.safeParse(parseJson(String(body))).data ?? {});
}
