import { describe, expect, test } from 'vitest';
import { maxTextLength } from '../../../../shared/config/graph/draw/clip.ts';
import { arrows, graphOf } from './graph-of.ts';

test('the tree of a document', () => {
  const graph = graphOf(
    'model: {name: mlp, hidden: [256, 128]}\nlr: 0.1\nflags: [{on: true}, null, []]\nnote: null',
    'train.yaml',
  );
  expect(graph.nodes).toEqual([
    { id: '$', label: 'train.yaml', type: 'mapping', attributes: { length: 4 } },
    { id: 'model', label: 'model', type: 'mapping', attributes: { length: 2 } },
    { id: 'model.name', label: 'name', type: 'string', attributes: { value: 'mlp' } },
    { id: 'model.hidden', label: 'hidden', type: 'list', attributes: { value: '[256, 128]', length: 2 } },
    { id: 'lr', label: 'lr', type: 'number', attributes: { value: 0.1 } },
    { id: 'flags', label: 'flags', type: 'list', attributes: { length: 3 } },
    { id: 'flags[0]', label: '[0]', type: 'mapping', attributes: { length: 1 } },
    { id: 'flags[0].on', label: 'on', type: 'boolean', attributes: { value: true } },
    { id: 'flags[1]', label: '[1]', type: 'null', attributes: { value: null } },
    { id: 'flags[2]', label: '[2]', type: 'list', attributes: { value: '[]', length: 0 } },
    { id: 'note', label: 'note', type: 'null', attributes: { value: null } },
  ]);
  expect(graph.edges).toHaveLength(10);
  expect(graph.roots).toEqual(['$']);
  expect(graph.cycles).toEqual([]);
});

test('ids are unique whatever the keys are', () => {
  const { nodes } = graphOf(
    '{"a.b": 1, "a": {"b": 2, "": 3}, "$": 4, "a[0]": 5, "#1": 6, "__proto__": 7, "a\\"]": 8}',
    'a.json',
  );
  expect(nodes.map(({ id }) => id)).toEqual([
    '$',
    '["a.b"]',
    'a',
    'a.b',
    'a[""]',
    '["$"]',
    '["a[0]"]',
    '["#1"]',
    '__proto__',
    '["a\\"]"]',
  ]);
});

test('long keys and texts are cut, and their nodes stay apart', () => {
  const key = 'k'.repeat(5000);
  const { nodes } = graphOf(
    JSON.stringify({ [`${key}1`]: { x: key }, [`${key}2`]: { x: [key, key] } }),
    'a.json',
  );
  expect(new Set(nodes.map(({ id }) => id)).size).toBe(5);
  for (const { id, label, attributes } of nodes) {
    expect(Math.max(id.length, label.length, `${attributes['value'] ?? ''}`.length)).toBeLessThanOrEqual(
      maxTextLength,
    );
  }
});

describe('references', () => {
  test.each([
    ['absolute', 'a: {b: 1}\nc: §{a.b}', ['c > a.b: §{a.b}']],
    ['to a mapping', 'a: {b: 1}\nc: §{a}', ['c > a: §{a}']],
    ['into lists', 'a: [{b: 1}]\nc: §{a[0].b}', ['c > a[0].b: §{a[0].b}']],
    ['to a member of a plain list', 'a: [1, 2]\nc: §{a[1]}', ['c > a: §{a[1]}']],
    ['several in one text', 'a: 1\nb: 2\nc: §{a}-§{b}-§{a}', ['c > a: §{a}', 'c > b: §{b}']],
    ['from within a list', 'a: 1\nc: ["x", "§{a}"]', ['c[1] > a: §{a}']],
    [
      'relative',
      'm: {a: 1, b: "§{.a}", n: {c: "§{..a}", d: "§{...r}"}}\nr: 2',
      ['m.b > m.a: §{.a}', 'm.n.c > m.a: §{..a}', 'm.n.d > r: §{...r}'],
    ],
    ['through an alias', 'a: &a {b: 1}\nc: *a\nd: §{c.b}', ['d > a.b: §{c.b}', 'c > a: *a']],
    [
      'to a merged key',
      'a: &a {b: 1}\nc: &c {<<: *a}\ne: {<<: *c}\nd: §{e.b}',
      ['d > a.b: §{e.b}', 'c > a: << *a', 'e > c: << *c'],
    ],
    ['to what is not there', 'a: [1]\nb: §{a[1]} §{a.length} §{constructor} §{....x} §{b.c}', []],
  ])('%s', (_, text, expected) => {
    const graph = graphOf(text);
    expect(arrows(graph).filter((arrow) => arrow.includes(': '))).toEqual(expected);
  });

  test('that lead nowhere are named', () => {
    expect(graphOf('a: §{data.pth}').nodes[1]).toMatchObject({
      type: 'reference',
      attributes: { unresolved: 'data.pth' },
    });
    expect(graphOf('a: §{oc.env:HOME}').nodes[1]).toMatchObject({ type: 'string' });
  });

  test('may go in circles', () => {
    expect(graphOf('a: §{b}\nb: §{c}\nc: §{a}\nd: §{d}\ne: {f: "§{e}"}').cycles).toEqual([
      ['a', 'b', 'c'],
      ['d'],
      ['e', 'e.f'],
    ]);
  });
});

test('aliases and merges are edges, and what they stand for is drawn once', () => {
  const graph = graphOf('base: &base {lr: 1, n: &n {x: 1}}\nrun: {<<: *base, lr: 2}\nother: [*base, *n]');
  expect(graph.nodes.map(({ id }) => id)).toEqual([
    '$',
    'base',
    'base.lr',
    'base.n',
    'base.n.x',
    'run',
    'run.lr',
    'other',
    'other[0]',
    'other[1]',
  ]);
  expect(graph.nodes[5]?.attributes).toEqual({ length: 2, merges: '<< *base' });
  expect(arrows(graph).filter((arrow) => arrow.includes('*'))).toEqual([
    'run > base: << *base',
    'other[0] > base: *base',
    'other[1] > base.n: *n',
  ]);
});

test('20,000 nodes with a reference each', () => {
  const graph = graphOf(Array.from({ length: 20_000 }, (_, i) => `k${i}: \${k${i + 1}}`).join('\n'));
  expect(graph.nodes).toHaveLength(20_001);
  expect(graph.edges).toHaveLength(39_999);
});
