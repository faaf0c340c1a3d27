import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
} from '@aws-sdk/client-s3';
import { afterAll, describe, expect, test } from 'vitest';
import { lacks, openTarget } from './target.ts';

const target = await openTarget();
const { client, bucket: Bucket, key } = target;
afterAll(() => target.close());

const put = (name: string, input: Partial<PutObjectCommandInput>) =>
  client.send(new PutObjectCommand({ Bucket, Key: key(name), ...input }));
const content = async (name: string) => {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: key(name) }));
  return Body!.transformToString();
};
const failed = { name: 'PreconditionFailed', $metadata: { httpStatusCode: 412 } };
const fulfilled = (results: PromiseSettledResult<unknown>[]) =>
  results.flatMap((result, index) => (result.status === 'fulfilled' ? [index] : []));

describe('conditional writes', () => {
  test('If-None-Match: * creates, and never replaces', async () => {
    await put('new', { Body: 'first', IfNoneMatch: '*' });
    await expect(put('new', { Body: 'second', IfNoneMatch: '*' })).rejects.toMatchObject(failed);
    expect(await content('new')).toBe('first');
  });

  test('If-Match replaces only what it names', async () => {
    const { ETag } = await put('known', { Body: 'first' });
    await put('known', { Body: 'second', IfMatch: ETag });
    await expect(put('known', { Body: 'third', IfMatch: ETag })).rejects.toMatchObject(failed);
    expect(await content('known')).toBe('second');
    await expect(put('unknown', { Body: 'x', IfMatch: ETag })).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  test('of twenty creators at once one wins, and its bytes are stored', async () => {
    const writers = Array.from({ length: 20 }, (_, index) =>
      put('race', { Body: `writer ${index}`, IfNoneMatch: '*' }),
    );
    const results = await Promise.allSettled(writers);
    const winners = fulfilled(results);
    expect(winners).toHaveLength(1);
    expect(await content('race')).toBe(`writer ${winners[0]}`);
    const losers = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.name] : []));
    expect(losers).toEqual(Array.from({ length: 19 }, () => 'PreconditionFailed'));
  });

  test('of twenty replacers at once one wins', async () => {
    const { ETag } = await put('swap', { Body: 'before' });
    const writers = Array.from({ length: 20 }, (_, index) =>
      put('swap', { Body: `writer ${index}`, IfMatch: ETag }),
    );
    const winners = fulfilled(await Promise.allSettled(writers));
    expect(winners).toHaveLength(1);
    expect(await content('swap')).toBe(`writer ${winners[0]}`);
  });
});

describe.skipIf(lacks('conditional-deletes'))('conditional deletes', () => {
  test('If-Match deletes only what it names', async () => {
    const { ETag } = await put('del', { Body: 'x' });
    const remove = (IfMatch: string) =>
      client.send(new DeleteObjectCommand({ Bucket, Key: key('del'), IfMatch }));
    await expect(remove('"other"')).rejects.toMatchObject(failed);
    expect(await content('del')).toBe('x');
    expect((await remove(ETag!)).$metadata.httpStatusCode).toBe(204);
    await expect(remove('*')).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  test('among many, each key has its own condition', async () => {
    const { ETag } = await put('one', { Body: '1' });
    await put('two', { Body: '2' });
    const Objects = ['one', 'two'].map((name) => ({ Key: key(name), ETag }));
    const answer = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(answer.Deleted!.map(({ Key }) => Key)).toEqual([key('one')]);
    expect(answer.Errors).toMatchObject([{ Key: key('two'), Code: 'PreconditionFailed' }]);
    expect(await content('two')).toBe('2');
  });
});
