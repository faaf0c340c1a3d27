import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { loadOperations } from '../../../infra/service/endpoints.ts';
import { writeObjects } from '../../../shared/aws/needs.ts';
import { readRecords, writeRecords } from '../../../shared/data/table/needs.ts';
import { idempotencyKeyFaults } from '../../../shared/http/body/validate-input.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { requestFingerprint } from '../../../shared/http/pipeline/idempotency.ts';
import type { Event } from '../../../shared/http/pipeline/proxy-event.ts';

const proxyEvent = { headers: {} } as Event;

/** POSTs that take no key: they create nothing, and doing them twice is the same as once. */
const createNothing = [
  /\/(cancel|check|delete|estimate|pause|read|restore|resume|retry)$/,
  /\/(metrics|params)$/,
  /^\/users\/\{user_id\}\/type$/,
  /^\/links\/session$/,
  // Messages come at least once.
  /\/hooks\/\{name\}\/(test|deliveries\/\{delivery_id\}\/redeliver)$/,
];

describe('every definition', async () => {
  const endpoints = (await loadOperations(join(import.meta.dirname, '../../../functions'))).map(
    (one) => one.endpoint,
  );
  const keyed = endpoints.filter(({ idempotent }) => idempotent !== undefined);

  test('of a POST that creates something takes a key, and no other does', () => {
    const creating = endpoints.filter(
      ({ method, path }) =>
        method === 'POST' && !path.startsWith('/auth/') && !createNothing.some((one) => one.test(path)),
    );
    expect(keyed.map(({ name }) => name).sort()).toEqual(creating.map(({ name }) => name).sort());
  });

  test.each(keyed.map((endpoint) => [endpoint.name, endpoint] as const))(
    '%s writes the table that keeps the key',
    (_, { idempotent, needs, output }) => {
      expect(needs[idempotent!.table]).toMatchObject({ resource: idempotent!.table, level: 'write' });
      expect(Object.values(output).some((declared) => 'kind' in declared)).toBe(false);
    },
  );
});

describe('a key', () => {
  const creating = { path: '/projects/', idempotent: { kind: 'signs', table: 'records' } } as const;
  const event = (lines: string[]) => ({ ...proxyEvent, multiValueHeaders: { 'IDEMPOTENCY-key': lines } });

  test('is taken once', () => {
    expect(idempotencyKeyFaults(creating, event(['a']))).toEqual([]);
    expect(idempotencyKeyFaults(creating, event(['a', 'a']))).toHaveLength(1);
    expect(idempotencyKeyFaults(creating, event([]))).toEqual([]);
  });

  test('is refused below /auth/, even where it would do no harm', () => {
    const auth = { path: '/auth/token' } as const;
    expect(idempotencyKeyFaults(auth, event(['a']))).toEqual([
      expect.objectContaining({ in: 'header', name: 'Idempotency-Key' }),
    ]);
    expect(idempotencyKeyFaults({ path: '/authors/' }, event(['\n']))).toEqual([]);
  });

  test('misdeclared does not compile', () => {
    const rest = { name: 'x', method: 'POST', path: '/x', summary: '', allow: 'admin', input: {} } as const;
    const common = { ...rest, output: { 200: z.object({}) }, handle: async () => ({}) };
    const reads = { ...common, needs: { records: readRecords } };
    const writes = { ...common, needs: { records: writeRecords, objects: writeObjects } };
    const replayCreated = async () => ({});
    const declared = [
      defineEndpoint({ ...writes, idempotent: { kind: 'creates', table: 'records', replayCreated } }),
      // @ts-expect-error a table that is only read keeps nothing
      defineEndpoint({ ...reads, idempotent: { kind: 'signs', table: 'records' } }),
      // @ts-expect-error the bucket is no table
      defineEndpoint({ ...writes, idempotent: { kind: 'signs', table: 'objects' } }),
      // @ts-expect-error what was made must be found again
      defineEndpoint({ ...writes, idempotent: { kind: 'creates', table: 'records' } }),
    ];
    expect(declared).toHaveLength(4);
  });
});

describe('a fingerprint', () => {
  const operation = { method: 'POST', path: '/projects/' };
  const of = (input: unknown) => requestFingerprint(operation, input);

  test('is the same in any order of fields, and without those that are not given', () => {
    expect(of({ query: { a: 1, b: [1, 2], c: undefined } })).toBe(of({ query: { b: [1, 2], a: 1 } }));
  });

  test.each([
    ['a value', { a: 1 }, { a: 2 }],
    ['a type', { a: 1 }, { a: '1' }],
    ['a name', { a: 1 }, { b: 1 }],
    ['an order of values', { a: [1, 2] }, { a: [2, 1] }],
    ['a list and an object that look alike', { a: [['b', 1]] }, { a: { b: 1 } }],
    ['bytes', { a: Buffer.from('a') }, { a: Buffer.from('b') }],
    ['null and nothing', { a: null }, {}],
    ['an own __proto__', JSON.parse('{"__proto__":1}'), {}],
  ])('tells %s', (_, one, other) => {
    expect(of(one)).not.toBe(of(other));
  });

  test('tells operations', () => {
    expect(of({})).not.toBe(requestFingerprint({ method: 'POST', path: '/other/' }, {}));
  });

  test('knows no passwords', () => {
    const body = { username: 'ada', password: 'one', nested: { new_password: 'two' } };
    expect(of({ body })).toBe(of({ body: { username: 'ada', password: 'three', nested: {} } }));
  });
});
