import postgres from 'postgres';

/** Must equal `tradepostPatch` in patches/postgres+*.patch. Both are raised together when the patch changes. */
const requiredPatch = 3;

// Without its patch a lost connection ends the process, so the packages must not run on the plain driver.
if (Reflect.get(postgres, 'tradepostPatch') !== requiredPatch)
  throw new Error(
    'The installed postgres.js does not have the patch of this version of Tradepost. ' +
      'Run `npm ci` in the checkout, without --ignore-scripts.',
  );

export { postgres };
