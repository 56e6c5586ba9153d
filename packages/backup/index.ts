export { type CreatedBackup, createBackup } from './create/create-backup.ts';
export { backupModule } from './module.ts';
export { filePlace } from './places/file-place.ts';
export { isBucket, isValidDestination } from './places/open-place.ts';
export { withBackup } from './restore/read-parts.ts';
export { restoreBackup } from './restore/restore-backup.ts';
