export { selectBalances } from './ledger/ledger-store.ts';
export { type LogRemarks, logRemarks } from './ledger/log-remarks.ts';
export { type PointsEntry, type PointsLog, type PointsType, pointsType } from './ledger/points-log.ts';
export { writePoints } from './ledger/write-points.ts';
export { pointsModule } from './module.ts';
export { type PointsStats, pointsStats } from './points-stats.ts';
