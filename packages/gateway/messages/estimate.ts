/**
 * Pieces of text are counted one by one: the tokenizer is quadratic in a run without blanks (64,000 times `a` take 3.7 s),
 * and between two pieces the event loop can be given a turn.
 */
const pieceLength = 256;
/** Where a cut is looked for: at most so far before the end of a piece. */
const lookBack = 96;
/** Work of one round of the event loop, however many texts are being counted. */
const turnMs = 5;
/** What of it is left to short texts that come while long ones are counted: they are not to wait for those. */
const shortMs = 1.5;
const shortText = 8_192;
/** The tokenizer remembers how words were split; its own bound of 100,000 words is memory for ever. */
const rememberedWords = 2_000;
/** From here on pieces are copied, so that a remembered word does not keep a whole prompt alive. */
const longText = 4_096;

type Tokenizer = (text: string) => number;
let tokenizer: Tokenizer | null = null;
let loading: Promise<Tokenizer> | null = null;

/** Loads it once per process. */
export function loadTokenizer(): Promise<Tokenizer> {
  loading ??= import('gpt-tokenizer/encoding/o200k_base').then(
    ({ countTokens, setMergeCacheSize }) => {
      setMergeCacheSize(rememberedWords);
      // `<|endoftext|>` in a prompt is text like any other.
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

/** Where the piece that begins at `from` ends: before a single blank if there is one, else between two characters. */
function pieceEnd(text: string, from: number): number {
  const most = from + pieceLength;
  if (most >= text.length) return text.length;
  // A blank belongs to the word after it; within several of them a cut would change how they are counted.
  for (let at = most; at > most - lookBack; at -= 1)
    if (isBlank(text.charCodeAt(at)) && !isBlank(text.charCodeAt(at - 1)) && !isBlank(text.charCodeAt(at + 1)))
      return at;
  return isLowSurrogate(text.charCodeAt(most)) ? most - 1 : most;
}

type Progress = {
  readonly texts: readonly string[];
  /** Above it nobody wants to know by how much. */
  readonly most: number;
  index: number;
  from: number;
  sum: number;
};

/** Counts for so long; whether everything is counted that needs to be. */
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

/** What does not fit into a round; each gets a turn in its turn. */
const waiting: Waiting[] = [];
/** Left of the present round. */
let leftMs = turnMs;
let roundEnds = false;

/** The rest of what is being counted goes on in the next round, which has its time anew. */
function endRound(): void {
  if (roundEnds) return;
  roundEnds = true;
  setImmediate(() => {
    roundEnds = false;
    leftMs = turnMs;
    const next = waiting.shift();
    if (!next) return;
    endRound();
    try {
      if (spend(next.progress, turnMs - shortMs)) next.resolve(next.progress.sum);
      else waiting.push(next);
    } catch (error) {
      next.reject(error);
    }
  });
}

/** Counts for so long at most, on the account of the round. */
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
    if (length > shortText) return false;
  }
  return true;
};

/**
 * Tokens of these texts; at once for what fits into the round of the event loop. More than `most` are not counted to the end:
 * what is answered is then more than that.
 */
export function countTokens(texts: readonly string[], most = Number.POSITIVE_INFINITY): number | Promise<number> {
  if (most < 0) return 0;
  if (!tokenizer) return loadTokenizer().then(() => countTokens(texts, most));
  const progress: Progress = { texts, most, index: 0, from: 0, sum: 0 };
  endRound();
  // Long ones keep their order.
  if (leftMs > 0 && (waiting.length === 0 || isShort(texts)) && spend(progress, leftMs)) return progress.sum;
  return new Promise((resolve, reject) => waiting.push({ progress, resolve, reject }));
}
