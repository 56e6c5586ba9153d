import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export type RunningServer = { readonly pid: number; readonly url: string };

/** The server that runs on this data folder, from the file that it writes there; null when there is none. */
export async function runningServer(data: string): Promise<RunningServer | null> {
  const text = await readFile(join(data, 'instance.json'), 'utf8').catch(() => '');
  const pid = Number(/"pid":(\d+)/.exec(text)?.[1]);
  const url = /"url":"(http[^"]+)"/.exec(text)?.[1];
  return pid && url ? { pid, url } : null;
}

/** Where a command finds the server: the given address, else that of the running server, else the configured one. No slash at its end. */
export async function serverUrl(
  given: string | undefined,
  config: { readonly data: string; readonly host: string; readonly port: number },
): Promise<string> {
  const url = given ?? (await runningServer(config.data))?.url ?? `http://${config.host}:${config.port}`;
  return url.replace(/\/+$/, '');
}
