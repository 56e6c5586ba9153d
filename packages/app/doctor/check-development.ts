import { type DoctorCheck, developmentArea } from '@tradepost/module';

/** Secrets that the documentation and the examples show: everybody knows them. */
const publishedSecrets = new Set(['demo-secret', 'demo-secret-of-the-shop', 'try-me']);

export const publishedSecretsCheck: DoctorCheck = {
  area: developmentArea,
  check({ settings, definitions }, { error }) {
    for (const definition of definitions.filter((each) => each.secret)) {
      const value = settings.get(definition);
      if (typeof value === 'string' && publishedSecrets.has(value))
        error(
          `${definition.key} is a secret of the documentation, which everybody knows`,
          `tradepost settings set ${definition.key}, and the same at the other side`,
        );
    }
  },
};

export const demoSeedCheck: DoctorCheck = {
  area: developmentArea,
  check({ config, sources }, { error }) {
    if (config.seed === 'demo' && sources.seed !== 'default')
      error('demo data is asked for (TRADEPOST_SEED): production refuses it', 'set TRADEPOST_SEED=none');
  },
};
