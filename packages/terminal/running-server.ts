import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const runningServerSchema = z.object({ pid: z.int().positive(), url: z.url({ protocol: /^https?$/ }) });
export type RunningServer = Readonly<z.infer<typeof runningServerSchema>>;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Reads which server runs on this data folder, from `instance.json`, which the server writes there. Returns null when the
 * file is absent or incomplete, or when the process serves no HTTP.
 */
export async function runningServer(data: string): Promise<RunningServer | null> {
  const text = await readFile(join(data, 'instance.json'), 'utf8').catch(() => '');
  return runningServerSchema.safeParse(parseJson(text)).data ?? null;
}

/**
 * The address that a command calls: `given`, or that of the running server, or the configured one. It has no slash at its
 * end.
 */
export async function serverUrl(
  given: string | undefined,
  config: { readonly data: string; readonly host: string; readonly port: number },
): Promise<string> {
  const url = given ?? (await runningServer(config.data))?.url ?? `http://${config.host}:${config.port}`;
  return url.replace(/\/+$/, '');
}
