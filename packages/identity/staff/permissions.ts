import type { Route } from '@tradepost/http';
import { identityErrors } from '../errors.ts';

/** Contract: commerce-admin.md 13. What no route of ours asks for decides menus and buttons in the clients. */
const contractCodes: readonly string[] = [
  ...['system:admin', 'system:config'],
  ...['product:view', 'product:create', 'product:edit', 'product:delete'],
  ...['order:view', 'order:ship', 'order:refund', 'order:review-reply'],
  ...['marketing:view', 'marketing:edit'],
  ...['seckill:view', 'seckill:edit'],
  ...['group_buy:view', 'group_buy:edit', 'group_buy:delete'],
  ...['bargain:view', 'bargain:edit', 'bargain:delete'],
  ...['points_mall:view', 'points_mall:edit'],
  ...['vip:view', 'vip:edit'],
  ...['checkin:view', 'checkin:config'],
  ...['message:view', 'message:send'],
  ...['decor:view', 'decor:edit'],
  ...['distribution:view', 'distribution:edit', 'distribution:delete'],
  ...['wms:view', 'wms:edit'],
  ...['ai:view', 'ai:generate', 'ai:config'],
  ...['im:view', 'im:reply', 'im:knowledge', 'im:staff:manage'],
];

/** Whoever has it may do everything. */
export const everything = '*';
export const manageStaff = 'system:admin';

/** The contract's codes in its order, then what else the served routes ask for. */
export function permissionCodes(routes: readonly Route[]): string[] {
  const asked = routes.flatMap((route) => (route.permission ? [route.permission] : []));
  return [...new Set([...contractCodes, ...asked])];
}

/** Who acts: an administrator, or an operator at the command line, who may do everything. */
export type Actor = { readonly id: number; readonly perms: readonly string[] };
export const operator: Actor = { id: 0, perms: [everything] };

export const mayDo = (perms: readonly string[], code: string) => perms.includes(code) || perms.includes(everything);

/**
 * Nobody grants what they do not have, and nobody touches the account or role of whoever has more: else a new password
 * for the owner would be the way to everything.
 */
export function refuseBeyond(actor: Actor, ...permissions: readonly string[]): void {
  const permission = permissions.find((code) => !mayDo(actor.perms, code));
  if (permission !== undefined) throw identityErrors.beyond_own_permissions({ permission });
}
