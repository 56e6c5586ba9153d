import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filesOf, root } from './tree.ts';

/** A reference in a document: a link, or a file name in backticks. */
type Reference = { readonly kind: 'link' | 'file'; readonly target: string; readonly line: number };

/** Names without a file in the tree: examples, and files that a reader or a running shop creates. */
const examples = /^(?:try\.ts|instance\.json|archive-products\.ts|packages\/suppliers\/.*)$/;

const link = /\[[^\]]*\]\(([^)\s]+)\)/g;
const inlineCode = /`([^`]+)`/g;
const fileName = /^(?!https?:)[\w@.*-]+(?:\/[\w@.*-]+)*\.(?:ts|sql|md|json)$/;
/** `NNNN_words.sql`, `NAME.ts`: names with a part in capitals are placeholders. README.md and similar names are files. */
const isPlaceholder = (name: string) => /[A-Z]{3}/.test(name.replace(/[A-Z]+\.md$/, ''));

/** The lines of a document. Lines of code blocks are empty. */
function proseLines(text: string): string[] {
  let inBlock = false;
  return text.split('\n').map((line) => {
    const fence = /^\s*(```|~~~)/.test(line);
    if (fence) inBlock = !inBlock;
    return fence || inBlock ? '' : line;
  });
}

export function referencesOf(text: string): Reference[] {
  return proseLines(text).flatMap((content, index) => {
    const line = index + 1;
    const links = [...content.matchAll(link)].map(([, target = '']) => ({ kind: 'link' as const, target, line }));
    const files = [...content.matchAll(inlineCode)]
      .map(([, code = '']) => code)
      .filter((code) => fileName.test(code) && !isPlaceholder(code) && !examples.test(code))
      .map((target) => ({ kind: 'file' as const, target, line }));
    return [...links, ...files];
  });
}

/** The anchors of the headings, as a Markdown renderer makes them. */
export function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const content of proseLines(text)) {
    const heading = /^#{1,6}\s+(.*)$/.exec(content)?.[1];
    if (heading === undefined) continue;
    const slug = heading
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    anchors.add(times === 0 ? slug : `${slug}-${times}`);
  }
  return anchors;
}

function linkFault(document: string, target: string): string | null {
  if (/^[a-z][a-z+.-]*:/i.test(target)) return null;
  const [path = '', anchor] = decodeURIComponent(target).split('#');
  const file = path === '' ? document : join(dirname(document), path);
  if (!existsSync(join(root, file))) return `${target} does not exist`;
  if (!anchor || !file.endsWith('.md') || !statSync(join(root, file)).isFile()) return null;
  return anchorsOf(readFileSync(join(root, file), 'utf8')).has(anchor) ? null : `${file} has no heading #${anchor}`;
}

/** A name with a folder is looked up from the document's folder and from the root; a bare name anywhere in the tree. */
function fileFault(files: readonly string[], document: string, target: string): string | null {
  const names = target.includes('/') ? [target, join(dirname(document), target)] : [target];
  const found = names.some((name) => {
    const escaped = name.split('*').map((part) => part.replaceAll(/[.+]/g, '\\$&'));
    const pattern = new RegExp(`${target.includes('/') ? '^' : '(?:^|/)'}${escaped.join('[^/]*')}$`);
    return files.some((file) => pattern.test(file));
  });
  return found ? null : `\`${target}\` does not exist`;
}

/** Faults of all documents of the tree, each with its file and line. */
export function linkFaults(): string[] {
  const files = filesOf(['*', '{bin,daemons,docs,fixtures,install,packages,sql,test}/**/*']);
  const documents = files.filter((file) => file.endsWith('.md'));
  return documents.flatMap((document) =>
    referencesOf(readFileSync(join(root, document), 'utf8')).flatMap(({ kind, target, line }) => {
      const fault = kind === 'link' ? linkFault(document, target) : fileFault(files, document, target);
      return fault === null ? [] : [`${document}:${line}: ${fault}`];
    }),
  );
}

if (import.meta.main) {
  const faults = linkFaults();
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.stdout.write(faults.length === 0 ? 'links: no faults\n' : `links: ${faults.length} faults\n`);
  process.exit(faults.length === 0 ? 0 : 1);
}
