import { parse } from 'csv-parse/sync';
import { type CsvFault, csvFaults } from './csv-faults.ts';

/**
 * Reads a CSV file line by line. This file finds the end of each record by counting quotes, and passes only whole
 * records to the CSV parser. A stray quote then makes its own line invalid and not the rest of the file, and every
 * fault has its exact line.
 */
export type CsvFormat = {
  readonly columns: readonly string[];
  /** The header has at least one of each of these lists. */
  readonly needs: readonly (readonly string[])[];
};
export type CsvLine = { line: number; characters: number; cells: ReadonlyMap<string, string> };

/** A record with more characters or lines has a quote that is never closed. */
const maxRecord = 4_000_000;
const maxRecordLines = 20_000;
const { fault, fileError } = csvFaults({
  not_utf8: 'is not UTF-8; save the file as "CSV UTF-8" and import it again',
  utf16: 'is UTF-16; save the file as "CSV UTF-8" and import it again',
  empty_file: 'has no header line',
  unknown_column: 'there is no column {name}; known: {known}',
  repeated_column: 'is repeated in the header',
  no_key_column: 'the header needs {names}',
  broken_quotes: 'the quotes do not match, or the line is longer than {max} characters or {lines} lines',
  long_line: 'has no end, or is longer than {max} characters: this is not a CSV file',
  cell_count: '{count} cells, the header has {wanted}',
});
const delimiters = [',', ';', '\t'];

/** The bytes as text. Throws when they are not UTF-8. A byte order mark is removed. */
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
      throw fileError(line + linesIn(sound), 'not_utf8');
    }
  };
  for await (const bytes of input) {
    if (first && ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)))
      throw fileError(1, 'utf16');
    first = first && bytes.length === 0;
    const text = decode(bytes);
    line += linesIn(text);
    yield text;
  }
  yield decode();
}

type Physical = { text: string; end: string };

/** Lines with their ends (LF, CRLF or CR). Each character is read once, for chunks of any size. */
async function* physicalLines(input: AsyncIterable<string>): AsyncGenerator<Physical> {
  /** The parts of a line that is not complete yet. */
  let parts: string[] = [];
  let length = 0;
  let line = 1;
  /** A carriage return at the end of a chunk: a line feed may follow. */
  let held = '';
  for await (const piece of input) {
    const chunk = held + piece;
    held = '';
    let begin = 0;
    for (const match of chunk.matchAll(/\r\n|\n|\r(?!$)/g)) {
      yield { text: parts.join('') + chunk.slice(begin, match.index), end: match[0] };
      parts = [];
      length = 0;
      line += 1;
      begin = match.index + match[0].length;
    }
    if (chunk.endsWith('\r') && begin < chunk.length) held = '\r';
    const rest = chunk.slice(begin, chunk.length - held.length);
    if (rest !== '') parts.push(rest);
    length += rest.length;
    if (length > maxRecord) throw fileError(line, 'long_line', { max: maxRecord });
  }
  const last = parts.join('');
  if (last !== '' || held !== '') yield { text: last, end: '' };
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

/** The separator that occurs most often in the header. */
function delimiterOf(header: string): string {
  const count = (delimiter: string) => header.split(delimiter).length;
  return delimiters.reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best));
}

function checkHeader(header: readonly string[], { columns, needs }: CsvFormat): void {
  for (const [index, name] of header.entries()) {
    if (!columns.includes(name)) throw fileError(1, 'unknown_column', { name, known: columns.join(', ') });
    if (header.indexOf(name) !== index) throw fileError(1, 'repeated_column', { name });
  }
  for (const names of needs)
    if (!names.some((name) => header.includes(name)))
      throw fileError(1, 'no_key_column', { names: names.join(' or ') });
}

/** Physical lines that can be read again from an earlier one. */
function rereadable(lines: AsyncIterable<Physical>) {
  const source = lines[Symbol.asyncIterator]();
  let kept: Physical[] = [];
  let at = 0;
  return {
    async next(): Promise<Physical | undefined> {
      if (at === kept.length) {
        const { value, done } = await source.next();
        if (done) return undefined;
        kept.push(value);
      }
      at += 1;
      return kept[at - 1];
    },
    /** Reads the last `count` lines again. */
    back(count: number) {
      at -= count;
    },
    /**
     * Removes the lines before the next one. It does so in bulk, so that each line is moved a limited number of times.
     */
    forget() {
      if (at === kept.length) kept = [];
      else if (at < 1_000 || at * 2 < kept.length) return;
      else kept = kept.slice(at);
      at = 0;
    },
  };
}

/** Records as cells. Null when the quotes do not match; the lines after the first are then read again. */
async function* records(
  lines: AsyncIterable<Physical>,
): AsyncGenerator<{ line: number; characters: number; cells: string[] | null }> {
  const source = rereadable(lines);
  let delimiter = '';
  let line = 1;
  for (let first = await source.next(); first; first = await source.next()) {
    const parts = [first.text];
    let { end } = first;
    let length = first.text.length;
    let quotes = quotesIn(first.text);
    let taken = 0;
    while (quotes % 2 === 1 && length <= maxRecord && taken < maxRecordLines) {
      const more = await source.next();
      if (!more) break;
      taken += 1;
      parts.push(end, more.text);
      length += end.length + more.text.length;
      end = more.end;
      quotes += quotesIn(more.text);
    }
    const record = parts.join('');
    // A line without a text before the header does not show the separator.
    if (/[^\s,;"]/.test(record)) delimiter ||= delimiterOf(record);
    const cells = quotes % 2 === 0 ? cellsOf(record, delimiter || ',') : null;
    yield { line, characters: length, cells };
    if (cells === null) source.back(taken);
    source.forget();
    line += cells === null ? 1 : 1 + taken;
  }
}

/** The lines below the header with their cells by column, and the faults of lines that cannot be read. */
export async function* readCsvLines(
  input: AsyncIterable<Uint8Array>,
  format: CsvFormat,
): AsyncGenerator<CsvLine | CsvFault> {
  let header: string[] | null = null;
  for await (const { line, characters, cells } of records(physicalLines(decoded(input)))) {
    if (cells?.every((cell) => cell.trim() === '')) continue;
    if (header === null) {
      if (!cells) throw fileError(line, 'broken_quotes', { max: maxRecord, lines: maxRecordLines });
      header = cells.map((name) => name.trim());
      checkHeader(header, format);
    } else if (!cells) yield fault(line, '-', 'broken_quotes', { max: maxRecord, lines: maxRecordLines });
    else if (cells.length !== header.length)
      yield fault(line, '-', 'cell_count', { count: cells.length, wanted: header.length });
    else yield { line, characters, cells: new Map(header.map((name, index) => [name, cells[index]!])) };
  }
  if (header === null) throw fileError(1, 'empty_file');
}
