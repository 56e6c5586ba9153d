import type { Floor } from './token-store.ts';

/** The channels by which instances notify each other about tokens. */
export const channels = { revoked: 'identity.revoked', floors: 'identity.floors', keys: 'identity.keys' } as const;

export type RevokedToken = { jti: string; expiresAt: number };

/** `jti` and the end of the token's life in Unix seconds, such as `0d1c... 1772328600`. */
export const revokedMessage = ({ jti, expiresAt }: RevokedToken): string => `${jti} ${expiresAt}`;

/** Null for a message that has another form. */
export function revokedOf(message: string): RevokedToken | null {
  const [jti, seconds] = message.split(' ');
  const expiresAt = Number(seconds);
  return jti && Number.isFinite(expiresAt) ? { jti, expiresAt } : null;
}

/** Role, account id and generation of each floor, such as `user 3 17,admin 1 18`. */
export const floorsMessage = (floors: readonly Floor[]): string =>
  floors.map((floor) => `${floor.role} ${floor.account_id} ${floor.generation}`).join(',');

/** Leaves out floors that have another form. */
export const floorsOf = (message: string): Floor[] =>
  message.split(',').flatMap((part): Floor[] => {
    const [role, id, number] = part.split(' ');
    if (role !== 'user' && role !== 'admin') return [];
    const [account_id, generation] = [Number(id), Number(number)];
    return Number.isSafeInteger(account_id) && Number.isSafeInteger(generation)
      ? [{ role, account_id, generation }]
      : [];
  });
