/** The types of the rows of the ledger. */
export const pointsType = {
  checkIn: 1,
  orderUse: 2,
  exchange: 3,
  orderCompleted: 4,
  adjustment: 5,
  expiry: 6,
  reward: 7,
} as const;
export type PointsType = (typeof pointsType)[keyof typeof pointsType];
export const pointsTypes: readonly PointsType[] = Object.values(pointsType);

/** A row of the ledger. `points` is signed: what a shopper gets is positive. */
export type PointsLog = {
  id: number;
  user_id: number;
  type: PointsType;
  points: number;
  related_id: number;
  remark: string;
  created_at: Date;
};

/** A row to write. `key` names its cause, such as `checkin:17:2026-03-01`: a second row with the key is not written. */
export type PointsEntry = Omit<PointsLog, 'id' | 'created_at'> & { readonly key: string };
