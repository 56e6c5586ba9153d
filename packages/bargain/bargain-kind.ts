import type { ActivityKind, ActivityOptions } from '@tradepost/activities';
import { ownPrices } from './bargains/own-prices.ts';
import { bargainErrors } from './errors.ts';
import { maxBargainHours, maxCutAmount, maxHelpersOfBargain } from './limits.ts';

const cut = { unit: 'amount', min: 1, max: maxCutAmount } as const;
const options = [
  { ...cut, name: 'min_cut_amount', value: 1, about: 'the smallest cut of a helper' },
  { ...cut, name: 'max_cut_amount', value: 10_00, about: 'the largest cut of a helper' },
  {
    name: 'max_helpers',
    unit: 'count',
    value: 50,
    min: 1,
    max: maxHelpersOfBargain,
    about: 'the last one cuts to the floor',
  },
  {
    name: 'expire_hours',
    unit: 'count',
    value: 24,
    min: 1,
    max: maxBargainHours,
    about: 'hours that a bargain is open',
  },
] as const;

/** The value of an option of an activity. An activity that is older than the option has its default. */
export const optionOf = (stored: ActivityOptions, name: (typeof options)[number]['name']): number =>
  stored[name] ?? options.find((option) => option.name === name)!.value;

export const bargainKind = {
  type: 'bargain',
  path: 'bargain',
  label: { en: 'Bargain', 'zh-CN': '砍价' },
  tag: 'Bargains',
  examples: { activity: 3, row: 6 },
  permissions: { view: 'bargain:view', edit: 'bargain:edit', remove: 'bargain:delete' },
  prices: 'bargained',
  options,
  ownPrices,
  checkOptions: {
    refuses: [bargainErrors.cuts_reversed],
    check(stored) {
      if (optionOf(stored, 'max_cut_amount') < optionOf(stored, 'min_cut_amount')) throw bargainErrors.cuts_reversed();
    },
  },
} as const satisfies ActivityKind;
