import type { DoctorCheck } from '@tradepost/module';

/** Finds stored settings that are unknown or invalid. The shop does not use them. */
export const storedSettingsCheck: DoctorCheck = {
  area: { name: 'settings', sort: 20 },
  check({ stored, definitions }, { findings, ok, note, error }) {
    for (const { key, value, unreadable } of stored) {
      // The check of secrets reports it.
      if (unreadable) continue;
      const definition = definitions.find((each) => each.key === key);
      const parsed = definition?.schema.safeParse(value);
      if (!definition)
        note(
          'settings/unknown',
          `${key} is stored, and this version has no such setting`,
          'nothing to do, unless this version is older than the data',
        );
      else if (!parsed?.success)
        error(
          'settings/invalid',
          `${key} is stored with a value that is not valid (${parsed?.error.issues.map((issue) => issue.message).join('; ')}): the default is used`,
          `tradepost settings set ${key} <value>, or tradepost settings unset ${key}`,
        );
    }
    if (findings.length === 0) ok(`${stored.length} stored, all valid`);
  },
};
