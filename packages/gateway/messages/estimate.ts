/**
 * Texts are counted in pieces of this length. The time of the tokenizer is quadratic in runs without blanks (64,000 times
 * `a` take 3.7 s), and other work can run between two pieces.
 */
const pieceLength = 256;
/** A blank to cut at is searched within this many characters before the end of a piece. */
const lookBack = 96;
/** Time for counting in one iteration of the event loop, for all texts together. */
const iterationMs = 5;
/** The part of `iterationMs` that is reserved for short texts, so that they do not wait for long ones. */
const shortMs = 1.5;
const maxShortText = 8_192;
/** Size of the tokenizer's cache of split words. Its default of 100,000 words would never be released. */
const cachedWords = 2_000;
/** Pieces of longer texts are copied, so that a cached word does not keep a whole prompt in memory. */
const longText = 4_096;

type Tokenizer = (text: string) => number;
let tokenizer: Tokenizer | null = null;
let loading: Promise<Tokenizer> | null = null;

/** Loads the tokenizer once per process. */
export function loadTokenizer(): Promise<Tokenizer> {
  loading ??= import('gpt-tokenizer/encoding/o200k_base').then(
    ({ countTokens, setMergeCacheSize }) => {
      setMergeCacheSize(cachedWords);
      // `<|endoftext|>` in a prompt is ordinary text.
      const asText = { disallowedSpecial: new Set<string>() };
      tokenizer = (text) => countTokens(text, asText);
      return tokenizer;
    },
    (error: unknown) => {
      loading = null;
      throw error;
    },
  );
  return loading;
}

const isBlank = (code: number) => code === 32 || (code >= 9 && code <= 13);
const isLowSurrogate = (code: number) => code >= 0xdc00 && code <= 0xdfff;

/** The end of the piece that begins at `from`: before a single blank, else between two characters. */
function pieceEnd(text: string, from: number): number {
  const most = from + pieceLength;
  if (most >= text.length) return text.length;
  // A blank belongs to the next word. A cut within a run of blanks would change the count.
  for (let at = most; at > most - lookBack; at -= 1)
    if (isBlank(text.charCodeAt(at)) && !isBlank(text.charCodeAt(at - 1)) && !isBlank(text.charCodeAt(at + 1)))
      return at;
  return isLowSurrogate(text.charCodeAt(most)) ? most - 1 : most;
}

type Progress = {
  readonly texts: readonly string[];
  /** Above this sum the exact count is not needed. */
  readonly most: number;
  index: number;
  from: number;
  sum: number;
};

/** Counts until a time. Returns whether the count is complete. */
function countFor(count: Tokenizer, progress: Progress, until: number): boolean {
  const { texts, most } = progress;
  for (let pieces = 1; progress.index < texts.length && progress.sum <= most; pieces += 1) {
    const text = texts[progress.index]!;
    if (text.length <= pieceLength) {
      progress.sum += count(text);
      progress.index += 1;
    } else {
      const end = pieceEnd(text, progress.from);
      const piece = text.slice(progress.from, end);
      progress.sum += count(text.length < longText ? piece : Buffer.from(piece).toString());
      progress.from = end;
      if (end === text.length) {
        progress.index += 1;
        progress.from = 0;
      }
    }
    if ((pieces & 3) === 0 && performance.now() > until) break;
  }
  return progress.index === texts.length || progress.sum > most;
}

type Waiting = { progress: Progress; resolve(sum: number): void; reject(error: unknown): void };

/** Counts that did not fit into an iteration. They are continued in turn. */
const waiting: Waiting[] = [];
/** Time that is left in this iteration. */
let leftMs = iterationMs;
let isScheduled = false;

/** Renews the time with the next iteration, and continues one waiting count there. */
function scheduleNext(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    leftMs = iterationMs;
    const next = waiting.shift();
    if (!next) return;
    scheduleNext();
    try {
      if (spend(next.progress, iterationMs - shortMs)) next.resolve(next.progress.sum);
      else waiting.push(next);
    } catch (error) {
      next.reject(error);
    }
  });
}

/** Counts for at most `ms`, and deducts the time used from `leftMs`. Returns whether the count is complete. */
function spend(progress: Progress, ms: number): boolean {
  const started = performance.now();
  try {
    return countFor(tokenizer!, progress, started + ms);
  } finally {
    leftMs -= performance.now() - started;
  }
}

const isShort = (texts: readonly string[]): boolean => {
  let length = 0;
  for (const text of texts) {
    length += text.length;
    if (length > maxShortText) return false;
  }
  return true;
};

/**
 * Counts the tokens of texts. Returns a number when the count fits into this iteration of the event loop, else a promise.
 * Counting stops above `most`; the result is then some number above it.
 */
export function countTokens(texts: readonly string[], most = Number.POSITIVE_INFINITY): number | Promise<number> {
  if (most < 0) return 0;
  if (!tokenizer) return loadTokenizer().then(() => countTokens(texts, most));
  const progress: Progress = { texts, most, index: 0, from: 0, sum: 0 };
  scheduleNext();
  // Long texts keep their order.
  if (leftMs > 0 && (waiting.length === 0 || isShort(texts)) && spend(progress, leftMs)) return progress.sum;
  return new Promise((resolve, reject) => waiting.push({ progress, resolve, reject }));
}
