import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesOf, root } from './tree.ts';

/**
 * Words that the tree does not use, each with the term to use instead (docs/GLOSSARY.md). They are found in names of
 * files and identifiers, in comments and in documents. `glossary.json` allows each folder the occurrences that are left from
 * earlier versions; a count may fall and not rise.
 *
 *     node test/architecture/glossary.ts           counts and compares
 *     node test/architecture/glossary.ts --write   writes the counts, unless one of a word has risen over the tree
 */
type Entry = { readonly word: string; readonly instead: string; readonly pattern: RegExp };

const entry = (word: string, instead: string, forms: string): Entry => ({
  word,
  instead,
  pattern: new RegExp(`(?<![a-z])(?:${forms})(?![a-z])`, 'g'),
});

/** Patterns match lower-case words with one blank between them: `giveBack`, `give_back` and `give back` are `give back`. */
export const entries: readonly Entry[] = [
  entry('keeper', 'stock owner', 'keepers?'),
  entry('obey', 'follow', 'obey(?:s|ed)?'),
  entry('books', 'stock ledger, or usage records', 'books'),
  entry('teller', 'notifier', 'tellers?'),
  entry('tell', 'notify, say or report', 'tells?|telling|told'),
  entry('bury', 'dead-letter', 'bury|bur(?:ies|ied)'),
  entry('take over', 'provider migration, adopt or claim', 'tak(?:e|es|en|ing) over|took over'),
  entry('deed', 'action', 'deeds?'),
  entry('fate', 'fault plan or outcome', 'fates?'),
  entry('wish', 'options or request', 'wish(?:es|ed)?'),
  entry('nobody', 'no client, no process', 'nobody'),
  entry('somebody', 'another client, another process', 'somebody|anybody|everybody'),
  entry('whoever', 'the caller, the process that', 'whoever|whom'),
  entry('stranger', 'unauthorized account', 'strangers?'),
  entry('give back', 'release or return', 'g[ai]v(?:e|es|en|ing) back'),
  entry('go along', 'is sent with', 'go(?:es)? along'),
  entry('mend', 'patch or fix', 'mend(?:s|ed|ing)?'),
  entry('looks at', 'poll or check', 'look(?:s|ed|ing)? (?:at|into|whether|again)'),
  entry('ahead', 'pre-reservation, or before', 'ahead'),
  entry('reckon', 'calculate', 'reckon(?:s|ed|ing)?'),
  entry('lie', 'is, or is stored', 'lies?|lying'),
  entry('dear', 'expensive', 'dear|dearer|dearest'),
  entry('is none', 'name the thing that is absent', '(?:is|are|was|were) none'),
  entry('come again', 'is retried or repeated', 'com(?:e|es|ing) again'),
];

const allowedFile = 'test/architecture/glossary.json';

/** Folder -> word -> occurrences. */
export type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Splits identifiers and joins lines, so that a phrase is found however it is written. */
export const plain = (text: string): string =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll(/\n\s*(?:\*|\/\/|--)?\s*/g, ' ')
    .replaceAll(/[-_\s]+/g, ' ');

export function countWords(text: string): Record<string, number> {
  const words = plain(text);
  const counts: Record<string, number> = {};
  for (const { word, pattern } of entries) {
    const found = words.match(pattern)?.length ?? 0;
    if (found > 0) counts[word] = found;
  }
  return counts;
}

/** A package, or the first folder of the path. */
const folderOf = (path: string): string => {
  const [first = '', second = ''] = path.split('/');
  if (!path.includes('/')) return '.';
  return first === 'packages' ? `packages/${second}` : first;
};

/** The check itself contains the words. A landed migration does not change, so SQL files are not read. */
const isRead = (path: string) => !path.startsWith('test/architecture/glossary') && path !== 'packages/client/schema.ts';

export function countTree(): Counts {
  const counts: Record<string, Record<string, number>> = {};
  for (const path of filesOf(['*.{md,ts}', '{bin,daemons,docs,install,packages,test}/**/*.{ts,md}']).filter(isRead)) {
    const folder = folderOf(path);
    const found = countWords(`${path}\n${readFileSync(join(root, path), 'utf8')}`);
    for (const [word, times] of Object.entries(found)) {
      counts[folder] ??= {};
      counts[folder][word] = (counts[folder][word] ?? 0) + times;
    }
  }
  return counts;
}

const insteadOf = (word: string) => entries.find((one) => one.word === word)?.instead ?? 'a term of docs/GLOSSARY.md';

/** `risen`: more than is allowed, a fault. `fallen`: less, so the allowance can be lowered. */
export function compareCounts(now: Counts, allowed: Counts): { risen: string[]; fallen: string[] } {
  const risen: string[] = [];
  const fallen: string[] = [];
  for (const folder of new Set([...Object.keys(now), ...Object.keys(allowed)])) {
    for (const word of new Set([...Object.keys(now[folder] ?? {}), ...Object.keys(allowed[folder] ?? {})])) {
      const count = now[folder]?.[word] ?? 0;
      const limit = allowed[folder]?.[word] ?? 0;
      if (count > limit)
        risen.push(`${folder}: "${word}" occurs ${count} times, ${limit} are allowed: write ${insteadOf(word)}`);
      else if (count < limit) fallen.push(`${folder}: "${word}" occurs ${count} times, ${limit} are allowed: lower it`);
    }
  }
  return { risen, fallen };
}

export const readAllowed = (): Counts =>
  existsSync(join(root, allowedFile)) ? (JSON.parse(readFileSync(join(root, allowedFile), 'utf8')) as Counts) : {};

/** Occurrences of each word over all folders. */
function totals(counts: Counts): Map<string, number> {
  const sums = new Map<string, number>();
  for (const words of Object.values(counts))
    for (const [word, times] of Object.entries(words)) sums.set(word, (sums.get(word) ?? 0) + times);
  return sums;
}

/** Words that occur more often in the whole tree than all folders together are allowed. A moved file does not raise a sum. */
export function grownWords(now: Counts, allowed: Counts): string[] {
  const before = totals(allowed);
  return [...totals(now)].filter(([word, times]) => times > (before.get(word) ?? 0)).map(([word]) => word);
}

const sorted = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

function writeAllowed(now: Counts): void {
  const folders = Object.entries(sorted(now)).map(([folder, words]) => [folder, sorted(words)]);
  writeFileSync(join(root, allowedFile), `${JSON.stringify(Object.fromEntries(folders), null, 2)}\n`);
}

if (import.meta.main) {
  const now = countTree();
  const allowed = readAllowed();
  const isFirst = !existsSync(join(root, allowedFile));
  if (process.argv.includes('--write')) {
    const grown = isFirst ? [] : grownWords(now, allowed);
    for (const word of grown)
      process.stdout.write(`"${word}" occurs more often than before: write ${insteadOf(word)}\n`);
    if (grown.length === 0) writeAllowed(now);
    process.exit(grown.length === 0 ? 0 : 1);
  }
  const { risen, fallen } = compareCounts(now, allowed);
  for (const line of [...risen, ...fallen]) process.stdout.write(`${line}\n`);
  if (fallen.length > 0) process.stdout.write('lower the counts with: node test/architecture/glossary.ts --write\n');
  process.stdout.write(risen.length === 0 ? 'glossary: no faults\n' : `glossary: ${risen.length} faults\n`);
  process.exit(risen.length === 0 ? 0 : 1);
}
