/**
 * Pieces of text are counted one by one: the tokenizer is quadratic in a run without blanks (64,000 times `a` take 3.7 s),
 * and between two pieces the event loop can be given a turn.
 */
const pieceLength = 256;
/** Where a cut is looked for: at most so far before the end of a piece. */
const lookBack = 96;
/** Work of one turn of the event loop. */
const turnMs = 5;
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

type Progress = { texts: readonly string[]; index: number; from: number; sum: number };

/** Counts for one turn; whether everything is counted. */
function countTurn(count: Tokenizer, progress: Progress): boolean {
  const until = performance.now() + turnMs;
  const { texts } = progress;
  for (let pieces = 1; progress.index < texts.length; pieces += 1) {
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
    if ((pieces & 3) === 0 && progress.index < texts.length && performance.now() > until) return false;
  }
  return true;
}

function continueLater(count: Tokenizer, progress: Progress): Promise<number> {
  return new Promise((resolve, reject) => {
    const turn = () => {
      try {
        if (countTurn(count, progress)) resolve(progress.sum);
        else setImmediate(turn);
      } catch (error) {
        reject(error);
      }
    };
    setImmediate(turn);
  });
}

/** Tokens of these texts; at once for what is counted within a turn of the event loop. */
export function countTokens(texts: readonly string[]): number | Promise<number> {
  if (!tokenizer) return loadTokenizer().then(() => countTokens(texts));
  const progress = { texts, index: 0, from: 0, sum: 0 };
  return countTurn(tokenizer, progress) ? progress.sum : continueLater(tokenizer, progress);
}
