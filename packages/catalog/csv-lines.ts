import { parse } from 'csv-parse/sync';
import { csvColumns } from './csv-columns.ts';
import { type CsvFault, csvFault, csvFileError } from './csv-faults.ts';

/**
 * Reads a catalogue file line by line. A record is cut out here, by counting quotes, and only then given to the CSV
 * parser: so a stray quote costs its own line and not the rest of the file, and every fault has its exact line.
 */
export type CsvLine = { line: number; cells: ReadonlyMap<string, string> };

/** A record of more characters is a quote that is never closed. */
const maxRecord = 4_000_000;
const delimiters = [',', ';', '\t'];

/** The bytes as text. Throws when they are not UTF-8; a byte order mark is dropped. */
async function* decoded(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  let first = true;
  const linesIn = (text: string) => text.split('\n').length - 1;
  const decode = (bytes?: Uint8Array) => {
    try {
      return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
    } catch {
      const [sound = ''] = new TextDecoder().decode(bytes).split('\ufffd', 1);
      throw csvFileError(line + linesIn(sound), 'not_utf8');
    }
  };
  for await (const bytes of input) {
    if (first && ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)))
      throw csvFileError(1, 'utf16');
    first = first && bytes.length === 0;
    const text = decode(bytes);
    line += linesIn(text);
    yield text;
  }
  yield decode();
}

type Physical = { text: string; end: string };

/** Lines with their ends (LF, CRLF or CR). */
async function* physicalLines(input: AsyncIterable<string>): AsyncGenerator<Physical> {
  let rest = '';
  for await (const chunk of input) {
    rest += chunk;
    let begin = 0;
    const ends = /\r\n|\n|\r(?!$)/g;
    for (const match of rest.matchAll(ends)) {
      yield { text: rest.slice(begin, match.index), end: match[0] };
      begin = match.index + match[0].length;
    }
    rest = rest.slice(begin);
    // Somebody gave something that is no text with lines.
    if (rest.length > 2 * maxRecord) throw csvFileError(1, 'broken_quotes', { max: maxRecord });
  }
  const last = rest.endsWith('\r') ? rest.slice(0, -1) : rest;
  if (rest !== '') yield { text: last, end: '' };
}

const quotesIn = (text: string): number => {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) count += 1;
  return count;
};

function cellsOf(record: string, delimiter: string): string[] | null {
  if (!record.includes('"')) return record.split(delimiter);
  try {
    const rows = parse(record, { delimiter, record_delimiter: ['\r\n', '\n', '\r'], relax_column_count: true });
    return rows.length === 1 ? rows[0]! : null;
  } catch {
    return null;
  }
}

/** The separator that the header has most of. */
function delimiterOf(header: string): string {
  const count = (delimiter: string) => header.split(delimiter).length;
  return delimiters.reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best));
}

function checkHeader(header: readonly string[]): void {
  for (const [index, name] of header.entries()) {
    if (!csvColumns.includes(name)) throw csvFileError(1, 'unknown_column', { name, known: csvColumns.join(', ') });
    if (header.indexOf(name) !== index) throw csvFileError(1, 'repeated_column', { name });
  }
  if (!header.includes('product_id') && !header.includes('handle')) throw csvFileError(1, 'no_key_column');
}

/** Records as cells; null where the quotes do not match: then the lines after the first are looked at anew. */
async function* records(lines: AsyncIterable<Physical>): AsyncGenerator<{ line: number; cells: string[] | null }> {
  const source = lines[Symbol.asyncIterator]();
  /** Lines that were taken for the rest of a record and turned out not to be. */
  let pending: Physical[] = [];
  const next = async () => pending.shift() ?? (await source.next()).value;
  let delimiter = '';
  let line = 1;
  for (let first = await next(); first; first = await next()) {
    const taken: Physical[] = [];
    let record = first.text;
    let end = first.end;
    let quotes = quotesIn(record);
    while (quotes % 2 === 1 && record.length <= maxRecord) {
      const more = await next();
      if (!more) break;
      taken.push(more);
      record += end + more.text;
      end = more.end;
      quotes += quotesIn(more.text);
    }
    delimiter ||= delimiterOf(record);
    const cells = quotes % 2 === 0 ? cellsOf(record, delimiter) : null;
    yield { line, cells };
    if (cells === null) pending = [...taken, ...pending];
    line += cells === null ? 1 : 1 + taken.length;
  }
}

/** The lines below the header with their cells by column, and the faults of those that have none. */
export async function* readCsvLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<CsvLine | CsvFault> {
  let header: string[] | null = null;
  for await (const { line, cells } of records(physicalLines(decoded(input)))) {
    if (cells?.every((cell) => cell.trim() === '')) continue;
    if (header === null) {
      if (!cells) throw csvFileError(line, 'broken_quotes', { max: maxRecord });
      header = cells.map((name) => name.trim());
      checkHeader(header);
    } else if (!cells) yield csvFault(line, '-', 'broken_quotes', { max: maxRecord });
    else if (cells.length !== header.length)
      yield csvFault(line, '-', 'cell_count', { count: cells.length, wanted: header.length });
    else yield { line, cells: new Map(header.map((name, index) => [name, cells[index]!])) };
  }
  if (header === null) throw csvFileError(1, 'empty_file');
}
