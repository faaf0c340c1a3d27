import { expect, test } from 'vitest';
import * as z from 'zod';
import { renderJson } from '../../../shared/http/answer/render-answer.ts';
import { parseMask } from '../../../shared/http/fields-mask/parse-mask.ts';

const row = z.object({ id: z.number(), name: z.string() });
const list = { name: 'listRows', output: { 200: z.array(row) } };
const rows = (count: number) => Array.from({ length: count }, (_, id) => ({ id, name: `n${id}`, secret: 1 }));

test.each([0, 1, 249, 250, 251, 500, 1001])(
  'a list of %i rows is what its schema declares',
  async (count) => {
    const expected = rows(count).map(({ id, name }) => ({ id, name }));
    expect(await renderJson(list, rows(count))).toBe(JSON.stringify(expected));
    const ids = rows(count).map(({ id }) => ({ id }));
    expect(await renderJson(list, rows(count), parseMask('id'))).toBe(JSON.stringify(ids));
  },
);

test('the event loop turns while a long list is written', async () => {
  let turns = 0;
  let writing = true;
  const turn = () => {
    turns += 1;
    if (writing) setImmediate(turn);
  };
  turn();
  await renderJson(list, rows(5000));
  writing = false;
  expect(turns).toBeGreaterThanOrEqual(20);
});

test('a row that does not fit is refused wherever it stands', async () => {
  const faulty = [...rows(600), { id: 'none', name: 'x' }];
  await expect(renderJson(list, faulty)).rejects.toThrow(z.ZodError);
});

test('a field that the mask leaves out is not parsed, and absent ones of those it takes are null', async () => {
  const part = z.object({ known: z.number().optional(), of: z.record(z.string(), z.number()) });
  const lists = { name: 'listParts', output: { 200: z.array(row.extend({ part, parts: z.array(row) })) } };
  const value = [{ id: 'none', name: 'x', part: { of: { a: 1 }, more: 2 }, parts: rows(2), more: 3 }];

  const text = await renderJson(lists, value, parseMask('part,parts,name,other'));

  const parts = rows(2).map(({ id, name }) => ({ id, name }));
  expect(text).toBe(JSON.stringify([{ part: { known: null, of: { a: 1 } }, parts, name: 'x' }]));
});

test('however many masks are used, each shows its fields', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `field${index}`);
  const wide = {
    name: 'listWide',
    output: { 200: z.array(z.object(Object.fromEntries(names.map((name) => [name, z.number()])))) },
  };
  const value = [Object.fromEntries(names.map((name, index) => [name, index]))];

  const shown = await Promise.all(names.map((name) => renderJson(wide, value, parseMask(name))));

  expect(shown).toEqual(names.map((name, index) => `[{"${name}":${index}}]`));
});
