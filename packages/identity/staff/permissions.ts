import type { Route } from '@tradepost/http';
import { identityErrors } from '../errors.ts';

/** The permission codes of the API contract. Clients use them to show menus and buttons; some are required by no route. */
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

/** The code that grants all permissions. */
export const everything = '*';
export const manageStaff = 'system:admin';

const groupOf = (code: string) => code.slice(0, code.indexOf(':'));
const requiredBy = (routes: readonly Route[]) =>
  routes.flatMap(({ permission }) => (permission === undefined ? [] : [permission]));

/**
 * The codes that these routes require, and the other codes of their groups in the contract: clients use some codes that no
 * route requires. The codes of a group follow each other, in the order of the contract.
 */
export function servedCodes(routes: readonly Route[]): string[] {
  const required = requiredBy(routes);
  const served = new Set(required.map(groupOf));
  const codes = [...new Set([...contractCodes.filter((code) => served.has(groupOf(code))), ...required])];
  const groups = [...new Set(codes.map(groupOf))];
  return groups.flatMap((group) => codes.filter((code) => groupOf(code) === group));
}

/** The codes that a role can have: also those of the contract whose module is switched off. */
export const assignableCodes = (routes: readonly Route[]): string[] => [
  ...new Set([...contractCodes, ...requiredBy(routes)]),
];

/** The account that makes a change: an administrator, or an operator at the command line with all permissions. */
export type Actor = { readonly id: number; readonly perms: readonly string[] };
export const operator: Actor = { id: 0, perms: [everything] };

export const mayDo = (perms: readonly string[], code: string) => perms.includes(code) || perms.includes(everything);

/**
 * Refuses permissions that the actor does not have. An actor can neither grant them nor change an account or role that has
 * them. Otherwise an actor could set a new password for the owner and get all permissions.
 */
export function refuseBeyond(actor: Actor, ...permissions: readonly string[]): void {
  const permission = permissions.find((code) => !mayDo(actor.perms, code));
  if (permission !== undefined) throw identityErrors.beyond_own_permissions({ permission });
}
