import { openEmbeddedLimiter } from '../index.ts';

/** One user may send two requests per minute. The third request is refused with the time to wait. */
const limiter = openEmbeddedLimiter({ memoryMb: 64 });
const limits = { user_rpm: 2, user_tpm: 1000, token_rpm: 0, token_tpm: 0, ip_rpm: 0, model_rpm: 0, model_tpm: 0 };
const subject = { user: 42, token: null, ip: '203.0.113.0/24', model: 'gpt-4o-mini' };

for (let n = 1; n <= 3; n++) {
  const verdict = limiter.check(subject, limits, 300);
  if (verdict.admitted) console.log(n, 'admitted');
  else console.log(n, 'refused by', verdict.dimension, 'wait', verdict.waitMs, 'ms');
}
await limiter.close();
