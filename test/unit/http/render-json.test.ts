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
