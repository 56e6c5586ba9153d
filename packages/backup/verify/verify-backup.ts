import { openDatabase } from '@tradepost/postgres';
import { type Audit, type AuditResult, runAudits } from '@tradepost/runtime';
import { backupErrors } from '../errors.ts';
import { FrameError, piecesIn } from '../format/file-frames.ts';
import type { OpenedBackup } from '../restore/read-parts.ts';
import { type RestoreProgress, restoreBackup } from '../restore/restore-backup.ts';
import { withTemporaryDatabase } from './temporary-database.ts';

export type VerifyOptions = {
  /** The server on which the temporary database is created. Absent: an embedded PostgreSQL in a temporary folder. */
  readonly serverUrl?: string | undefined;
  readonly audits: readonly Audit[];
  readonly onProgress?: (progress: RestoreProgress) => void;
  readonly onResult?: (result: AuditResult) => void;
  /** Ends the verification and removes the temporary database. */
  readonly signal?: AbortSignal;
};

/** Reads all parts. Refuses a backup with a wrong checksum. */
export async function verifyChecksums(backup: OpenedBackup, onPart: () => void = () => {}): Promise<void> {
  for (const part of backup.manifest.parts) {
    const content = await backup.readPart(part);
    onPart();
    if (part.table !== null) continue;
    try {
      for (const _piece of piecesIn(content));
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      throw backupErrors.altered({ place: backup.location, part: part.name });
    }
  }
}

/**
 * Restores a backup into a temporary database and runs the audits there, which compare times with that of the backup. Audits of late or
 * failed work are left out: such work is a fault of the shop and not of the backup. Uploaded files are read and not written.
 */
export async function verifyBackup(backup: OpenedBackup, options: VerifyOptions): Promise<AuditResult[]> {
  const { onProgress, onResult, signal } = options;
  const audits = options.audits.filter(({ pendingWork }) => !pendingWork);
  const at = new Date(backup.manifest.snapshot_at);
  await verifyChecksums({ ...backup, manifest: { ...backup.manifest, parts: filesOf(backup) } });
  const work = async (url: string) => {
    await restoreBackup(backup, { url, ...(onProgress ? { onProgress } : {}), ...(signal ? { signal } : {}) });
    const sql = openDatabase(url, { max: 1, name: 'tradepost verify' });
    try {
      return await runAudits(sql, audits, { at, ...(onResult ? { onResult } : {}) });
    } finally {
      await sql.end({ timeout: 1 });
    }
  };
  return withTemporaryDatabase(options.serverUrl, work, signal);
}

/** The parts that a restore of the rows does not read. */
const filesOf = ({ manifest }: OpenedBackup) => manifest.parts.filter(({ table }) => table === null);
