import { progress } from './output.ts';

/** `1,000 orders` */
export const countOf = (n: number, of: string): string => `${n.toLocaleString('en')} ${of}`;

/** `1 error`, `1,000 errors`. `many` is for words with another plural. */
export const numberOf = (n: number, one: string, many = `${one}s`): string => countOf(n, n === 1 ? one : many);

/** Writes the progress of a long command to stderr once a second. */
export function createProgress(unit: string) {
  const begun = performance.now();
  let last = begun;
  const rate = (done: number) => Math.round(done / Math.max(0.001, (performance.now() - begun) / 1000));
  return {
    seconds: () => Math.round((performance.now() - begun) / 10) / 100,
    rate,
    report(done: number, text: string) {
      if (performance.now() - last < 1_000) return;
      last = performance.now();
      progress(`${text}, ${countOf(rate(done), `${unit}/s`)}`);
    },
  };
}
