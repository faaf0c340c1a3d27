import { describe, expect, test } from 'vitest';
import { parseYaml } from '../../../shared/config/parse-yaml.ts';

const plain = (text: string) => JSON.parse(JSON.stringify(parseYaml(text).value));

describe('values', () => {
  test.each([
    ['no prototype of booleans: yes, no, on', 'a: [yes, no, on, true]', { a: ['yes', 'no', 'on', true] }],
    [
      'dates as written',
      'a: 2024-01-31\nb: 2001-12-14T21:59:43.10-05:00',
      { a: '2024-01-31', b: '2001-12-14T21:59:43.10-05:00' },
    ],
    [
      'an older version in the directive changes nothing',
      '%YAML 1.1\n---\na: yes\nb: 2024-01-31',
      { a: 'yes', b: '2024-01-31' },
    ],
    [
      'tags of programming languages',
      'a: !!python/object/apply:os.system [ls]\nb: !!python/name:os.system x',
      { a: ['ls'], b: 'x' },
    ],
    ['tags of clouds', 'a: !Ref Bucket\nb: !Sub {x: 1}', { a: 'Bucket', b: { x: 1 } }],
    [
      'tags of YAML 1.1',
      'a: !!binary aGk=\nb: !!set {x, y}\nc: !!timestamp 2024-01-31',
      { a: 'aGk=', b: { x: null, y: null }, c: '2024-01-31' },
    ],
    ['tags of YAML 1.2', 'a: !!str 1\nb: !!int "2"', { a: '1', b: 2 }],
    [
      'keys that are no texts',
      '1: a\ntrue: b\n~: c\n1.5: d\n12345678901234567890: e',
      { 1: 'a', true: 'b', null: 'c', 1.5: 'd', '12345678901234567890': 'e' },
    ],
    ['block texts', 'a: |\n  x\n  y\nb: >\n  x\n  y\n', { a: 'x\ny\n', b: 'x y\n' }],
    [
      'aliases',
      'a: &x {p: [1]}\nb: *x\nc: [*x, &y 2, *y]',
      { a: { p: [1] }, b: { p: [1] }, c: [{ p: [1] }, 2, 2] },
    ],
    ['an anchor given again', 'a: &x 1\nb: *x\nc: &x 2\nd: *x', { a: 1, b: 1, c: 2, d: 2 }],
    ['an anchor on a key', '&k a: 1\nb: *k\n*k : 2', undefined],
    ['an alias as a key', 'a: &k name\n*k : 2', { a: 'name', name: 2 }],
    [
      'a merge: own keys win wherever they stand',
      'a: &x {p: 1, q: 2}\nb: {q: 3, <<: *x, r: 4}',
      { a: { p: 1, q: 2 }, b: { p: 1, q: 3, r: 4 } },
    ],
    [
      'merges: the first source wins',
      'a: &x {p: 1}\nb: &y {p: 2, q: 2}\nc: {<<: [*x, *y]}\nd:\n  <<: *y\n  <<: *x',
      { a: { p: 1 }, b: { p: 2, q: 2 }, c: { p: 1, q: 2 }, d: { p: 2, q: 2 } },
    ],
    ['a quoted << is a key', 'a: {"<<": 1}', { a: { '<<': 1 } }],
  ])('%s', (_, text, expected) => {
    if (expected === undefined) expect(() => parseYaml(text)).toThrow('"a" is given twice');
    else expect(plain(text)).toEqual(expected);
  });

  test('tell where aliases lead', () => {
    const { value, links } = parseYaml('a: &x {p: 1}\nb: [*x]\nc: {<<: *x}');
    const { a, b, c } = value as { a: object; b: object[]; c: object };
    expect(b[0]).toBe(a);
    expect([...links.keys()]).toEqual([b, c]);
    expect(links.get(b as never)?.aliases.get(0)).toMatchObject({ anchor: 'x', target: { key: 'a' } });
    expect(links.get(b as never)?.aliases.get(0)?.target.within).toBe(value);
    expect(links.get(c as never)?.merges).toMatchObject([{ anchor: 'x', keys: ['p'] }]);
  });
});

describe('refused', () => {
  const lol = Array.from(
    { length: 9 },
    (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join()}]`,
  ).join('\n');
  test.each([
    ['nested aliases that double and double', `l0: &l0 lol\n${lol}`, 'expand to more than 1 MiB'],
    [
      'a large text repeated',
      `a: &a ${'x'.repeat(100_000)}\nb: [${'*a,'.repeat(50_000)}]`,
      'expand to more than 1 MiB',
    ],
    [
      'merges that repeat',
      `a: &a {k: ${'x'.repeat(100_000)}}\n${Array.from({ length: 50 }, (_, i) => `b${i}: {<<: *a}`).join('\n')}`,
      'expand to more than 1 MiB',
    ],
    [
      'aliases that deepen',
      Array.from({ length: 60 }, (_, i) => `l${i}: &l${i} [[${i === 0 ? '' : `*l${i - 1}`}]]`).join('\n'),
      'deeper than 100',
    ],
    [
      'merges that deepen',
      Array.from({ length: 120 }, (_, i) => `l${i}: &l${i} {a: ${i === 0 ? '1' : `{<<: *l${i - 1}}`}}`).join(
        '\n',
      ),
      'deeper than 100',
    ],
    ['an alias of itself', 'a: &a [*a]', 'line 1, column 8: the alias *a is within its own anchor'],
    ['an alias without anchor', 'a: *b\nb: &b 1', 'line 1, column 4: the alias *b has no anchor before it'],
    ['several documents', 'a: 1\n---\nb: 2', 'line 2, column 1: a second document starts here'],
    ['thousands of documents', '---\n'.repeat(50_000), 'a second document starts here'],
    ['keys that are lists', '? [a, b]\n: 1', 'line 1, column 3: a key must be a text'],
    ['keys that are mappings', '{a: 1}: 2', 'a key must be a text'],
    ['keys that name mappings', 'a: &a {b: 1}\n*a : 2', 'a key must be a text'],
    ['a merge of a text', '<<: text', '<< must name a mapping'],
    ['a merge of a list of texts', '<<: [a]', '<< must name a mapping'],
    ['tabs', 'a:\n\tb: 1', 'line 2, column 1: Tabs are not allowed'],
    ['open brackets', 'a: [1\nb: 2', 'line 2, column 1'],
  ])('%s', (_, text, message) => {
    expect(() => parseYaml(text)).toThrow(message);
  });
});

test('a merge of more mappings than a call takes arguments is read', () => {
  const merged = `<<: [${'{}, '.repeat(200_000)}{a: 1}]`;

  expect(plain(merged)).toEqual({ a: 1 });
});
