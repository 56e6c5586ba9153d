const unquoted = /^[a-z_][a-z0-9_]*$/;
const quoted = (name: string, quote: string) =>
  unquoted.test(name) ? name : `${quote}${name.replaceAll(quote, quote === "'" ? `'\\''` : quote + quote)}${quote}`;

/**
 * The command that creates the database of this address. It names the owner, who may then create schemas in it, and the encoding
 * that the shop needs, which another locale of the server would not give.
 */
export function createDatabaseCommand(url: string): string {
  const { username, pathname } = new URL(url);
  const database = quoted(decodeURIComponent(pathname.slice(1)), "'");
  const owner = username === '' ? [] : [`--owner=${quoted(decodeURIComponent(username), "'")}`];
  return ['createdb', ...owner, '--encoding=UTF8', '--template=template0', database].join(' ');
}

/** The statement that gives an account the right to create schemas and extensions in a database. */
export const grantCreate = (database: string, account: string): string =>
  `grant create on database ${quoted(database, '"')} to ${quoted(account, '"')}`;
