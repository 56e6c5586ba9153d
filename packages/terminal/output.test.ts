import { expect, test } from 'vitest';
import { table } from './output.ts';

test('a table aligns Chinese names, which take two columns per character', () => {
  const rows = [
    ['NAME', 'STOCK'],
    ['杯子', '5'],
    ['Tray', '12'],
  ];
  expect(table(rows)).toBe('NAME  STOCK\n杯子  5\nTray  12');
});

test('a table aligns columns of figures at the right', () => {
  const rows = [
    ['name', 'ms'],
    ['pay', '7'],
    ['cancel', '12'],
  ];
  expect(table(rows, { alignRight: (column) => column === 1 })).toBe('name    ms\npay      7\ncancel  12');
});

test('a table without rows is empty', () => {
  expect(table([])).toBe('');
});
