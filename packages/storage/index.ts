export { storageModule } from './module.ts';
export { addressesIn, type FileReferences, fileReferences } from './references/file-references.ts';
