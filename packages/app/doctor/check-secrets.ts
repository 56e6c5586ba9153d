import type { DoctorCheck } from '@tradepost/module';
import { numberOf } from '@tradepost/terminal';

/** Finds a key file that cannot be used, and stored settings that cannot be decrypted. */
export const secretsCheck: DoctorCheck = {
  area: { name: 'secrets', sort: 25 },
  check({ secrets, stored }, { findings, ok, error }) {
    const { file, problem, inFile, recorded } = secrets;
    const unreadable = stored.filter((row) => row.unreadable).map(({ key }) => key);
    if (problem)
      error(
        'secrets/key-file',
        `${problem}; until then ${numberOf(unreadable.length, 'stored secret counts', 'stored secrets count')} as not set`,
        'correct the file, or put its kept copy back: nothing is lost as long as the keys exist somewhere',
      );
    // Without a file that can be used, all of them are: its finding is the cause.
    if (!problem && unreadable.length > 0)
      error(
        'secrets/unreadable',
        `stored secrets cannot be decrypted, and count as not set: ${unreadable.join(', ')}`,
        'see that this account can read the key file; where it is lost, set each secret again: tradepost settings set <key>',
      );
    if (findings.length > 0) return;
    ok(
      recorded.length === 0
        ? 'no secret is stored yet'
        : `${file} has ${numberOf(inFile.length, 'key')}, and the database needs no other`,
    );
  },
};
