import { fill, type Locale, type Localized } from '@tradepost/core';
import type { z } from 'zod';
import { en, zhCN } from 'zod/locales';

/** Texts about an invalid field, for the person who filled it in. */
const texts = {
  missing: { en: 'is missing', 'zh-CN': '缺少' },
  type: { en: 'must be {what}', 'zh-CN': '须为{what}' },
  empty: { en: 'must not be empty', 'zh-CN': '不能为空' },
  short: { en: 'must have at least {n} characters', 'zh-CN': '至少 {n} 个字符' },
  long: { en: 'must have at most {n} characters', 'zh-CN': '最多 {n} 个字符' },
  few: { en: 'must have at least {n} entries', 'zh-CN': '至少 {n} 项' },
  many: { en: 'must have at most {n} entries', 'zh-CN': '最多 {n} 项' },
  least: { en: 'must be at least {n}', 'zh-CN': '不能小于 {n}' },
  most: { en: 'must be at most {n}', 'zh-CN': '不能大于 {n}' },
  above: { en: 'must be more than {n}', 'zh-CN': '须大于 {n}' },
  below: { en: 'must be less than {n}', 'zh-CN': '须小于 {n}' },
  choice: { en: 'must be one of {values}', 'zh-CN': '须为以下之一：{values}' },
  value: { en: 'must be {values}', 'zh-CN': '须为 {values}' },
  hidden: {
    en: 'must not contain line breaks, control characters or invisible characters',
    'zh-CN': '不能包含换行、控制字符或不可见字符',
  },
  colour: { en: 'must be a CSS colour such as #1f6feb', 'zh-CN': '须为 CSS 颜色，例如 #1f6feb' },
  mobile: {
    en: 'must be a mobile number of China: 11 digits that begin with 1',
    'zh-CN': '须为中国大陆手机号：1 开头的 11 位数字',
  },
  picture: {
    en: 'must be a path of this shop or an http address, without spaces, quotes and brackets',
    'zh-CN': '须为本站路径或 http 地址，且不含空格、引号和括号',
  },
  decimals: { en: 'must have at most {n} decimals', 'zh-CN': '最多 {n} 位小数' },
  below_cent: { en: 'must be 0 or at least 0.01', 'zh-CN': '须为 0 或不小于 0.01' },
  form: { en: 'does not have the expected form', 'zh-CN': '格式不正确' },
} as const satisfies Record<string, Localized>;

const kinds: Readonly<Record<string, Localized>> = {
  string: { en: 'a text', 'zh-CN': '文本' },
  number: { en: 'a number', 'zh-CN': '数字' },
  int: { en: 'a whole number', 'zh-CN': '整数' },
  boolean: { en: 'true or false', 'zh-CN': 'true 或 false' },
  array: { en: 'a list', 'zh-CN': '列表' },
  object: { en: 'an object', 'zh-CN': '对象' },
  record: { en: 'an object', 'zh-CN': '对象' },
};

type Issue = z.core.$ZodRawIssue;
type IssueText = readonly [keyof typeof texts, Record<string, string | number>?];

function boundOf(
  issue: Issue,
  bound: unknown,
  [text, list, inclusive, exclusive]: readonly (keyof typeof texts)[],
): IssueText {
  const n = Number(bound);
  if (issue.origin === 'string') return n === 1 && text === 'short' ? ['empty'] : [text!, { n }];
  if (issue.origin === 'array' || issue.origin === 'set') return n === 1 && list === 'few' ? ['empty'] : [list!, { n }];
  return [issue.inclusive === false ? exclusive! : inclusive!, { n }];
}

/** The fault that a refinement of a schema names, with the other parameters as its values. */
function faultOf(params: Record<string, unknown> | undefined): IssueText | null {
  const { fault, ...values } = params ?? {};
  if (!Object.hasOwn(texts, String(fault))) return null;
  return [fault as keyof typeof texts, values as Record<string, string | number>];
}

const choiceOf = (values: readonly unknown[]): IssueText => [
  values.length === 1 ? 'value' : 'choice',
  { values: values.join(', ') },
];

/** The values that a union of values such as 0 | 1 accepts. Null for other unions. */
function choicesIn(issue: Issue): unknown[] | null {
  const options = issue.errors as readonly (readonly z.core.$ZodIssue[])[];
  const values = options.map(([first]) => (first?.code === 'invalid_value' ? first.values : null));
  return values.includes(null) ? null : values.flatMap((some) => some ?? []);
}

function textOf(issue: Issue, locale: Locale): IssueText | null {
  if (issue.input === undefined && issue.code !== 'custom') return ['missing'];
  switch (issue.code) {
    case 'invalid_type': {
      const kind = kinds[String(issue.expected)];
      return kind ? ['type', { what: kind[locale] }] : null;
    }
    case 'too_small':
      return boundOf(issue, issue.minimum, ['short', 'few', 'least', 'above']);
    case 'too_big':
      return boundOf(issue, issue.maximum, ['long', 'many', 'most', 'below']);
    case 'invalid_value':
      return choiceOf(issue.values as unknown[]);
    case 'invalid_union': {
      const values = choicesIn(issue);
      return values ? choiceOf(values) : ['form'];
    }
    case 'invalid_format':
      return ['form'];
    case 'custom':
      return faultOf(issue.params);
    default:
      return null;
  }
}

const others = { en: en().localeError, 'zh-CN': zhCN().localeError } as const;

/** The text of an issue. A message that a schema declares is used instead of it. */
export const describeIssue = (locale: Locale) => (issue: Issue) => {
  const found = textOf(issue, locale);
  return found ? fill(texts[found[0]][locale], found[1] ?? {}) : others[locale](issue);
};
