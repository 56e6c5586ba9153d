import { expect, test } from 'vitest';
import { signatureFault } from './sigv4.ts';

const keys = { id: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
/** The example "GET Object" of the documentation of Amazon S3. */
const request = {
  method: 'GET',
  path: '/test.txt',
  headers: {
    host: 'examplebucket.s3.amazonaws.com',
    range: 'bytes=0-9',
    'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'x-amz-date': '20130524T000000Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,' +
      'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,' +
      'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
};

test('the S3 server of the tests accepts the documented signature, and no other request with it', () => {
  expect(signatureFault(request, keys)).toBeNull();
  expect(signatureFault({ ...request, path: '/other.txt' }, keys)).toBe('SignatureDoesNotMatch');
  expect(signatureFault(request, { ...keys, secret: 'other' })).toBe('SignatureDoesNotMatch');
  expect(signatureFault(request, { ...keys, id: 'other' })).toBe('InvalidAccessKeyId');
  expect(signatureFault({ ...request, headers: {} }, keys)).toBe('AccessDenied');
});
