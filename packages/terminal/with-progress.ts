import { progress } from './output.ts';

const firstMs = 1_000;
const everyMs = 5_000;

/** Runs `work`. After one second, and then every five seconds, it prints `line` on stderr until the work ends. */
export async function withProgress<T>(line: () => string | Promise<string>, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout;
  let ended = false;
  const report = async () => {
    // An error of `line` is ignored: the result of the work is reported in any case.
    const text = await Promise.resolve(line()).catch(() => '');
    if (ended) return;
    if (text !== '') progress(text);
    timer = setTimeout(report, everyMs);
  };
  timer = setTimeout(report, firstMs);
  try {
    return await work();
  } finally {
    ended = true;
    clearTimeout(timer);
  }
}
