import type { ActivityKind, ActivityOptions } from '@tradepost/activities';
import { maxGroupHours, maxGroupSize } from './limits.ts';

export const groupBuyKind = {
  type: 'group_buy',
  path: 'group-buy',
  label: { en: 'Group buy', 'zh-CN': '拼团' },
  tag: 'Group buys',
  examples: { activity: 2, row: 4 },
  permissions: { view: 'group_buy:view', edit: 'group_buy:edit', remove: 'group_buy:delete' },
  prices: 'fixed',
  priceAlias: 'group_price',
  options: [
    {
      name: 'group_size',
      unit: 'count',
      value: 2,
      min: 2,
      max: maxGroupSize,
      about: 'persons of a group, with its leader',
    },
    { name: 'expire_hours', unit: 'count', value: 24, min: 1, max: maxGroupHours, about: 'hours that a group is open' },
  ],
} as const satisfies ActivityKind;

/** The value of an option of an activity. An activity that is older than the option has its default. */
export const optionOf = (options: ActivityOptions, name: (typeof groupBuyKind.options)[number]['name']): number =>
  options[name] ?? groupBuyKind.options.find((option) => option.name === name)!.value;
