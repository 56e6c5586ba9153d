import { defineService, type Module } from '@tradepost/module';
import { uploadDoctorCheck } from './doctor-checks.ts';
import { storageDrivers } from './drivers/driver.ts';
import { uploadFolder } from './drivers/local/settings.ts';
import { openDrivers } from './drivers/open-drivers.ts';
import { ownDrivers } from './drivers/own-drivers.ts';
import { fileReferences } from './references/file-references.ts';
import { recordReferences } from './references/reference-store.ts';
import { sweepFiles } from './references/sweep-files.ts';
import { routerSettings, storageSettings } from './settings.ts';
import { storageAudits } from './storage-audits.ts';
import { storageMetrics } from './storage-metrics.ts';
import { storageInChangeLog, storageTables } from './tables.ts';
import { cleanUp } from './uploads/clean-up.ts';
import { type FoundUpload, findUpload } from './uploads/find-upload.ts';
import { incomingFolder, removeAbandoned } from './uploads/incoming-files.ts';
import type { StoredFile } from './uploads/new-file.ts';
import { receiveUpload, type Upload } from './uploads/receive-upload.ts';
import { uploadResources } from './uploads/serve-uploads.ts';
import { type NewFiles, storeFiles } from './uploads/store-files.ts';
import { uploadRoutes } from './uploads/upload-routes.ts';

/** The uploaded files, for other packages. */
export type Uploads = {
  /** Receives the file of a form. */
  receive(upload: Upload): Promise<StoredFile>;
  /** Throws the refusal that every new file would get: no storage driver takes it. */
  checkReady(): void;
  /** Stores files that the shop makes itself, all or none. */
  storeFiles<T>(files: NewFiles<T>): Promise<T>;
  /** The upload with this address or URL. Null when this shop has none. */
  find(address: string): Promise<FoundUpload | null>;
};
export const uploadsService = defineService<Uploads>('storage.uploads');

const cleanUpTask = 'storage.clean_up';
const sweepTask = 'storage.sweep';

export const storageModule: Module = {
  name: 'storage',
  tables: storageTables,
  changeLog: storageInChangeLog,
  entries: ownDrivers.map(storageDrivers.add),
  settings: storageSettings,
  audits: storageAudits,
  metrics: storageMetrics,
  declares(entries) {
    const drivers = entries(storageDrivers);
    return {
      settings: [...routerSettings(drivers), ...drivers.flatMap(({ settings }) => settings)],
      doctorChecks: [uploadDoctorCheck(drivers)],
    };
  },
  async open(context) {
    const { runtime } = context;
    const deps = { runtime, drivers: openDrivers(runtime, context.entries(storageDrivers)) };
    const references = context.entries(fileReferences);
    // Recorded at every start: the tables of a module that is switched off later still refer to files.
    await recordReferences(
      runtime.sql,
      references.map(({ name }) => name),
    );
    const folder = () => uploadFolder(runtime);
    await removeAbandoned(incomingFolder(folder()), runtime.now()).catch((error: unknown) =>
      runtime.log.warn({ err: error }, 'incoming files of an earlier process could not be removed'),
    );
    return {
      provides: [
        uploadsService.provide({
          receive: (upload) => receiveUpload(deps, upload),
          checkReady: () => void deps.drivers.choose(undefined),
          storeFiles: (files) => storeFiles(deps, files),
          find: (address) => findUpload(deps, address),
        }),
      ],
      routes: () => uploadRoutes(deps),
      resources: uploadResources(folder),
      tasks: {
        async [cleanUpTask](_payload, { log }) {
          const removed = await cleanUp(deps);
          if (removed.incoming + removed.files > 0) log.info(removed, 'remains of interrupted uploads were removed');
        },
        async [sweepTask](_payload, { log, signal, stopping = signal }) {
          const sweep = await sweepFiles(deps, references, { signal: AbortSignal.any([signal, stopping]) });
          if (sweep.outcome === 'blocked')
            log.warn({ missing: sweep.missing }, 'no file is removed: packages that have referred to files do not run');
          else if (sweep.expired.length > 0)
            log.info({ files: sweep.expired.length, bytes: sweep.bytes }, 'unreferenced files were removed');
        },
      },
      crons: [
        { task: cleanUpTask, match: '29 * * * *' },
        { task: sweepTask, match: '43 3 * * *' },
      ],
    };
  },
};
