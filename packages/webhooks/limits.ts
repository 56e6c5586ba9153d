/** Endpoints of a shop. Each event makes a row for each of them. */
export const maxEndpoints = 20;
/** Characters of the URL of an endpoint. */
export const maxUrl = 500;
/** Characters of the description of an endpoint. */
export const maxDescription = 200;
/** Kinds of events that an endpoint can name. */
export const maxKinds = 100;
/** The longest time for which the previous secret signs too. */
export const maxOverlapHours = 168;
/**
 * Test messages that a process sends at once, and those that wait. Each may take as long as an attempt, on a connection of its own.
 */
export const testSlots = { active: 8, queued: 40 } as const;
/** Deliveries that one call replays. No delivery ends meanwhile, and each is written to the change log. */
export const maxReplayed = 1_000;
/** Deliveries that one command replays, in several calls. */
export const maxReplayedByCommand = 100_000;
/** Deliveries are counted up to this number. */
export const maxCounted = 10_000;
/** Bytes of an answer that are read. The connection of a longer answer is closed. */
export const maxAnswerBytes = 16 * 1024;
/** Characters of an answer that are kept. */
export const maxAnswerText = 500;
/** Attempts in the answer for one delivery: those before a replay are kept too. */
export const maxShownAttempts = 50;
/** The time for connection, request and answer. */
export const attemptMs = 15_000;
export const connectMs = 5_000;
/**
 * A claimed delivery is free for other processes after this time: after kill -9 it waits so long. A claimed delivery waits in the
 * process for at most one attempt before it, so two attempts fit in.
 */
export const claimMs = 60_000;
