export { amountCell, amountOf, integerOf, optionalTextCell, textCell, textOf } from './csv-cells.ts';
export { type CsvFault, csvFaults } from './csv-faults.ts';
export { type CsvFormat, type CsvLine, readCsvLines } from './read-csv-lines.ts';
export { byteOrderMark, toCsv } from './to-csv.ts';
