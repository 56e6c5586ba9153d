import { expect, test } from 'vitest';
import { configFields } from './fields.ts';
import { meantText, similarNames } from './similar-name.ts';

const variables = Object.values(configFields).map(({ env }) => env);

test.each([
  ['DATBASE_URL', 'DATABASE_URL'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['DATABASEURL', 'DATABASE_URL'],
  ['database_url', 'DATABASE_URL'],
  ['TRUSTED_PROXY', 'TRUSTED_PROXIES'],
  ['REDIS_ULR', 'REDIS_URL'],
  ['TRADEPOST_DTA', 'TRADEPOST_DATA'],
  ['PROT', 'PORT'],
  ['HOSTS', 'HOST'],
])('%s is taken for a misspelt %s', (name, meant) => {
  expect(similarNames(name, variables)).toEqual([meant]);
});

test.each([
  ...[
    'DATABASE_PORT',
    'DATABASE_USER',
    'REDIS_HOST',
    'REDIS_PORT',
    'PATH',
    'HOME',
    'HOSTNAME',
    'LOGNAME',
    'NODE_OPTIONS',
  ],
  ...['TRADEPOST_PASSWORD', 'TRADEPOST_ADMIN_TOKEN', 'PUBLIC_KEY', 'LOG_FILE', 'PGHOST', 'PGPORT', 'MYPORT', 'X'],
])('%s is the variable of another program', (name) => {
  expect(similarNames(name, variables)).toEqual([]);
});

test('the nearest name is named, and all names that are as near', () => {
  const known = ['shop.time_zones', 'shop.time_zone', 'order.placed', 'order.paid', 'order.shipped'];
  for (const names of [known, known.toReversed()])
    expect(similarNames('shop.timezone', names)).toEqual(['shop.time_zone']);
  expect(meantText('shop.timezone', known)).toBe(' (did you mean shop.time_zone?)');
  expect(meantText('order.payed', known)).toBe(' (did you mean order.placed or order.paid?)');
  expect(meantText('sms.provider', known)).toBe('');
});
