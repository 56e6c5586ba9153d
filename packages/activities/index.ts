export {
  type ActivityKind,
  type ActivityOption,
  type ActivityOptions,
  type ActivityType,
  activityKinds,
  type KindLine,
  type OptionField,
} from './activity-kinds.ts';
export { activityMenu } from './activity-menu.ts';
export { activityRoutes } from './activity-routes.ts';
export { adminAttemptRoutes } from './attempts/admin-attempt-routes.ts';
export { type Attempt, type AttemptReader, type AttemptStatus, attemptProgress } from './attempts/attempt.ts';
export type { AttemptKind } from './attempts/attempt-kind.ts';
export { attemptRoutes } from './attempts/attempt-routes.ts';
export {
  maskedName,
  offerFields,
  openAttemptBody,
  ownNickname,
  productTitle,
  progressFields,
} from './attempts/attempt-schemas.ts';
export { type OfferRequest, offerRefusals, runningOffer } from './attempts/running-offer.ts';
export { activityDemo, type DemoActivity, type DemoRow } from './demo/seed-activity.ts';
export { maxExpireHours, maxPersons } from './limits.ts';
export { activitiesModule } from './module.ts';
