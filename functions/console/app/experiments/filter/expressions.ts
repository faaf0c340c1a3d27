import { signal } from '@preact/signals';
import type { regularExpression } from '../../../../../shared/search/regular-expression.ts';
import { noteReach } from '../../api/poller.ts';

/** Engine of regular expressions, which is loaded with the first one. */
export const expressionEngine = signal<typeof regularExpression | undefined>(undefined);

let isLoading = false;

/** Load the engine. A failed load is repeated with the next change of the filter. */
export async function loadExpressions(): Promise<void> {
  if (isLoading || expressionEngine.peek() !== undefined) return;
  isLoading = true;
  try {
    const engine = await import('../../../../../shared/search/regular-expression.ts');
    expressionEngine.value = engine.regularExpression;
  } catch (error) {
    noteReach(error);
  }
  isLoading = false;
}
