import { describe, expect, test } from 'vitest';
import type { RowContext, Rows } from './rows.ts';

/** Tests that every read of the rows spares a body that the caller has, and only that. */
export function checkReads({ reads, changes }: Rows, { call, begin }: RowContext): void {
  describe.each(reads.map((row) => [`${row.endpoint.name} ${row.accept ?? ''}`, row] as const))(
    '%s',
    (_, { endpoint, accept }) => {
      const read = (headers: Record<string, string> = {}) =>
        call(endpoint, {}, { ...(accept !== undefined && { Accept: accept }), ...headers });

      test('spares the body while it is what the caller has', async () => {
        await begin(endpoint);
        const first = await read();
        expect(first.status).toBe(200);
        const tag = first.headers['etag']!;
        expect(tag).toMatch(/^"1-[A-Za-z0-9_-]{16}"$/);
        const version = tag.slice(0, tag.indexOf('-'));
        for (const matching of [tag, `W/${tag}`, '*', `"0-other", ${tag}`, `"0-other",W/${tag} , "x"`]) {
          const spared = await read({ 'If-None-Match': matching });
          expect([matching, spared.status, spared.text]).toEqual([matching, 304, '']);
          expect(spared.headers['etag']).toBe(tag);
          expect(spared.headers).not.toHaveProperty('content-type');
          expect(spared.headers['cache-control']).toBe(first.headers['cache-control']);
          expect(spared.headers['vary']).toBe(first.headers['vary']);
        }
        for (const other of [`${version}-another"`, '"2-x"', tag.slice(1, -1), '""', 'x', ',', '"']) {
          expect([other, (await read({ 'If-None-Match': other })).status]).toEqual([other, 200]);
        }
      });
    },
  );

  test.each(
    reads.flatMap(({ endpoint, change }) => {
      const row = changes.find((one) => one.endpoint === change);
      return row === undefined ? [] : [[endpoint.name, endpoint, row] as const];
    }),
  )('%s has another tag once the record is changed', async (_, endpoint, change) => {
    await begin(endpoint);
    const before = (await call(endpoint)).headers['etag']!;
    expect((await call(change.endpoint, change.content(1))).status).toBe(200);
    const after = await call(endpoint, {}, { 'If-None-Match': before });
    expect(after.status).toBe(200);
    expect(after.headers['etag']).toMatch(/^"2-/);
  });
}
