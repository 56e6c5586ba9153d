import { expect, test } from 'vitest';
import { acs3Headers, canonicalQuery } from './acs3-signature.ts';

/** The published example. A wrong signature would end every SMS. */
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
