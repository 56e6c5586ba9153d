import { filePlace, restoreBackup, withBackup } from '@tradepost/backup';
import { declaredBy } from '@tradepost/module';
import { openDatabase, type Sql } from '@tradepost/postgres';
import { type Audit, auditPassed, type Config, runAudits } from '@tradepost/runtime';
import { modules, modulesOf } from '../modules.ts';

const reportMs = 5_000;

/** Says what `line` returns every few seconds until `work` ends. */
export async function saying<T>(say: (line: string) => void, line: () => string, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => say(line()), reportMs);
  timer.unref();
  return work().finally(() => clearInterval(timer));
}

/**
 * Refuses when an audit finds rows in the new database that it does not find in the old one. A fault that the shop had before does
 * not keep it from the upgrade.
 */
async function checkAudits(url: string, old: Sql, audits: readonly Audit[], say: (line: string) => void) {
  // One time for both: work becomes late meanwhile.
  const at = new Date();
  const fresh = openDatabase(url, { max: 1, name: 'tradepost upgrade' });
  try {
    const failed = (await runAudits(fresh, audits, { at })).filter((result) => !auditPassed(result));
    for (const result of failed) {
      const [before] = await runAudits(
        old,
        audits.filter(({ name }) => name === result.name),
        { at },
      );
      if (before?.error || before?.total !== result.total)
        throw new Error(
          `The audit ${result.name} finds ${result.error ?? `${result.total} rows`} in the copy, and ${before?.error ?? `${before?.total} rows`} in the database: run \`tradepost audit\` with the version that used it, and correct what it finds`,
        );
      say(`the audit ${result.name} finds ${result.total} rows, as it did before: \`tradepost audit\` shows them`);
    }
  } finally {
    await fresh.end({ timeout: 1 });
  }
}

/** Restores the backup into the new cluster and checks the result: the rows of each table, and the audits. */
export async function fillCluster(options: {
  config: Config;
  say: (line: string) => void;
  file: string;
  /** The new, empty database. */
  url: string;
  old: Sql;
  to: number;
}): Promise<void> {
  const { config, say, file, url, old, to } = options;
  say(`restoring it into PostgreSQL ${to}`);
  let line = 'restoring';
  await saying(
    say,
    () => line,
    () =>
      withBackup(filePlace(file).open(), (backup) =>
        restoreBackup(backup, {
          ...{ url, countRows: true },
          onProgress({ step, rows, of }) {
            line = `restoring: ${step}, ${rows.toLocaleString('en')} of ${of.toLocaleString('en')} rows`;
          },
        }),
      ),
  );
  say('checking the new database');
  await saying(
    say,
    () => 'checking',
    () => checkAudits(url, old, declaredBy(modulesOf(config), 'audits', modules), say),
  );
}
