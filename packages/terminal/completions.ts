import type { Argument, Option } from 'commander';

type Subject = Argument | Option;
const known = new WeakMap<Subject, () => readonly string[]>();
const following = new WeakMap<Subject, () => ReadonlyMap<string, readonly string[]>>();

/**
 * The values that a shell completes for an argument or an option, where they are not choices: too many for the help, or one of several
 * forms. `values` is called when the completion script is made, so it may read the context of the command.
 */
export function completeWith<T extends Subject>(subject: T, values: () => readonly string[]): T {
  known.set(subject, values);
  return subject;
}

/** The values of the argument after this one, by the value of this one: `settings set pay.instant true`. */
export function completeAfter<T extends Subject>(subject: T, values: () => ReadonlyMap<string, readonly string[]>): T {
  following.set(subject, values);
  return subject;
}

export const completionsOf = (subject: Subject): readonly string[] | undefined => known.get(subject)?.();
export const completionsAfter = (subject: Subject): ReadonlyMap<string, readonly string[]> =>
  following.get(subject)?.() ?? new Map();
