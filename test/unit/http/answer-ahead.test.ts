import { expect, test } from 'vitest';
import { ServiceError } from '../../../shared/core/service-error.ts';
import type { Write } from '../../../shared/data/table/table.ts';
import type { Caller } from '../../../shared/http/definition/endpoint-context.ts';
import type { Exchange } from '../../../shared/http/definition/exchange.ts';
import { answerAhead } from '../../../shared/http/pipeline/answer-ahead.ts';

const ada: Caller = {
  user_id: '01k00000000000000000000000',
  username: 'ada',
  account_type: 'developer',
  credentials_version: 1,
  token_hash: 'a',
};

/** A request that reads, writes a record and puts an object, whose caller is told by `told`. */
function request(told: Promise<Caller>) {
  const done: string[] = [];
  const table = {
    writable: true,
    batchGet: async () => [],
    get: async () => done.push('read'),
    write: async (..._: Write[]) => void done.push('written'),
  };
  const objects = { put: async (key: string) => done.push(`put ${key}`) };
  const exchange = { endpoint: { allow: 'developer' } } as Exchange;
  const reached = { written: Promise.withResolvers<void>() };
  const answered = answerAhead(exchange, { records: table, objects }, ada, {
    identify: async (one) => {
      one.caller = await told;
    },
    async answer({ caller }, services) {
      const { records, objects: bucket } = services as { records: typeof table; objects: typeof objects };
      await records.get();
      reached.written.resolve();
      await Promise.all([records.write(), bucket.put('key')]);
      return { statusCode: 200, body: caller?.username ?? '' };
    },
  });
  answered.catch(() => {});
  return { done, exchange, answered, reached: reached.written.promise };
}

/** Everything that can go on without what is waited for has gone on. */
const quiet = () => new Promise((resolve) => setImmediate(resolve));

test('reads at once, and writes and answers when the caller is the one that was expected', async () => {
  const told = Promise.withResolvers<Caller>();
  const { done, exchange, answered, reached } = request(told.promise);
  await reached;
  await quiet();
  expect(done).toEqual(['read']);
  told.resolve({ ...ada });
  expect((await answered).body).toBe('ada');
  expect(done).toEqual(['read', 'written', 'put key']);
  expect(exchange.caller).toEqual(ada);
});

test('neither writes nor answers where the caller is refused', async () => {
  const told = Promise.withResolvers<Caller>();
  const { done, exchange, answered, reached } = request(told.promise);
  await reached;
  told.reject(new ServiceError('forbidden', 'no'));
  await expect(answered).rejects.toThrow('no');
  await quiet();
  expect(done).toEqual(['read']);
  expect(exchange.caller).toBeUndefined();
});

test.each<Partial<Caller>>([
  { account_type: 'admin' },
  { credentials_version: 2 },
  { username: 'grace' },
  { user_id: '01k00000000000000000000001' },
  { token_hash: 'b' },
])('does all anew for another caller: %o', async (other) => {
  const { done, answered } = request(Promise.resolve({ ...ada, ...other }));
  expect((await answered).body).toBe(other.username ?? 'ada');
  await quiet();
  expect(done).toEqual(['read', 'read', 'written', 'put key']);
});
