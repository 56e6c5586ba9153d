import { type DoctorCheck, developmentArea } from '@tradepost/module';

/** Secrets in the documentation and the examples. They are public. */
const publishedSecrets = new Set(['demo-secret', 'demo-secret-of-the-shop', 'try-me']);

export const publishedSecretsCheck: DoctorCheck = {
  area: developmentArea,
  check({ settings, definitions }, { error }) {
    for (const definition of definitions.filter((each) => each.secret)) {
      const value = settings.get(definition);
      if (typeof value === 'string' && publishedSecrets.has(value))
        error(
          'development/published-secret',
          `${definition.key} is a secret from the documentation, which is public`,
          `tradepost settings set ${definition.key}, and set the new secret on the other system too`,
        );
    }
  },
};

export const demoSeedCheck: DoctorCheck = {
  area: developmentArea,
  check({ config, sources }, { error }) {
    if (config.seed === 'demo' && sources.seed !== 'default')
      error(
        'development/demo-seed',
        'TRADEPOST_SEED requests demo data: production refuses it',
        'set TRADEPOST_SEED=none',
      );
  },
};
