import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UsageError } from '@tradepost/terminal';
import { backupErrors } from '../errors.ts';
import { backupName, isBackupName } from '../format/names.ts';
import { type BucketAccount, bucketPlace } from './bucket-place.ts';
import { filePlace, folderPlace } from './file-place.ts';
import type { BackupReader, BackupWriter, Place } from './place.ts';

/** `s3://bucket/prefix`. The characters need no escapes in URLs. */
const bucketForm = /^s3:\/\/([\w.-]+)(?:\/([\w.-]+(?:\/[\w.-]+)*)?)?\/?$/;

export const isBucket = (text: string): boolean => text.startsWith('s3://');
export const isValidDestination = (text: string): boolean => !isBucket(text) || bucketForm.test(text);

function bucketIn(text: string): { bucket: string; prefix: string } {
  const [, bucket, prefix = ''] = bucketForm.exec(text) ?? [];
  if (!bucket) throw new UsageError(`${text}: a bucket is s3://bucket/prefix, of letters, digits, dots, - and _`);
  return { bucket, prefix };
}

/** A folder or a prefix of a bucket, for several backups. A relative folder is below `base`. */
export function openPlace(text: string, account: () => BucketAccount, base = '.'): Place {
  if (!isBucket(text)) return folderPlace(resolve(base, text));
  const { bucket, prefix } = bucketIn(text);
  return bucketPlace(bucket, prefix, account);
}

const isFolder = async (text: string) =>
  /[\\/]$/.test(text) || ((await stat(text).catch(() => null))?.isDirectory() ?? false);

/** Begins a backup in a folder or a bucket. The remains of interrupted backups of the same database are removed. */
export async function createInPlace(place: Place, source: string, at: Date): Promise<BackupWriter> {
  await place.removeAbandoned(source);
  return place.create(backupName(source, at), source);
}

/** Begins a backup: a file with this name, or a new backup with a name of its own in a folder or bucket. */
export async function createIn(
  text: string,
  account: () => BucketAccount,
  { source, at }: { source: string; at: Date },
): Promise<BackupWriter> {
  if (!isBucket(text) && !(await isFolder(text))) return filePlace(resolve(text)).create(source);
  return createInPlace(openPlace(text, account), source, at);
}

/** Opens a backup: a file, a backup of a bucket, or the newest complete one of a folder or a prefix. */
export async function openBackup(text: string, account: () => BucketAccount, base = '.'): Promise<BackupReader> {
  if (!isBucket(text) && !(await isFolder(resolve(base, text)))) return filePlace(resolve(base, text)).open();
  const { bucket, prefix } = isBucket(text) ? bucketIn(text) : { bucket: '', prefix: '' };
  const last = prefix.split('/').at(-1)!;
  if (isBackupName(last))
    return bucketPlace(bucket, prefix.slice(0, -last.length).replace(/\/$/, ''), account).open(last);
  const place = openPlace(text, account, base);
  const newest = (await place.list()).find(({ isComplete }) => isComplete);
  if (!newest) throw backupErrors.none_complete({ place: place.location });
  return place.open(newest.name);
}
