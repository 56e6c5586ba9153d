/** A statement of an SQL text. */
export type SqlStatement = {
  /** Without comments and without the contents of strings and function bodies, in lower case, with single blanks. */
  readonly text: string;
  /** The comments before and in the statement, without `--`. */
  readonly comments: readonly string[];
};

/** A comment, a string, a quoted name, a function body, the end of a statement, or other text. */
const token = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|;|[^'"$;\-/]+|./gs;

/** Splits an SQL text into its statements. */
export function readStatements(sql: string): SqlStatement[] {
  const statements: SqlStatement[] = [];
  let text = '';
  let comments: string[] = [];
  const end = () => {
    const short = text.replace(/\s+/g, ' ').trim();
    if (short !== '') statements.push({ text: short, comments });
    if (short !== '') comments = [];
    text = '';
  };
  for (const [found] of sql.matchAll(token)) {
    if (found === ';') end();
    else if (found.startsWith('--')) comments.push(found.slice(2).trim());
    else if (found.startsWith('/*')) text += ' ';
    // `$` alone is no function body.
    else if (found.startsWith('$') && found.length > 1) text += '$$';
    else if (found.startsWith("'")) text += "''";
    else text += found.startsWith('"') ? found : found.toLowerCase();
  }
  end();
  return statements;
}
