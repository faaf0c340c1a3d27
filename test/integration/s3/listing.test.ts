import { ListObjectsV2Command, PutObjectCommand, paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lacks, openTarget } from './target.ts';

const target = await openTarget();
const { client, bucket: Bucket } = target;
const Prefix = target.key('list/');
const keyNames = ['a', 'a/1', 'a/2', 'a/b/3', 'a0', 'b/1', 'B', 'z', 'é', '\uFFFD', '🦆', 'with space+&'];

const byBytes = (left: string, right: string) => Buffer.compare(Buffer.from(left), Buffer.from(right));
const sorted = keyNames.map((name) => Prefix + name).sort(byBytes);

beforeAll(async () => {
  for (const Key of sorted) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
  await client.send(new PutObjectCommand({ Bucket, Key: target.key('lisu'), Body: 'neighbour' }));
});
afterAll(() => target.close());

const list = (input: object) => client.send(new ListObjectsV2Command({ Bucket, Prefix, ...input }));
const keys = (page: { Contents?: { Key?: string | undefined }[] | undefined }) =>
  (page.Contents ?? []).map(({ Key }) => Key);

describe('ListObjectsV2', () => {
  test('keys come in the order of their UTF-8 bytes, within the prefix alone', async () => {
    const page = await list({});
    expect(keys(page)).toEqual(sorted);
    expect(page).toMatchObject({ IsTruncated: false, KeyCount: sorted.length });
    expect(page.Contents![0]).toMatchObject({
      Size: Buffer.byteLength(sorted[0]!),
      StorageClass: 'STANDARD',
    });
  });

  test.each([1, 2, 5, keyNames.length])('pages of %i drop and repeat nothing', async (MaxKeys) => {
    const seen = [];
    for await (const page of paginateListObjectsV2({ client }, { Bucket, Prefix, MaxKeys })) {
      expect(page.Contents!.length).toBeLessThanOrEqual(MaxKeys);
      seen.push(...keys(page));
    }
    expect(seen).toEqual(sorted);
  });

  test('a delimiter rolls keys up', async () => {
    const page = await list({ Delimiter: '/' });
    expect(page.CommonPrefixes!.map((common) => common.Prefix)).toEqual([`${Prefix}a/`, `${Prefix}b/`]);
    expect(keys(page)).toEqual(sorted.filter((key) => !key.slice(Prefix.length).includes('/')));
  });

  test('a delimiter and pages of one go together', async () => {
    const seen: (string | undefined)[] = [];
    for await (const page of paginateListObjectsV2(
      { client },
      { Bucket, Prefix, MaxKeys: 1, Delimiter: '/' },
    )) {
      seen.push(...keys(page), ...(page.CommonPrefixes ?? []).map((common) => common.Prefix));
    }
    const rolled = sorted.map((key) => key.replace(/(list\/[^/]*\/).*/, '$1'));
    expect(seen).toEqual([...new Set(rolled)]);
  });

  test('it starts after the key asked for', async () => {
    const page = await list({ StartAfter: `${Prefix}a0` });
    expect(keys(page)).toEqual(sorted.filter((key) => byBytes(key, `${Prefix}a0`) > 0));
  });

  test('a prefix without keys is an empty list', async () => {
    expect(await list({ Prefix: target.key('nothing') })).toMatchObject({ KeyCount: 0, IsTruncated: false });
  });

  test('keys are percent-encoded where asked', async () => {
    const page = await list({ EncodingType: 'url', Prefix: `${Prefix}with` });
    expect(keys(page)).toEqual([`${Prefix}with%20space%2B%26`]);
    expect(page.EncodingType).toBe('url');
  });

  test.skipIf(lacks('invalid-arguments'))('a page of nothing is not continued', async () => {
    expect(await list({ MaxKeys: 0 })).toMatchObject({ KeyCount: 0, IsTruncated: false });
  });

  test.skipIf(lacks('invalid-arguments'))('bad positions are refused', async () => {
    await expect(list({ MaxKeys: -1 })).rejects.toMatchObject({ name: 'InvalidArgument' });
    await expect(list({ ContinuationToken: '***' })).rejects.toMatchObject({ name: 'InvalidArgument' });
  });
});
