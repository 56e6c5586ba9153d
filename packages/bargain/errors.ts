import { defineErrors } from '@tradepost/core';

export const bargainErrors = defineErrors({
  bargain_not_found: { code: 1, en: 'Bargain not found', 'zh-CN': '砍价不存在' },
  bargain_succeeded: { code: 1, en: 'The bargain has reached its floor price', 'zh-CN': '已砍至底价' },
  bargain_failed: { code: 1, en: 'The bargain has failed', 'zh-CN': '砍价已失败' },
  bargain_expired: { code: 1, en: 'The bargain has expired', 'zh-CN': '砍价已过期' },
  own_bargain: { code: 1, en: 'You cannot help your own bargain', 'zh-CN': '不能帮自己砍价' },
  already_helped: { code: 1, en: 'You have helped this bargain already', 'zh-CN': '您已帮该用户砍过价' },
  cuts_reversed: {
    code: 400,
    en: 'max_cut_amount: must be at least min_cut_amount',
    'zh-CN': 'max_cut_amount：不得低于 min_cut_amount',
  },
  one_piece: {
    code: 20001,
    en: 'Only one piece can be bought at the price of a bargain',
    'zh-CN': '砍价商品每次限购一件',
  },
});
