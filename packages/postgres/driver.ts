import postgres from 'postgres';

/** Must equal `tradepostPatch` in patches/postgres+*.patch. Both are raised together when the patch changes. */
const requiredPatch = 1;

// Without its patch a lost connection ends the process, so the packages must not run on the plain driver.
if (Reflect.get(postgres, 'tradepostPatch') !== requiredPatch)
  throw new Error(
    'The installed postgres.js does not have the patch of this version of Tradepost. ' +
      'It is applied by `npm ci`, but not with --ignore-scripts. Run `npm run postinstall` in the checkout.',
  );

export { postgres };
