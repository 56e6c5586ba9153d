import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Translate } from '@tradepost/http';
import { modules } from '../modules.ts';

const packagesFolder = join(import.meta.dirname, '../..');

/**
 * The Chinese texts of the API document: `packages/<package>/openapi.zh-CN.json` has those of one package, by their
 * English text. A text that several packages use is in the file of the first of them.
 */
const translationFile = (packageName: string): string => join(packagesFolder, packageName, 'openapi.zh-CN.json');

/** The packages that can have texts in the document. `http` has the system pages. */
export const documentPackages: readonly string[] = ['http', ...modules.map(({ name }) => name)];

export function readTranslations(packageName: string): Readonly<Record<string, string>> {
  try {
    return JSON.parse(readFileSync(translationFile(packageName), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

/** Returns the function that translates texts of the document. The files are read at the first Chinese text. */
export function openTranslations(): Translate {
  let texts: ReadonlyMap<string, string> | null = null;
  return (text, locale) => {
    if (locale === 'en') return text;
    texts ??= new Map(documentPackages.flatMap((name) => Object.entries(readTranslations(name))));
    return texts.get(text) ?? text;
  };
}
