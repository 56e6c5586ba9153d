import { InvalidArgumentError } from 'commander';
import { type BehaviourOptions, type FaultKind, faultKinds } from '../behaviour.ts';

const named = (text: string): FaultKind => {
  const kind = faultKinds.find((one) => one === text);
  if (!kind) throw new InvalidArgumentError(`The faults are: ${faultKinds.join(', ')}.`);
  return kind;
};

/** `rate_limit=0.2`, added to the shares that were given before. */
export function addShare(text: string, before: BehaviourOptions['faults'] = {}): BehaviourOptions['faults'] {
  const [kind = '', share = ''] = text.split('=', 2);
  const value = /^\d*\.?\d+$/.test(share) ? Number(share) : Number.NaN;
  if (!(value >= 0 && value <= 1)) throw new InvalidArgumentError('It must be a fault with a share, like error=0.3.');
  return { ...before, [named(kind)]: value };
}

/** `rate_limit,none,error`: the faults of the first requests, in their order. */
export const planOf = (text: string): (FaultKind | null)[] =>
  text.split(',').map((part) => (part.trim() === 'none' ? null : named(part.trim())));
