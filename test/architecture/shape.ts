import { readdir, readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { parseSync, visitorKeys } from 'oxc-parser';
import { isTestFile, root } from './tree.ts';

/**
 * Size limits of the source: no function above 80 lines, no folder above 15 source files. Tests are not counted.
 * Definitions of routes and metrics do not count towards the function that lists them; handlers in them are functions of
 * their own.
 * `node test/architecture/shape.ts` prints the faults.
 */
export const mostLines = 80;
export const mostFiles = 15;

/** Calls that declare one thing. A list of them is a table, which is read entry by entry. */
const definitions = new Set(['defineRoute', 'defineChannel', 'Counter', 'Gauge', 'Histogram']);

/** Functions above the limit, `file function`, each with its reason. */
const longFunctions: Readonly<Record<string, string>> = {};
/** Folders above the limit, each with its reason. */
const fullFolders: Readonly<Record<string, string>> = {};

export type FunctionSize = { readonly name: string; readonly line: number; readonly lines: number };

/** The fields of a syntax node that this check reads. */
type Node = {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly id?: { readonly name?: string } | null;
  readonly key?: { readonly name?: string };
  readonly callee?: { readonly name?: string };
  readonly body?: unknown;
};

const functions = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

function childrenOf(node: Node): Node[] {
  const fields = node as unknown as Record<string, unknown>;
  return (visitorKeys[node.type] ?? []).flatMap((key) => [fields[key]].flat().filter(isNode));
}

/** Returns the line of an offset, counted from 0. */
function linesOf(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  };
}

/** All functions of a source text with the lines that count. Throws when the text does not parse. */
export function functionSizes(file: string, text: string): FunctionSize[] {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  const lineOf = linesOf(text);
  const span = (node: Node) => lineOf(node.end) - lineOf(node.start) + 1;
  const sizes: FunctionSize[] = [];

  /** Returns the lines of definitions in `node`. */
  const visit = (node: Node, outerName: string): number => {
    const name = node.id?.name ?? node.key?.name ?? outerName;
    let defined = 0;
    for (const child of childrenOf(node)) defined += visit(child, name);
    if (functions.has(node.type) && node.body)
      sizes.push({ name, line: lineOf(node.start) + 1, lines: span(node) - defined });
    return definitions.has(node.callee?.name ?? '') ? span(node) : defined;
  };
  visit(program as unknown as Node, '(module)');
  return sizes;
}

const isSource = (name: string) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name);

/** Faults of these folders, each with its file; also exceptions that are no longer needed. */
export async function shapeFaults(
  folders: readonly string[] = [join(root, 'packages')],
  exceptions = { longFunctions, fullFolders },
): Promise<string[]> {
  const faults: string[] = [];
  const used = new Set<string>();
  const filesOf = new Map<string, number>();
  for (const folder of folders)
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !isSource(entry.name) || entry.parentPath.includes('node_modules')) continue;
      const path = join(entry.parentPath, entry.name);
      const where = relative(root, entry.parentPath);
      filesOf.set(where, (filesOf.get(where) ?? 0) + 1);
      if (isTestFile(relative(root, path))) continue;
      for (const { name, line, lines } of functionSizes(path, await readFile(path, 'utf8'))) {
        if (lines <= mostLines) continue;
        const key = `${basename(path)} ${name}`;
        used.add(key);
        if (!Object.hasOwn(exceptions.longFunctions, key))
          faults.push(`${relative(root, path)}:${line}: ${name} has ${lines} lines, ${mostLines} at most`);
      }
    }
  for (const [where, count] of filesOf) {
    if (count <= mostFiles) continue;
    used.add(where);
    if (!Object.hasOwn(exceptions.fullFolders, where))
      faults.push(`${where}: ${count} source files, ${mostFiles} at most`);
  }
  for (const key of Object.keys({ ...exceptions.longFunctions, ...exceptions.fullFolders }))
    if (!used.has(key)) faults.push(`${key}: the exception is no longer needed`);
  return faults;
}

if (import.meta.main) {
  const faults = await shapeFaults();
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.stdout.write(faults.length === 0 ? 'shape: in order\n' : `shape: ${faults.length} faults\n`);
  process.exit(faults.length === 0 ? 0 : 1);
}
