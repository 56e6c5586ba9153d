import { maxReason } from '../limits.ts';

/** Parts of a key of this length are removed from texts. */
const partLength = 6;

/** Marks the characters of `text` that belong to a part of `secret`. */
function partsIn(text: string, secret: string): boolean[] {
  const marked = Array<boolean>(text.length).fill(false);
  const length = Math.min(partLength, secret.length);
  const parts = new Set(Array.from({ length: secret.length - length + 1 }, (_, at) => secret.slice(at, at + length)));
  for (let at = 0; length > 0 && at + length <= text.length; at += 1)
    if (parts.has(text.slice(at, at + length))) marked.fill(true, at, at + length);
  return marked;
}

/** The usual forms of keys, of any account: `sk-...`, `Bearer ...`, signatures in query strings. */
const keyForms =
  /\b(?:sk|ak|pk|key)-[\w-]{6,}\S*|\bBearer\s+\S+|(?<=[?&](?:[\w-]*(?:sign|key|token|secret|credential)[\w-]*)=)[^&\s]+/gi;

/**
 * A reason of a service as staff may read it: one line without the key, also when the service quotes a part of it or its base64,
 * without other keys, and not longer than `maxReason` characters.
 */
export function scrubbed(reason: string, apiKey: string): string {
  const line = reason
    .slice(0, 10_000)
    .replace(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ')
    .trim();
  const secrets = apiKey === '' ? [] : [apiKey, Buffer.from(apiKey).toString('base64'), encodeURIComponent(apiKey)];
  let text = line.replace(keyForms, '***');
  for (const secret of secrets) {
    const marked = partsIn(text, secret);
    text = Array.from({ length: text.length }, (_, at) => (!marked[at] ? text[at] : marked[at - 1] ? '' : '***')).join(
      '',
    );
  }
  const characters = [...text];
  return characters.length > maxReason ? `${characters.slice(0, maxReason - 1).join('')}…` : text;
}
