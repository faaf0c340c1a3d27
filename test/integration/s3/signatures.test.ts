import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawHttp } from './raw-http.ts';
import { signRequest } from './sign-request.ts';
import { lacks, openTarget } from './target.ts';

const target = await openTarget();
const { client, bucket: Bucket, key } = target;
const url = new URL(`${target.url}/${Bucket}/${key('signed')}`);

beforeAll(() => client.send(new PutObjectCommand({ Bucket, Key: key('signed'), Body: 'secret' })));
afterAll(() => target.close());

const refused = (status: number, code: string) => expect.objectContaining({ status, code });

describe.skipIf(lacks('signatures'))('requests are refused', () => {
  test('without a signature', async () => {
    expect(await rawHttp('GET', url, {})).toEqual(refused(403, 'AccessDenied'));
    expect(await rawHttp('GET', target.url, {})).toEqual(refused(403, 'AccessDenied'));
  });

  test('signed with another secret, key or region', async () => {
    const get = new GetObjectCommand({ Bucket, Key: key('signed') });
    const { accessKeyId, secretAccessKey } = target.credentials;
    const secret = target.clientWith({ credentials: { accessKeyId, secretAccessKey: 'guess' } });
    await expect(secret.send(get)).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' });
    const id = target.clientWith({ credentials: { accessKeyId: 'nobody', secretAccessKey } });
    await expect(id.send(get)).rejects.toMatchObject({ name: 'InvalidAccessKeyId' });
    const region = signRequest({ ...target, region: 'eu-west-9' }, 'GET', url, {});
    expect(await rawHttp('GET', url, region.headers)).toEqual(refused(400, 'AuthorizationHeaderMalformed'));
  });

  test('signed a quarter of an hour ago or ahead', async () => {
    for (const shift of [-16, 16]) {
      const at = new Date(Date.now() + shift * 60_000);
      const { headers } = signRequest(target, 'GET', url, {}, { at });
      expect(await rawHttp('GET', url, headers)).toEqual(refused(403, 'RequestTimeTooSkewed'));
    }
  });

  test('when a header was changed, left out, or added without being signed', async () => {
    const { headers } = signRequest(target, 'GET', url, { 'x-amz-meta-a': '1' });
    const { 'x-amz-meta-a': _, ...without } = headers;
    const mismatch = refused(403, 'SignatureDoesNotMatch');
    expect(await rawHttp('GET', url, { ...headers, 'x-amz-meta-a': '2' })).toEqual(mismatch);
    expect(await rawHttp('GET', url, without)).toEqual(mismatch);
    const doubled = { ...headers, 'x-amz-meta-a': ['1', '2'] };
    expect(await rawHttp('GET', url, doubled)).toEqual(mismatch);
    const added = { ...headers, 'x-amz-meta-b': '1' };
    expect(await rawHttp('GET', url, added)).toEqual(refused(403, 'AccessDenied'));
  });

  test('when method, path or query differ from what was signed', async () => {
    const { headers } = signRequest(target, 'GET', url, {});
    const mismatch = refused(403, 'SignatureDoesNotMatch');
    expect(await rawHttp('DELETE', url, headers)).toEqual(mismatch);
    expect(await rawHttp('GET', `${url}x`, headers)).toEqual(mismatch);
    expect(await rawHttp('GET', `${url}?uploadId=1`, headers)).toEqual(mismatch);
  });

  test('with a malformed or doubled authorization', async () => {
    const { headers } = signRequest(target, 'GET', url, {});
    for (const authorization of ['AWS4-HMAC-SHA256', 'Bearer x', `${headers['authorization']}0`, 'AWS a:b']) {
      const answer = await rawHttp('GET', url, { ...headers, authorization });
      expect(answer).toEqual(refused(400, 'AuthorizationHeaderMalformed'));
    }
    const both = await rawHttp('GET', `${url}?X-Amz-Signature=${'0'.repeat(64)}`, headers);
    expect(both).toEqual(refused(400, 'InvalidArgument'));
  });
});

test('the second signer of this suite makes requests that are accepted', async () => {
  const { headers } = signRequest(target, 'GET', url, {});
  expect(await rawHttp('GET', url, headers)).toMatchObject({ status: 200, body: 'secret' });
});
