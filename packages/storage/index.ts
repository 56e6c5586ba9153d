export { type StorageDriver, type StorageDriverEntry, storageDrivers } from './drivers/driver.ts';
export { storageModule, type Uploads, uploadsService } from './module.ts';
export { addressesIn, type FileReferences, fileReferences } from './references/file-references.ts';
export { pathIn } from './uploads/stored-path.ts';
