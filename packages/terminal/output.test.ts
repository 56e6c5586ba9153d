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

test.each([
  ['EACCES', '/root/products.csv', `, as the user ${userInfo().username}`],
  ['ENOENT', 'products.csv', `, in ${process.cwd()}`],
  ['ENOENT', '/root/products.csv', ''],
])('a file that cannot be read is refused with what the path does not say: %s %s', (code, path, more) => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    expect(reportFailure(Object.assign(new Error(`${code}: open '${path}'`), { code, path }))).toBe(1);
    expect(write).toHaveBeenCalledWith(`error: ${code}: open '${path}'${more}\n`);
  } finally {
    write.mockRestore();
  }
});
