export { findPackage, type PlatformPackage } from './binaries.ts';
export { embeddedBinaries, findEmbeddedPostgres, hasEmbeddedPostgres } from './find.ts';
export { nextCluster, OtherMajorError, switchCluster } from './major-version.ts';
export { binariesOfMajor } from './other-major.ts';
export {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
  stopEmbeddedPostgres,
} from './start-embedded-postgres.ts';
export { superviseEmbeddedPostgres } from './supervisor.ts';
