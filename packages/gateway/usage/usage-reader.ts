import { maxCost } from '@tradepost/rate-limiter';
import { countTokens } from '../messages/estimate.ts';
import { shapeFault } from '../messages/json-shape.ts';

/** Tokens of one request, as the upstream reports them or as counted here. */
type Tokens = { readonly input: number | null; readonly output: number };
export type Measured = { readonly tokens: Tokens; readonly source: 'upstream' | 'estimated' };

/** A longer event is skipped. When it carries the usage, the usage is estimated. */
const maxLine = 2 * 1024 * 1024;
/**
 * Bytes of output that are kept until the upstream reports its usage. Beyond this they are counted and released. Output that
 * arrives while earlier output is counted is kept up to this size too; what is more is not counted but estimated by its length,
 * so that streams that are faster than the counting do not fill the memory.
 */
const maxKept = 256 * 1024;
/** A larger answer is not parsed as a whole. */
const maxParsed = 4 * 1024 * 1024;
const maxUsageLength = 4_096;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const usageKey = Buffer.from('"usage"');
const dataField = Buffer.from('data:');

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;
/** A number that no request can have used is ignored, because it would falsify every sum. */
const count = (value: unknown) =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= maxCost ? (value as number) : null;

/** Reads the usage object of the chat, completions and embeddings APIs, or of the responses API. */
function tokensOf(usage: unknown): Tokens | null {
  if (!isObject(usage)) return null;
  const input = count(usage.prompt_tokens ?? usage.input_tokens);
  const output = count(usage.completion_tokens ?? usage.output_tokens);
  return input === null && output === null ? null : { input, output: output ?? 0 };
}

const usageOf = (event: unknown): Tokens | null =>
  isObject(event)
    ? (tokensOf(event.usage) ?? (isObject(event.response) ? tokensOf(event.response.usage) : null))
    : null;

/** null for a text that is not JSON, or that is too expensive to parse. */
function parse(json: Buffer): unknown {
  try {
    return shapeFault(json) ? null : JSON.parse(json.toString('utf8'));
  } catch {
    return null;
  }
}

/** Collects the texts that the model has written, from an answer or an event. */
function collectOutput(event: unknown, into: string[]): void {
  if (!isObject(event)) return;
  // Responses API: deltas are texts. Events that repeat the whole text are not counted.
  if (typeof event.delta === 'string') into.push(event.delta);
  const push = (value: unknown): void => {
    if (typeof value === 'string') into.push(value);
    else if (Array.isArray(value)) for (const one of value) push(one);
    else if (isObject(value)) {
      for (const key of ['content', 'text', 'refusal', 'reasoning_content', 'arguments', 'name', 'summary'])
        push(value[key]);
      if (value.function !== undefined) push(value.function);
      if (value.tool_calls !== undefined) push(value.tool_calls);
    }
  };
  if (Array.isArray(event.choices))
    for (const choice of event.choices) if (isObject(choice)) push(choice.delta ?? choice.message ?? choice.text);
  if (event.object === 'response') push(event.output);
}

/**
 * Reads the last `usage` of an answer without parsing the whole answer: a thousand embeddings are 40 MB and would delay all
 * requests. Within a JSON text the quotes of such a key are escaped, so a text of the model is not mistaken for it.
 */
function lastUsage(body: Buffer): Tokens | null {
  const at = body.lastIndexOf(usageKey);
  if (at < 0) return null;
  const text = body.toString('latin1', at + usageKey.length, at + usageKey.length + maxUsageLength);
  const from = text.search(/[^\s:]/);
  if (text[from] !== '{') return null;
  let depth = 0;
  for (let i = from; i < text.length; i += 1) {
    if (text[i] === '{') depth += 1;
    else if (text[i] === '}') depth -= 1;
    if (depth === 0) return tokensOf(parse(Buffer.from(text.slice(from, i + 1), 'latin1')));
  }
  return null;
}

