import { httpErrors } from '../routing/errors.ts';
import type { ChannelLimits } from './channel-limits.ts';

type Limits = Pick<ChannelLimits, 'sockets' | 'socketsPerAddress' | 'socketsPerAccount'>;
type Release = () => void;

/**
 * Counts the sockets of one channel in this process, beginning with the handshake. Each `take` returns its release
 * function.
 */
export type Slots = {
  /** Throws the refusal when the channel or the address has no free slot. */
  take(address: string): Release;
  takeForAccount(account: string): Release;
};

function countUp(counts: Map<string, number>, key: string, most: number): Release {
  const before = counts.get(key) ?? 0;
  if (before >= most) throw httpErrors.too_many_sockets({ limit: most });
  counts.set(key, before + 1);
  return () => {
    const left = counts.get(key)! - 1;
    if (left > 0) counts.set(key, left);
    else counts.delete(key);
  };
}

export function openSlots(limits: Limits): Slots {
  const byAddress = new Map<string, number>();
  const byAccount = new Map<string, number>();
  let taken = 0;
  return {
    take(address) {
      if (taken >= limits.sockets) throw httpErrors.no_free_socket();
      const release = countUp(byAddress, address, limits.socketsPerAddress);
      taken += 1;
      return () => {
        taken -= 1;
        release();
      };
    },
    takeForAccount: (account) => countUp(byAccount, account, limits.socketsPerAccount),
  };
}
