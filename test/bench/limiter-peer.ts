import type { Limits, Subject } from '@tradepost/rate-limiter';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';

/** Returns whether a request was admitted. */
export type PeerCheck = (subject: Subject, cost: number) => Promise<boolean>;

/**
 * `rate-limiter-flexible` on the same seven dimensions, with one limiter for each, called concurrently. It has no check of all
 * dimensions at once. After a refusal every consumed amount is returned, also that of the refused limiter, which counted it.
 */
function sevenDimensions(limits: Limits, open: (name: string, points: number) => RateLimiterAbstract): PeerCheck {
  const userRpm = open('ur', limits.user_rpm);
  const userTpm = open('ut', limits.user_tpm);
  const tokenRpm = open('tr', limits.token_rpm);
  const tokenTpm = open('tt', limits.token_tpm);
  const ipRpm = open('ir', limits.ip_rpm);
  const modelRpm = open('mr', limits.model_rpm);
  const modelTpm = open('mt', limits.model_tpm);
  return async ({ user, token, ip, model }, cost) => {
    const asked = [
      userRpm.consume(user!, 1),
      userTpm.consume(user!, cost),
      tokenRpm.consume(token!, 1),
      tokenTpm.consume(token!, cost),
      ipRpm.consume(ip!, 1),
      modelRpm.consume(model!, 1),
      modelTpm.consume(model!, cost),
    ];
    try {
      await Promise.all(asked);
      return true;
    } catch (refusal) {
      if (refusal instanceof Error) throw refusal;
    }
    await Promise.allSettled(asked);
    await Promise.all([
      userRpm.reward(user!, 1),
      userTpm.reward(user!, cost),
      tokenRpm.reward(token!, 1),
      tokenTpm.reward(token!, cost),
      ipRpm.reward(ip!, 1),
      modelRpm.reward(model!, 1),
      modelTpm.reward(model!, cost),
    ]);
    return false;
  };
}

export const peerInMemory = (limits: Limits, duration: number): PeerCheck =>
  sevenDimensions(limits, (keyPrefix, points) => new RateLimiterMemory({ keyPrefix, points, duration }));

export const peerOnRedis = (limits: Limits, storeClient: unknown): PeerCheck =>
  sevenDimensions(
    limits,
    (keyPrefix, points) =>
      new RateLimiterRedis({ storeClient, useRedisPackage: true, keyPrefix, points, duration: 60 }),
  );

export const peerNote =
  'rate-limiter-flexible counts fixed windows; seven consume() at once, on a refusal all seven reward() back: all or none';