/** The usage of a complete answer. */
export function measureAnswer(body: Buffer): Measured | Promise<Measured> {
  const answer = body.length > maxParsed ? null : parse(body);
  const tokens = answer === null ? lastUsage(body) : usageOf(answer);
  if (tokens) return { tokens, source: 'upstream' };
  const texts: string[] = [];
  // A larger answer holds vectors or pictures. No model writes that much text.
  collectOutput(answer, texts);
  const estimated = (output: number): Measured => ({ tokens: { input: null, output }, source: 'estimated' });
  const output = countTokens(texts);
  return typeof output === 'number' ? estimated(output) : output.then(estimated);
}

export type UsageReader = {
  /** Reads bytes that were sent to the client. */
  read(chunk: Uint8Array): void;
  measure(): Promise<Measured>;
};

/** Counts the tokens of the texts of one stream, one text at a time. */
function openTextCounter() {
  /** The count that runs. A failed one stays here, and `total` rejects. */
  let counting: Promise<void> | null = null;
  let sum = 0;
  /** Characters that `sum` counts, and characters that were released without a count. */
  let countedLength = 0;
  let releasedLength = 0;
  const countText = async (text: string): Promise<void> => {
    sum += await countTokens([text]);
    countedLength += text.length;
  };
  return {
    /** Counts the text, or only its length while an earlier one is counted. */
    add(text: string): void {
      if (counting) {
        releasedLength += text.length;
        return;
      }
      counting = countText(text).then(() => {
        counting = null;
      });
      counting.catch(() => {});
    },
    /** Counts the last text, and returns the tokens of all. Text that was not counted has as many per character as the others. */
    async total(last: string): Promise<number> {
      await counting;
      await countText(last);
      return sum + (countedLength === 0 ? 0 : Math.round((releasedLength * sum) / countedLength));
    },
  };
}

/**
 * Reads the usage from a running event stream. Lines are searched in bytes, so that lines and characters may be split over
 * chunks. Only a line that contains `usage` is parsed while the stream runs.
 */
export function openUsageReader(): UsageReader {
  let tokens: Tokens | null = null;
  const counter = openTextCounter();
  let lines: Buffer[] = [];
  let linesSize = 0;
  let rest: Buffer[] = [];
  let restSize = 0;

  const releaseLines = (): string => {
    const texts: string[] = [];
    for (const line of lines) collectOutput(parse(line), texts);
    lines = [];
    linesSize = 0;
    return texts.join('');
  };
  const take = (line: Buffer): void => {
    if (line.length <= dataField.length || line.compare(dataField, 0, 5, 0, 5) !== 0) return;
    const data = line.subarray(5);
    if (data.includes(usageKey)) {
      const found = usageOf(parse(data));
      if (found) tokens = found;
    }
    if (tokens) return;
    lines.push(data);
    linesSize += data.length;
    if (linesSize > maxKept) counter.add(releaseLines());
  };

  return {
    read(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let from = 0;
      for (;;) {
        // A line also ends at a carriage return alone, but no upstream sends that. So only line feeds are searched.
        const end = bytes.indexOf(lineFeed, from);
        if (end < 0) break;
        const to = end > from && bytes[end - 1] === carriageReturn ? end - 1 : end;
        if (restSize === 0) take(bytes.subarray(from, to));
        else if (restSize + to - from <= maxLine) take(Buffer.concat([...rest, bytes.subarray(from, to)]));
        rest = [];
        restSize = 0;
        from = end + 1;
      }
      if (from === bytes.length) return;
      restSize += bytes.length - from;
      // Of a line over the bound only the length is kept.
      if (restSize > maxLine) rest = [];
      else rest.push(bytes.subarray(from));
    },
    async measure() {
      if (!tokens && restSize > 0 && restSize <= maxLine) take(Buffer.concat(rest));
      rest = [];
      if (tokens) return { tokens, source: 'upstream' };
      return { tokens: { input: null, output: await counter.total(releaseLines()) }, source: 'estimated' };
    },
  };
}
