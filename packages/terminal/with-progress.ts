import { progress } from './output.ts';

const firstMs = 1_000;
const everyMs = 5_000;

/** Runs `work`; when it takes longer than a second, says how far it is on stderr, and again every five. */
export async function withProgress<T>(line: () => string | Promise<string>, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout;
  let ended = false;
  const say = async () => {
    // What can not be told now is told the next time: the work itself is heard anyway.
    const text = await Promise.resolve(line()).catch(() => '');
    if (ended) return;
    if (text !== '') progress(text);
    timer = setTimeout(say, everyMs);
  };
  timer = setTimeout(say, firstMs);
  try {
    return await work();
  } finally {
    ended = true;
    clearTimeout(timer);
  }
}
