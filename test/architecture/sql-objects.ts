import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A table, view or function that a migration creates, `schema.name`. */
export type SqlObject = {
  name: string;
  kind: 'table' | 'view' | 'function';
  /** The statement that creates it, with the body of a function. */
  text: string;
};

const moves = /^alter table\s+(\w+\.\w+) set schema (\w+);/gm;
const creates = /^create (?:or replace )?(table|view|function)\s+(?:if not exists\s+)?(\w+\.\w+)/gm;
/** A statement ends at the end of a line, outside of `$$`, which enclose the body of a function. */
const endOf = (text: string, kind: string): number => {
  const bodyAt = kind === 'function' ? text.indexOf('$$') : -1;
  const from = bodyAt < 0 ? 0 : text.indexOf('$$', bodyAt + 2);
  const end = text.indexOf(';\n', from);
  return end < 0 ? text.length : end;
};

export const withoutComments = (sql: string): string => sql.replace(/--.*$/gm, '');

function objectsIn(text: string): SqlObject[] {
  return [...text.matchAll(creates)].map(({ index, 1: kind, 2: name }) => {
    const rest = text.slice(index);
    return { name: name!, kind: kind as SqlObject['kind'], text: rest.slice(0, endOf(rest, kind!)) };
  });
}

/** The objects that the migrations of a folder create, in order. A table that moves to another schema has its new name. */
export async function readSqlObjects(folder: string): Promise<SqlObject[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  const objects: SqlObject[] = [];
  for (const text of texts.map(withoutComments)) {
    objects.push(...objectsIn(text));
    for (const [, from, schema] of text.matchAll(moves)) {
      const moved = objects.find(({ name }) => name === from);
      if (moved) moved.name = `${schema}.${from!.split('.')[1]}`;
    }
  }
  return objects;
}
