import type { Floor } from './token-store.ts';

/** What instances tell each other of tokens. */
export const channels = { revoked: 'identity.revoked', floors: 'identity.floors', keys: 'identity.keys' } as const;

/** `user 3 17,admin 1 18`: the last number is the generation. */
export const floorsMessage = (floors: readonly Floor[]): string =>
  floors.map((floor) => `${floor.role} ${floor.account_id} ${floor.generation}`).join(',');

export const floorsOf = (message: string): Floor[] =>
  message.split(',').flatMap((part): Floor[] => {
    const [role, id, generation] = part.split(' ');
    if (role !== 'user' && role !== 'admin') return [];
    return [{ role, account_id: Number(id), generation: Number(generation) }];
  });
