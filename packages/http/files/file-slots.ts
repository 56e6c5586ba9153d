import { httpErrors } from '../routing/errors.ts';
import type { Caller } from '../routing/route.ts';

/** Files that one process sends at once. Each may keep a statement running and holds a piece in memory. */
export const maxFiles = 8;
export const maxFilesPerAccount = 2;

/** Takes a slot and returns the function that frees it. */
export type TakeFileSlot = (caller: Pick<Caller, 'role' | 'id'>) => () => void;

/** The slots of one process. An account cannot take all of them. */
export function openFileSlots(): TakeFileSlot {
  const open = new Map<string, number>();
  let total = 0;
  return ({ role, id }) => {
    const account = `${role} ${id}`;
    const own = open.get(account) ?? 0;
    if (own >= maxFilesPerAccount) throw httpErrors.too_many_files({ limit: String(maxFilesPerAccount) });
    if (total >= maxFiles) throw httpErrors.no_free_file();
    open.set(account, own + 1);
    total += 1;
    return () => {
      const left = open.get(account)! - 1;
      if (left > 0) open.set(account, left);
      else open.delete(account);
      total -= 1;
    };
  };
}
