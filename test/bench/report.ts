import { cpus } from 'node:os';
import { table } from '@tradepost/terminal';

export type Cell = string | number | null;
/** Cells by column name. Text output rounds numbers to three significant digits, JSON does not. */
export type Row = Readonly<Record<string, Cell>>;
export type Section = {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly notes?: readonly string[];
  /** The promise that the figures break. The bench prints everything, then fails. */
  readonly broken?: string | undefined;
};

/** Machine and versions. Figures are only meaningful with them. */
export type Context = { cpu: string; cores: number; node: string; postgres?: string; fsync?: string };

/** `database` is null for benches without a database. */
export function contextOf(database: { version: string; fsync: string } | null): Context {
  const all = cpus();
  return {
    cpu: all[0]?.model.trim() ?? 'unknown',
    cores: all.length,
    node: process.versions.node,
    ...(database && { postgres: database.version, fsync: database.fsync }),
  };
}

export const mean = (values: readonly number[]): number => values.reduce((sum, v) => sum + v, 0) / values.length;

function shown(cell: Cell): string {
  if (cell === null) return '-';
  if (typeof cell === 'string') return cell;
  if (Math.abs(cell) >= 1000) return Math.round(cell).toLocaleString('en');
  return String(Number(cell.toPrecision(3)));
}

function tableOf(rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const lines = [columns, ...rows.map((row) => columns.map((column) => shown(row[column] ?? null)))];
  const isNumeric = columns.map((column) => rows.some((row) => typeof row[column] === 'number'));
  return table(lines, { alignRight: (column) => isNumeric[column] === true }).replaceAll(/^/gm, '  ');
}

export function textOf(bench: string, context: Context, sections: readonly Section[]): string {
  const { cpu, cores, node, postgres, fsync } = context;
  const database = postgres ? `, PostgreSQL ${postgres}, fsync ${fsync}` : '';
  const head = `${bench}: ${cpu}, ${cores} cores, Node ${node}${database}`;
  const parts = sections.map(({ title, rows, notes = [], broken }) => {
    const lines = [...notes, ...(broken ? [`FAILED: ${broken}`] : [])];
    return [`\n${title}`, ...(rows.length > 0 ? [tableOf(rows)] : []), ...lines.map((line) => `  ${line}`)].join('\n');
  });
  return [head, ...parts].join('\n');
}

/** Progress goes to stderr, so that stdout holds only the result. */
export function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}
