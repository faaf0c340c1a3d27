import { expect, test } from 'vitest';
import { referencesIn } from '../../../../shared/config/graph/references.ts';

// `§` stands for `$`, since the linter takes `${…}` in a string for a mistake.
test.each([
  ['§{a}', [[0, 'a']]],
  [
    '§{a.b}/x/§{c}',
    [
      [0, 'a', 'b'],
      [0, 'c'],
    ],
  ],
  ['§{a.b[0].c}', [[0, 'a', 'b', '0', 'c']]],
  ['§{a[0][1]}', [[0, 'a', '0', '1']]],
  ['§{a.0}', [[0, 'a', '0']]],
  ['§{a["b c"][\'d.e\']}', [[0, 'a', 'b c', 'd.e']]],
  ['§{[a]}', [[0, 'a']]],
  ['§{.b}', [[1, 'b']]],
  ['§{..b.c}', [[2, 'b', 'c']]],
  ['§{a.§{b}}', [[0, 'b']]],
  [
    '§{a.§{b}.§{c}}',
    [
      [0, 'b'],
      [0, 'c'],
    ],
  ],
  ['§{oc.env:HOME}', []],
  ['§{oc.env:HOME,§{a.b}}', [[0, 'a', 'b']]],
  ['§{{ matrix.os }}', []],
  ['{{ tasks.a }}', []],
  ['$a §{} §{.} §{a.} §{a..b} §{a b} §{a[} §{a[0]b}', []],
  ['§{a', []],
  ['}§{a}{', [[0, 'a']]],
  [`\${${'a'.repeat(2000)}}`, []],
  ['§{'.repeat(50_000), []],
  [`${'${'.repeat(50_000)}a${'}'.repeat(50_000)}`, [[0, 'a']]],
])('%# %.40s', (text, expected) => {
  expect(referencesIn(text.replaceAll('§', '$')).map(({ up, path }) => [up, ...path])).toEqual(expected);
});
