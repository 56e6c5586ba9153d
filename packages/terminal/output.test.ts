import { userInfo } from 'node:os';
import { expect, test, vi } from 'vitest';
import { reportFailure, table } from './output.ts';

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

test('a file that the account of the process may not read is refused with the name of the account', () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    const refused = Object.assign(new Error("EACCES: permission denied, open '/root/products.csv'"), {
      ...{ code: 'EACCES', path: '/root/products.csv' },
    });
    expect(reportFailure(refused)).toBe(1);
    expect(write).toHaveBeenCalledWith(
      `error: EACCES: permission denied, open '/root/products.csv', as the user ${userInfo().username}\n`,
    );
  } finally {
    write.mockRestore();
  }
});
