import { defineMetrics, type Metrics, startAtZero } from '@tradepost/runtime';

const uploadsIn = ({ counter }: Metrics) => {
  const uploads = counter({
    name: 'storage_uploads_total',
    help: 'Uploads by driver and result: stored, refused, incomplete or failed. Only stored files have a driver',
    labelNames: ['driver', 'result'],
  });
  startAtZero(
    uploads,
    ['refused', 'incomplete', 'failed'].map((result) => ({ driver: '', result })),
  );
  return uploads;
};

export const storageMetrics = defineMetrics((metrics) => ({
  uploads: uploadsIn(metrics),
  bytes: metrics.counter({
    name: 'storage_upload_bytes_total',
    help: 'Bytes of stored files by driver',
    labelNames: ['driver'],
  }),
  removed: metrics.counter({
    name: 'storage_removed_files_total',
    help: 'Removed files by driver: failed uploads and unreferenced files',
    labelNames: ['driver'],
  }),
}));
