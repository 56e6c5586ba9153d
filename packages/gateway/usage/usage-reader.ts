import { maxCost } from '@tradepost/rate-limiter';
import { countTokens } from '../messages/estimate.ts';
import { shapeFault } from '../messages/json-shape.ts';

/** Tokens of one request, as the upstream says or as counted here. */
type Tokens = { readonly input: number | null; readonly output: number };
export type Measured = { readonly tokens: Tokens; readonly source: 'upstream' | 'estimated' };

/** An event longer than this is not looked into: its usage is then estimated. */
const longestLine = 2 * 1024 * 1024;
/** Output kept until it is known whether the upstream says its usage; more is counted and let go. */
const keptLines = 256 * 1024;
/** From here on an answer is not parsed as a whole. */
const largeAnswer = 4 * 1024 * 1024;
const longestUsage = 4_096;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const usageKey = Buffer.from('"usage"');
const dataField = Buffer.from('data:');

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;
/** What no request can have used is not believed: it would spoil every sum it is in. */
const count = (value: unknown) =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= maxCost ? (value as number) : null;

/** Of the chat, completions and embeddings APIs, or of the responses API. */
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

/** null for what is no JSON, or built to be a burden. */
function parse(json: Buffer): unknown {
  try {
    return shapeFault(json) ? null : JSON.parse(json.toString('utf8'));
  } catch {
    return null;
  }
}

/** Text of an answer or of one of its events: whatever the model has written. */
function collectOutput(event: unknown, into: string[]): void {
  if (!isObject(event)) return;
  // Responses API: deltas are texts; the events that repeat the whole are not counted again.
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
 * The last `usage` of an answer, without parsing all of it: a thousand embeddings are 40 MB and would hold everybody up.
 * Within a text of JSON the quotes of such a key are escaped, so it is none of the model's.
 */
function lastUsage(body: Buffer): Tokens | null {
  const at = body.lastIndexOf(usageKey);
  if (at < 0) return null;
  const text = body.toString('latin1', at + usageKey.length, at + usageKey.length + longestUsage);
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

/** Usage of an answer that came as a whole. */
export function measureAnswer(body: Buffer): Measured | Promise<Measured> {
  const answer = body.length > largeAnswer ? null : parse(body);
  const tokens = answer === null ? lastUsage(body) : usageOf(answer);
  if (tokens) return { tokens, source: 'upstream' };
  const texts: string[] = [];
  // No model writes as much as this: what is so large is vectors or pictures.
  collectOutput(answer, texts);
  const estimated = (output: number): Measured => ({ tokens: { input: null, output }, source: 'estimated' });
  const output = countTokens(texts);
  return typeof output === 'number' ? estimated(output) : output.then(estimated);
}

export type UsageReader = {
  /** Looks at bytes that have been passed on. */
  read(chunk: Uint8Array): void;
  measure(): Promise<Measured>;
};

/**
 * Reads the usage off an event stream on its way. Lines are found among bytes, so that characters and lines that are split
 * over chunks cost nothing special; only a line that speaks of usage is parsed while the stream runs.
 */
export function openUsageReader(): UsageReader {
  let tokens: Tokens | null = null;
  let counted: Promise<number> | null = null;
  let lines: Buffer[] = [];
  let linesSize = 0;
  let rest: Buffer[] = [];
  let restSize = 0;

  const fold = (): void => {
    const texts: string[] = [];
    for (const line of lines) collectOutput(parse(line), texts);
    lines = [];
    linesSize = 0;
    const before = counted ?? Promise.resolve(0);
    counted = before.then(async (sum) => sum + (await countTokens([texts.join('')])));
    counted.catch(() => {});
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
    if (linesSize > keptLines) fold();
  };

  return {
    read(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let from = 0;
      for (;;) {
        // A lone carriage return ends a line, too, but no upstream writes one: the line feed is what is looked for.
        const end = bytes.indexOf(lineFeed, from);
        if (end < 0) break;
        const to = end > from && bytes[end - 1] === carriageReturn ? end - 1 : end;
        if (restSize === 0) take(bytes.subarray(from, to));
        else if (restSize + to - from <= longestLine) take(Buffer.concat([...rest, bytes.subarray(from, to)]));
        rest = [];
        restSize = 0;
        from = end + 1;
      }
      if (from === bytes.length) return;
      restSize += bytes.length - from;
      // Beyond the bound only its length is kept, until it ends.
      if (restSize > longestLine) rest = [];
      else rest.push(bytes.subarray(from));
    },
    async measure() {
      if (!tokens && restSize > 0 && restSize <= longestLine) take(Buffer.concat(rest));
      rest = [];
      if (tokens) return { tokens, source: 'upstream' };
      fold();
      return { tokens: { input: null, output: await counted! }, source: 'estimated' };
    },
  };
}
