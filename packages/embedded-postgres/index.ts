export { embeddedBinaries, findEmbeddedPostgres, hasEmbeddedPostgres } from './find.ts';
export { type EmbeddedPostgres, startEmbeddedPostgres } from './start-embedded-postgres.ts';
export { superviseEmbeddedPostgres } from './supervisor.ts';
