import { amountCell, amountOf, optionalTextCell, textCell, textOf } from '@tradepost/csv';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { imagesCell, imagesOf, pairsCell, pairsOf, pathCell, pathOf } from './csv-cells.ts';

/** A cell that is not read back exactly would change the catalogue by an export and import. */
const anyText = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...' \\/;=\'"-+@\n\t\r|a搪,＝') }));
const formula = /^[=+\-@\t\r＝＋－＠]/;

test('every text is read back exactly, and no cell begins like a formula', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(textOf(textCell(text))).toBe(text);
      expect(textOf(optionalTextCell(text))).toBe(text);
      expect(optionalTextCell(text)).not.toBe('');
      expect(textCell(text)).not.toMatch(formula);
    }),
  );
});

test('specs, paths and pictures are read back exactly', () => {
  const pair = fc.record({ name: anyText, value: anyText });
  fc.assert(
    fc.property(fc.array(pair, { minLength: 1, maxLength: 4 }), (pairs) => {
      expect(pairsOf(pairsCell(pairs))).toEqual(pairs);
      expect(pairsCell(pairs)).not.toMatch(formula);
    }),
  );
  const name = anyText.filter((text) => text.trim() !== '');
  fc.assert(
    fc.property(fc.array(name, { maxLength: 4 }), (names) => {
      expect(pathOf(pathCell(names))).toEqual(names);
    }),
  );
  const image = fc.record({ url: name, sort: fc.integer({ min: 0, max: 5 }) });
  fc.assert(
    fc.property(fc.array(image, { maxLength: 4 }), (images) => {
      expect(imagesOf(imagesCell(images))).toEqual(images);
    }),
  );
});

test('amounts are decimals, with a point or a comma', () => {
  expect([0, 5, 1290, 9_999_999_999].map(amountCell)).toEqual(['0.00', '0.05', '12.90', '99999999.99']);
  expect(['12', '12.9', '12,90', '0.05'].map(amountOf)).toEqual([12, 12.9, 12.9, 0.05]);
  expect(['', '1,234', '12.905', '-1', '1e3', 'free', '１２'].map(amountOf)).toEqual(Array(7).fill(null));
});
