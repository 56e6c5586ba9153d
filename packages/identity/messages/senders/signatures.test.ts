import { expect, test } from 'vitest';
import { acs3Headers, canonicalQuery } from './acs3-signature.ts';
import { tc3Authorization } from './tc3-signature.ts';

/** The published examples of both services. A wrong signature would end every SMS. */
test('signs the published example of Alibaba Cloud', () => {
  const query = canonicalQuery({
    RegionId: 'cn-shanghai',
    ImageId: 'win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd',
  });
  const headers = acs3Headers(
    {
      host: 'ecs.cn-shanghai.aliyuncs.com',
      action: 'RunInstances',
      version: '2014-05-26',
      query,
      nonce: '3156853299f313e23d1673dc12e1703d',
      at: new Date('2023-10-26T10:22:32.500Z'),
    },
    { id: 'YourAccessKeyId', secret: 'YourAccessKeySecret' },
  );
  expect(headers.authorization).toBe(
    'ACS3-HMAC-SHA256 Credential=YourAccessKeyId,SignedHeaders=host;x-acs-action;x-acs-content-sha256;x-acs-date;x-acs-signature-nonce;x-acs-version,Signature=06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0',
  );
});

test('encodes every character of a query that the service counts as reserved', () => {
  expect(canonicalQuery({ b: "it's (1*2)!", a: '河 +~' })).toBe('a=%E6%B2%B3%20%2B~&b=it%27s%20%281%2A2%29%21');
});

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
