import { expect, test } from 'vitest';
import { tc3Authorization } from './tc3-signature.ts';

test.each([
  [
    'AKIDz8krbsJ5yKBZQpn74WFkmLPx3EXAMPLE',
    'Gu5t9xGARNpq86cd98joQYCN3EXAMPLE',
    '72e494ea809ad7a8c8f7a4507b9bddcbaa8e581f516e8da2f66e2c5a96525168',
  ],
  [
    'AKIDz8krbsJ5yKBZQpn74WFkmLPx3*******',
    'Gu5t9xGARNpq86cd98joQYCN3*******',
    '2230eefd229f582d8b1b891af7107b91597240707d778ab3738f756258d7652c',
  ],
])('signs the published example of Tencent Cloud with the key %s', (id, secret, signature) => {
  const authorization = tc3Authorization(
    {
      service: 'cvm',
      headers: { 'content-type': 'application/json; charset=utf-8', host: 'cvm.tencentcloudapi.com' },
      body: '{"Limit": 1, "Filters": [{"Values": ["\\u672a\\u547d\\u540d"], "Name": "instance-name"}]}',
      seconds: 1551113065,
    },
    { id, secret },
  );
  expect(authorization).toBe(
    `TC3-HMAC-SHA256 Credential=${id}/2019-02-25/cvm/tc3_request, SignedHeaders=content-type;host, Signature=${signature}`,
  );
});
