import { type CommandContext, declaredBy, type RegisterCommand } from '@tradepost/module';
import {
  countSealed,
  forgetKey,
  type Resealed,
  type Runtime,
  resealColumn,
  sealPlainSettings,
} from '@tradepost/runtime';
import {
  exitCodes,
  type GlobalOptions,
  print,
  printJson,
  progress,
  table,
  UsageError,
  withDatabaseOptions,
} from '@tradepost/terminal';

/** The columns with secrets of all packages, also of those that are switched off. */
const columnsOf = (context: CommandContext) => declaredBy(context.modules, 'sealed');

async function statusOf({ sql, secrets }: Runtime, context: CommandContext) {
  const { file, problem, inFile, recorded } = await secrets.status();
  const counts = await countSealed(sql, columnsOf(context));
  const ids = [...new Set([...inFile, ...recorded, ...counts.map(({ keyId }) => keyId)])];
  const keys = ids.map((id) => ({
    id,
    in_file: inFile.includes(id),
    encrypts: inFile[0] === id,
    recorded: recorded.includes(id),
    values: counts.filter(({ keyId }) => keyId === id).reduce((sum, { values }) => sum + values, 0),
  }));
  return { file, problem, keys, columns: counts.map(({ keyId, ...of }) => ({ ...of, key: keyId })) };
}

const status =
  (context: CommandContext) =>
  async (options: GlobalOptions): Promise<void> => {
    await context.withRuntime(options, async (runtime) => {
      const found = await statusOf(runtime, context);
      const lost = found.keys.filter((key) => !key.in_file && key.values > 0);
      if (found.problem || lost.length > 0) process.exitCode = exitCodes.failed;
      if (options.json) return printJson(found);
      print(`key file  ${found.file}`);
      if (found.keys.length === 0) return print('no secret is stored yet');
      const use = (key: (typeof found.keys)[number]) =>
        key.encrypts ? 'encrypts' : key.in_file ? 'decrypts' : key.values > 0 ? 'MISSING' : 'not in the file';
      print(table([['KEY', 'USE', 'SECRETS'], ...found.keys.map((key) => [key.id, use(key), String(key.values)])]));
      if (found.problem) print(found.problem);
    });
  };

const outcome = ({ table: name, column, resealed, unreadable }: Resealed): string[] => [
  ...[`${name}.${column}`, String(resealed)],
  unreadable.length === 0 ? '-' : unreadable.slice(0, 20).join(', '),
];

const rotate =
  (context: CommandContext) =>
  async ({ newKey, ...options }: GlobalOptions & { newKey?: boolean }): Promise<void> => {
    await context.withRuntime(options, async (runtime) => {
      const { secrets } = runtime;
      // The first secret of a shop creates the file, and a file of another shop is refused here.
      await secrets.seal('check', '');
      if (newKey) await secrets.addKey();
      await sealPlainSettings(runtime, declaredBy(context.modules, 'settings'));
      const firstKey = (await secrets.status()).inFile[0]!;
      const results: Resealed[] = [];
      for (const column of columnsOf(context)) {
        progress(`encrypting ${column.table}.${column.column}`);
        results.push(await resealColumn(runtime, column, { firstKey }));
      }
      if (results.some(({ unreadable }) => unreadable.length > 0)) process.exitCode = exitCodes.failed;
      const found = await statusOf(runtime, context);
      const unused = found.keys.filter((key) => key.in_file && !key.encrypts && key.values === 0).map(({ id }) => id);
      if (options.json) return printJson({ key: firstKey, columns: results, unused });
      print(table([['COLUMN', 'ENCRYPTED', 'UNREADABLE'], ...results.map(outcome)]));
      print(`key ${firstKey} encrypts`);
      if (unused.length > 0)
        print(
          `no secret of this database uses ${unused.join(', ')}; backups may: keep a copy before the line is removed`,
        );
    });
  };

const forget =
  (context: CommandContext) =>
  async (id: string, { json, ...options }: GlobalOptions): Promise<void> => {
    await context.withRuntime(options, async (runtime) => {
      if ((await runtime.secrets.status()).inFile.includes(id))
        throw new UsageError(`${id} is in the key file, so it is not lost`);
      if (!(await forgetKey(runtime.sql, id))) throw new Error(`this database has no key ${id}`);
      const { recorded, inFile } = await runtime.secrets.status();
      const missing = recorded.filter((one) => !inFile.includes(one));
      if (json) return printJson({ forgotten: id, missing });
      print(`forgot ${id}: secrets that it sealed stay unreadable until they are set again`);
      if (missing.length > 0)
        print(
          `not in the key file either: ${missing.join(', ')}. Forget these too before secrets are set, unless the file comes back`,
        );
    });
  };

export const register: RegisterCommand = (group, context) => {
  withDatabaseOptions(
    group
      .command('status')
      .description('the key file, its keys, and how many secrets each of them has encrypted')
      .option('--json', 'print the status as JSON')
      .addHelpText(
        'after',
        '\nExample:\n  $ tradepost secrets status\n\nExit codes: 0 all keys are there, 1 a key is missing.',
      ),
  ).action(status(context));
  withDatabaseOptions(
    group
      .command('rotate')
      .description(
        'encrypt all stored secrets with the first key of the key file; can be ended and repeated at any time',
      )
      .option('--new-key', 'first put a new key into the file; not where several machines have copies of it')
      .option('--json', 'print the result as JSON')
      .addHelpText('after', '\nExamples:\n  $ tradepost secrets rotate --new-key\n  $ tradepost secrets rotate'),
  ).action(rotate(context));
  withDatabaseOptions(
    group
      .command('forget <key>')
      .description('the key is lost for ever: allow the key file to have another one')
      .option('--json', 'print the result as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost secrets forget 3f73c5f7'),
  ).action(forget(context));
};
