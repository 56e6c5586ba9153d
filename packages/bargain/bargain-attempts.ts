import type { AttemptKind } from '@tradepost/activities';
import { type Bargain, bargainView, type Help, helpView } from './bargain.ts';
import { bargainKind } from './bargain-kind.ts';
import { bargainColumns, selectHelps } from './bargains/bargain-store.ts';
import { bargainErrors } from './errors.ts';
import { maxHelpersOfBargain } from './limits.ts';
import { adminBargainSchema, bargainSchema, helpSchema } from './schemas.ts';

type BargainView = ReturnType<typeof bargainView>;
type AdminBargainView = BargainView & { user_nickname: string; product_title: string };

/** How shoppers and staff read bargains. */
export const bargainAttempts: AttemptKind<Bargain, BargainView, AdminBargainView, Help, ReturnType<typeof helpView>> = {
  kind: bargainKind,
  adminTag: 'Bargains (admin)',
  summaries: {
    list: 'Bargains of shoppers, newest first',
    one: 'One bargain',
    shared: 'One bargain, of any shopper: others help it',
    parts: 'The helps of a bargain, the first one first',
  },
  notFound: bargainErrors.bargain_not_found,
  rows: (sql) => sql`(select ${bargainColumns(sql)} from bargain.bargains b)`,
  openedBy: 'owner_id',
  schema: bargainSchema,
  adminSchema: adminBargainSchema,
  view: bargainView,
  adminView: (view, { nickname, product_title }) => ({ ...view, user_nickname: nickname, product_title }),
  // Others see a bargain, because they help it, but not the order that bought it.
  shownTo: (bargain, userId) => (bargain.owner_id === userId ? bargain : { ...bargain, order_id: null }),
  participants: {
    path: 'helpers',
    most: maxHelpersOfBargain,
    select: selectHelps,
    schema: helpSchema,
    view: helpView,
  },
};
