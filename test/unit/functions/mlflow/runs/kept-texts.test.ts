import { expect, test } from 'vitest';
import { KeptTexts } from '../../../../../shared/mlflow/runs/search-runs.ts';

test('a text is made once while it is asked for, and again after two generations without', () => {
  const texts = new KeptTexts<{ id: string }>(10);
  const made: string[] = [];
  const ask = (one: { id: string }) =>
    texts.textOf(one, () => {
      made.push(one.id);
      return one.id.repeat(4);
    });
  const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id })) as [
    { id: string },
    { id: string },
    { id: string },
    { id: string },
    { id: string },
  ];
  expect([ask(a), ask(b), ask(a), ask(b)]).toEqual(['aaaa', 'bbbb', 'aaaa', 'bbbb']);
  expect(made).toEqual(['a', 'b']);
  // The third begins a generation, to which the first is taken over.
  expect([ask(c), ask(a)]).toEqual(['cccc', 'aaaa']);
  expect(made).toEqual(['a', 'b', 'c']);
  ask(d);
  ask(e);
  expect(ask(a)).toBe('aaaa');
  expect(made).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(ask(b)).toBe('bbbb');
  expect(made).toEqual(['a', 'b', 'c', 'd', 'e', 'b']);
});

test('another object with the same content has a text of its own', () => {
  const texts = new KeptTexts<object>();
  expect([texts.textOf({}, () => 'one'), texts.textOf({}, () => 'other')]).toEqual(['one', 'other']);
});
