import { signal } from '@preact/signals';
import type { regularExpression } from '../../../../../shared/search/regular-expression.ts';
import { noteReach } from '../../api/poller.ts';
import type { filterRows } from './filter-rows.ts';

/** What filters rows, which is loaded with the first filter. */
export const filterEngine = signal<typeof filterRows | undefined>(undefined);

/** Engine of regular expressions, which is loaded with the first one. */
export const expressionEngine = signal<typeof regularExpression | undefined>(undefined);

/** Make a function that loads a part once. A failed load is repeated with the next change of the filter. */
function loaderOf(load: () => Promise<void>): () => Promise<void> {
  let loading: Promise<void> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      noteReach(error);
      loading = undefined;
    });
    return loading;
  };
}

export const loadFilter = loaderOf(async () => {
  const part = await import('./filter-rows.ts');
  filterEngine.value = part.filterRows;
});

export const loadExpressions = loaderOf(async () => {
  const part = await import('../../../../../shared/search/regular-expression.ts');
  expressionEngine.value = part.regularExpression;
});
