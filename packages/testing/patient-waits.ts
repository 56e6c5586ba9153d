import { vi } from 'vitest';

const leastMs = 30_000;
type WaitFor = typeof vi.waitFor;
type Patient = WaitFor & { patient?: true };

/**
 * Runs in every test file. A busy machine reaches a state later: `vi.waitFor` gives up after a second when the test names no limit,
 * and here after 30 s at the earliest. A state that is never reached still fails its test.
 */
const waitFor: Patient = vi.waitFor;
// Files share their process, and this file runs for each of them.
if (!waitFor.patient) {
  const patient: Patient = (callback, options = {}) => {
    const given = typeof options === 'number' ? { timeout: options } : options;
    return waitFor(callback, { ...given, timeout: Math.max(leastMs, given.timeout ?? 0) });
  };
  patient.patient = true;
  vi.waitFor = patient;
}
