import { describe, expect, test } from 'vitest';
import { parseToml } from '../../../shared/config/parse-toml.ts';

test('reads tables, arrays of tables and every kind of scalar', () => {
  const text = 'a = 1_000\nb = 0x1f\nc = """\nx"""\n[t.u]\nv = true\n[[l]]\nn = 1\n[[l]]\nn = 2.5\n';
  const expected = { a: 1000, b: 31, c: 'x', t: { u: { v: true } }, l: [{ n: 1 }, { n: 2.5 }] };
  expect(JSON.parse(JSON.stringify(parseToml(text)))).toEqual(expected);
});

test.each([
  ['1979-05-27T07:32:00Z', '1979-05-27T07:32:00.000Z'],
  ['1979-05-27 07:32:00-08:00', '1979-05-27T07:32:00.000-08:00'],
  ['1979-05-27T07:32:00.5', '1979-05-27T07:32:00.500'],
  ['1979-05-27', '1979-05-27'],
  ['07:32:00', '07:32:00.000'],
])('the date %s is the text %s', (written, text) => {
  expect(parseToml(`a = ${written}`)).toMatchObject({ a: text });
});

describe('refused, with line and column and without the excerpt', () => {
  test.each([
    ['a = 1\nb = \n', /^line 2, column 5: .*$/],
    ['[a]\nb = 1\n[a]\nc = 1', /^line 3, column 2: .*$/],
    ['a = 1979-13-99', /^line 1, column 5: .*$/],
    ['a = "\\q"', /^line 1, column \d: .*$/],
    ['a = 1 b = 2', /^line 1, column 7: .*$/],
  ])('%j', (text, message) => {
    expect(() => parseToml(text)).toThrow(message);
  });
});
