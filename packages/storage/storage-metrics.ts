import { defineMetrics } from '@tradepost/runtime';

export const storageMetrics = defineMetrics(({ counter }) => ({
  uploads: counter({
    name: 'storage_uploads_total',
    help: 'Uploads by driver and result: stored, refused, incomplete or failed. Only stored files have a driver',
    labelNames: ['driver', 'result'],
  }),
  bytes: counter({
    name: 'storage_upload_bytes_total',
    help: 'Bytes of stored files by driver',
    labelNames: ['driver'],
  }),
  removed: counter({
    name: 'storage_removed_files_total',
    help: 'Removed files by driver: failed uploads and unreferenced files',
    labelNames: ['driver'],
  }),
}));
