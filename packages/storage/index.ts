export { type BackedUpFile, openStoredFiles, type StoredFiles } from './backup/stored-files.ts';
export { type StorageDriver, type StorageDriverEntry, storageDrivers } from './drivers/driver.ts';
export { type Bucket, bucketUrlOf, openBucket } from './drivers/s3/bucket.ts';
export { storageModule, type Uploads, uploadsService } from './module.ts';
export { addressesIn, type FileReferences, fileReferences } from './references/file-references.ts';
export { pathIn } from './uploads/stored-path.ts';
