import { useEffect, useMemo } from 'preact/hooks';
import type { Names } from '../../runs/columns.ts';
import type { Ranking } from '../../runs/ranking.ts';
import type { Row } from '../../runs/row.ts';
import { isLoaded, type LoadedValues, valuesOfFilter } from '../loaded-values.ts';
import { type Filtered, usesExpressions } from './conditions.ts';
import { expressionEngine, filterEngine, loadExpressions, loadFilter } from './expressions.ts';

/**
 * Filter the rows of a table, once the engine and the values of the filter are loaded. Return also these values of a
 * heavy table.
 * @param loaded values that the rows of a heavy table have; undefined if they have all
 */
export function useFiltered(
  rows: readonly Row[],
  filter: string,
  { ranking, names, loaded }: { ranking: Ranking; names: Names; loaded: LoadedValues | undefined },
): { filtered: Filtered; values: readonly string[] } {
  const engine = expressionEngine.value;
  const filterRows = filterEngine.value;
  const matching = useMemo(
    (): Filtered =>
      filter.trim() === ''
        ? { rows, fault: undefined }
        : (filterRows?.(rows, filter, ranking, engine, names) ?? { rows, fault: 'The filter is loading…' }),
    [rows, filter, ranking, filterRows, engine, names],
  );
  const values = useMemo(
    () => (loaded === undefined ? [] : valuesOfFilter(filter, names, matching.hasWords === true)),
    [loaded === undefined, filter, names, matching.hasWords],
  );
  useEffect(() => {
    if (filter.trim() !== '') void loadFilter();
    if (usesExpressions(filter)) void loadExpressions();
  }, [filter]);
  const filtered: Filtered = values.every((value) => isLoaded(loaded, value))
    ? matching
    : { rows, fault: 'The values of the filter are loading…' };
  return { filtered, values };
}
