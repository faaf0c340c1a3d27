import { expect, test } from 'vitest';
import { answerList } from '../../../shared/http/definition/pagination.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f'];

/** A list that reads two names at a time, and notes what it begins and ends. */
function noting(complete: (items: string[]) => string[] = (items) => items) {
  const notes: string[] = [];
  const list = {
    async fetch({ limit, after = '' }: { limit: number; after: string | undefined }) {
      notes.push(`read after ${after || 'the start'}`);
      await Promise.resolve();
      const items = names.filter((name) => name > after).slice(0, Math.min(limit, 2));
      const next = items.at(-1) === names.at(-1) ? undefined : items.at(-1);
      return { items, next };
    },
    async complete({ items }: { items: string[] }) {
      notes.push(`complete ${items.join('')}`);
      await Promise.resolve();
      return { items: complete(items) };
    },
    show: (name: string) => name,
    keyOf: (name: string) => name,
  };
  return { notes, list };
}

const shownBy = async (
  query: { limit?: number; cursor?: string },
  list: ReturnType<typeof noting>['list'],
) => {
  const { body, next } = await answerList(query, list);
  return { shown: body.kind === 'json' ? body.value : undefined, after: next?.after };
};

test('a list with a limit begins to read the next page before it completes the present one', async () => {
  const { notes, list } = noting();
  expect(await shownBy({ limit: 4 }, list)).toEqual({ shown: ['a', 'b', 'c', 'd'], after: 'd' });
  expect(notes).toEqual([
    'read after the start',
    'read after b',
    'complete ab',
    'read after d',
    'complete cd',
    'complete e',
  ]);
});

test('no page is read that the limit does not need', async () => {
  const { notes, list } = noting();
  await shownBy({ limit: 1 }, list);
  expect(notes).toEqual(['read after the start', 'complete ab']);
});

test('without a limit the next page is read after the present one is shown, because the answer may be full', async () => {
  const { notes, list } = noting();
  expect(await shownBy({}, list)).toEqual({ shown: names, after: undefined });
  expect(notes.slice(0, 3)).toEqual(['read after the start', 'complete ab', 'read after b']);
});

test('rows that are left out while a page is completed are replaced by later ones', async () => {
  const { list } = noting((items) => items.filter((name) => name !== 'b' && name !== 'd'));
  expect(await shownBy({ limit: 3 }, list)).toEqual({ shown: ['a', 'c', 'e'], after: 'e' });
  expect(await shownBy({ limit: 3, cursor: 'e' }, list)).toEqual({ shown: ['f'], after: undefined });
});

test('a list that fails waits for the read that it began', async () => {
  const { list } = noting();
  const ends: string[] = [];
  const slow = {
    ...list,
    async fetch(page: Parameters<typeof list.fetch>[0]) {
      const found = await list.fetch(page);
      await new Promise((resolve) => setTimeout(resolve, page.after === undefined ? 0 : 20));
      ends.push(page.after ?? 'the start');
      return found;
    },
    complete: () => Promise.reject(new Error('no tracking')),
  };
  await expect(shownBy({ limit: 4 }, slow)).rejects.toThrow('no tracking');
  expect(ends).toEqual(['the start', 'b']);
});
