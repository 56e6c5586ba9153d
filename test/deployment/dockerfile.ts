/** One instruction of a Dockerfile, with its continued lines joined. */
export type Instruction = { name: string; args: string };

/** Parses the instructions that `run-dockerfile.ts` knows. Comments are left out. Throws on any other text. */
export function parseDockerfile(text: string): Instruction[] {
  const lines = text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n');
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const parts = /^([A-Z]+)\s+(.+)$/.exec(line.trim());
      if (!parts) throw new Error(`not an instruction: ${line}`);
      return { name: parts[1]!, args: parts[2]!.trim() };
    });
}

/** The words of the exec form (`["node", "x"]`). Throws for the shell form: a shell does not pass signals on. */
export function execForm(args: string): string[] {
  const words: unknown = JSON.parse(args);
  if (!Array.isArray(words) || !words.every((word) => typeof word === 'string')) throw new Error(`not a list: ${args}`);
  return words;
}

/** `KEY=value` pairs of ENV. */
export const pairsOf = (args: string): Record<string, string> =>
  Object.fromEntries(
    args.split(/\s+/).map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new Error(`not KEY=value: ${pair}`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );

/** Whether a path of the context is left out. Patterns are names, paths, and `*` and `**` in them, without exceptions. */
export function ignoredBy(text: string): (path: string) => boolean {
  const patterns = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      if (/[!?[\]]/.test(line)) throw new Error(`this pattern of .dockerignore is not known here: ${line}`);
      const source = line
        .replaceAll(/[.+^${}()|\\]/g, '\\$&')
        .replaceAll('**/', '\0')
        .replaceAll('*', '[^/]*')
        .replaceAll('\0', '(?:.*/)?');
      return new RegExp(`^${source}(?:/|$)`);
    });
  return (path) => patterns.some((pattern) => pattern.test(path));
}
