import { distance } from 'fastest-levenshtein';

const wordsOf = (name: string) => name.toLowerCase().split(/[._-]/);
const lettersOf = (word: string) => [...word].sort().join('');

/** Whether one word is the other one with letters swapped, or with less than half of them missing, added or replaced. */
const isLike = (word: string, other: string) =>
  lettersOf(word) === lettersOf(other) || distance(word, other) * 2 < Math.max(word.length, other.length);

function isMisspelt(name: string, known: string): boolean {
  const [words, others] = [wordsOf(name), wordsOf(known)];
  if (distance(words.join(''), others.join('')) <= 1) return true;
  // A prefix makes the variable of another program: PGHOST does not mean HOST.
  if (words.length === 1) return lettersOf(name.toLowerCase()) === lettersOf(known.toLowerCase());
  return words.length === others.length && words.every((word, at) => isLike(word, others[at]!));
}

/**
 * The known names that a misspelt one probably means, such as `DATABASE_URL` for `DATBASE_URL`: the nearest one, or all that are as
 * near. Names are compared word by word: `DATABASE_PORT` does not mean `DATABASE_POOL`.
 */
export function similarNames(name: string, known: Iterable<string>): string[] {
  const near = [...known]
    .filter((other) => isMisspelt(name, other))
    .map((other) => ({ other, far: distance(name, other) }));
  const nearest = Math.min(...near.map(({ far }) => far));
  return near.filter(({ far }) => far === nearest).map(({ other }) => other);
}

/** ` (did you mean X?)` behind an unknown name, or an empty text. */
export function meantText(name: string, known: Iterable<string>): string {
  const meant = similarNames(name, known);
  return meant.length === 0 ? '' : ` (did you mean ${meant.join(' or ')}?)`;
}
