import { describe, expect, test } from 'vitest';
import { withAgain, withNewest } from '../../../functions/console/app/experiments/kept-rows.ts';
import type { Row } from '../../../functions/console/app/runs/row.ts';

const rows = (...ids: string[]): Row[] => ids.map((experiment_id) => ({ experiment_id, name: 'old' }) as Row);
const again = (...ids: string[]): Row[] =>
  ids.map((experiment_id) => ({ experiment_id, name: 'new' }) as Row);
const shown = (found: readonly Row[]): string =>
  found.map((row) => `${row.experiment_id}:${row.name}`).join(' ');

describe('rows that were read before', () => {
  test('get the newest on top, are renewed in their places, and lose those that are no longer there', () => {
    const newest = { rows: again('5', '4', '2'), isAll: false };
    expect(shown(withNewest(rows('4', '3', '2', '1'), newest))).toBe('5:new 4:new 2:new 1:old');
  });

  test('are those that were read where a project has no others', () => {
    expect(shown(withNewest(rows('3', '2', '1'), { rows: again('3'), isAll: true }))).toBe('3:new');
  });

  test('asked for by their ids lose only those that were asked for', () => {
    expect(shown(withAgain(rows('3', '2', '1'), ['3', '2'], again('3')))).toBe('3:new 1:old');
  });
});
