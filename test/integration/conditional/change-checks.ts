import { describe, expect, test } from 'vitest';
import type { ChangeRow, RowContext, Rows } from './rows.ts';

const rivals = 20;

const malformed = [
  '',
  'x',
  '1-x',
  '"1"',
  '"-x"',
  '"1-x',
  '"1-x" ; drop',
  '"99999999999999999999-x"',
  '"1-ä"',
];

function checkChange(
  { endpoint, content, reads, effect, few }: ChangeRow,
  { call, begin }: RowContext,
): void {
  const change = (n: number, headers: Record<string, string> = {}) => call(endpoint, content(n), headers);
  const present = async () => (reads === undefined ? '' : (await call(reads)).text);
  const removes = effect === 'removes';
  /** What a request gets that names a version which is no more. */
  const tooLate = removes ? 404 : 412;

  test('is refused for another version and done for the present one', async () => {
    const tag = await begin(endpoint);
    const before = await present();
    for (const stale of ['"0-x"', '"2-x"', tag.replace('"1-', '"11-')]) {
      const refused = await change(1, { 'If-Match': stale });
      expect([stale, refused.status]).toEqual([stale, 412]);
      expect(refused.json.type).toContain('precondition-failed');
    }
    expect(await present()).toBe(before);
    const done = await change(1, { 'If-Match': tag });
    expect(done.status).toBe(200);
    if (!removes) expect(done.headers['etag']).toMatch(/^"2-/);
    expect((await change(1, { 'If-Match': tag })).status).toBe(tooLate);
  });

  test('compares the version alone, and takes any for *', async () => {
    const tag = await begin(endpoint);
    const form = removes ? '*' : `W/${tag.slice(0, tag.indexOf('-'))}-otherBody"`;
    expect((await change(1, { 'If-Match': form })).status).toBe(200);
    if (!removes) expect((await change(2, { 'If-Match': '*' })).status).toBe(200);
  });

  test('names a malformed If-Match', async () => {
    await begin(endpoint);
    const before = await present();
    for (const bad of malformed) {
      const refused = await change(1, { 'If-Match': bad });
      expect([bad, refused.status]).toEqual([bad, 400]);
      expect(refused.json.errors).toEqual([expect.objectContaining({ in: 'header', name: 'If-Match' })]);
    }
    expect(await present()).toBe(before);
  });

  test(`of ${rivals} at the same moment with one tag just one is done`, async () => {
    const tag = await begin(endpoint);
    const answers = await Promise.all(
      Array.from({ length: rivals }, (_none, n) => change(n + 1, { 'If-Match': tag })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    const refusals = few ? [tooLate, 503] : [tooLate];
    expect(refusals).toEqual(expect.arrayContaining(statuses.filter((status) => status !== 200)));
    if (removes || reads === undefined) return;
    expect((await call(reads)).headers['etag']).toMatch(/^"2-/);
  });
}

/** Tests that every change of the rows keeps to its preconditions. */
export function checkChanges({ changes }: Rows, bench: RowContext): void {
  describe.each(changes.map((row) => [row.endpoint.name, row] as const))('%s', (_, row) =>
    checkChange(row, bench),
  );

  const puts = changes.filter(({ effect }) => effect === 'puts');
  test.each(puts.map(({ endpoint, content }) => [endpoint.name, endpoint, content] as const))(
    '%s: If-Match asks for something to be there, If-None-Match: * for nothing',
    async (_, endpoint, content) => {
      const put = (n: number, headers: Record<string, string>) => bench.call(endpoint, content(n), headers);
      await bench.prepare(endpoint);
      expect((await put(0, { 'If-Match': '*' })).status).toBe(412);
      expect((await put(0, { 'If-Match': '"1-x"' })).status).toBe(412);
      const answers = await Promise.all(
        Array.from({ length: 5 }, (_none, n) => put(n, { 'If-None-Match': '*' })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412]);
      expect((await put(1, { 'If-None-Match': '*' })).status).toBe(412);
      // A condition that nobody would check is not taken.
      expect((await put(1, { 'If-None-Match': '"1-x"' })).status).toBe(400);
    },
  );

  const settings = changes.filter(({ effect, endpoint }) => effect === 'sets' && endpoint.method === 'PUT');
  test.each(settings.map((row) => [row.endpoint.name, row] as const))(
    '%s: If-None-Match: * is never met, for there is something from the start',
    async (_, { endpoint, content }) => {
      await bench.prepare(endpoint);
      expect((await bench.call(endpoint, content(0), { 'If-None-Match': '*' })).status).toBe(412);
    },
  );
}
