import { expect, test } from 'vitest';
import { hintFor } from './database-server.ts';

/** An operator reads the remedy in the message, and only where it is one. */
test.each([
  ['3D000', '', / Create it: createdb /],
  ['SELF_SIGNED_CERT_IN_CHAIN', '', /NODE_EXTRA_CA_CERTS/],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', '', /NODE_EXTRA_CA_CERTS/],
  ['42704', '?sslrootcert=ca.crt', /Instead of sslrootcert/],
  // An unknown parameter of another name, a wrong name in the certificate, an old certificate, a wrong password, no server.
  ['42704', '?sslmode=require', /^$/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', '', /^$/],
  ['CERT_HAS_EXPIRED', '', /^$/],
  ['28P01', '', /^$/],
  [undefined, '', /^$/],
])('the fault %s of a URL with %s', (code, query, hint) => {
  expect(hintFor(code, `postgres://shop:secret@db/shop${query}`)).toMatch(hint);
});
