import { ConditionFailed, type TableName, type TableWriter } from './table.ts';

/** A partition whose items stand for work that is not finished yet. */
export interface WatchedList<N extends TableName = TableName> {
  readonly table: N;
  readonly partition: string;
}

/**
 * Changes an item of the list, where there is one, so that the table's stream tells whoever watches the list to come
 * again. Whoever works a list off does this before anything else: however that ends, what is left is looked at again,
 * and nobody needs to ask a list that is empty.
 */
export async function comeAgain<N extends TableName>(
  table: TableWriter<N>,
  { partition }: WatchedList<N>,
): Promise<void> {
  for (;;) {
    const [first] = (await table.query({ pk: partition, limit: 1 })).items;
    if (first === undefined) return;
    const { pk, sk } = first;
    try {
      return await table.write({
        update: { pk, sk },
        change: { add: { looked_at: 1 } },
        if: { exists: true },
      });
    } catch (error) {
      // It was finished meanwhile: the next one speaks for the rest.
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }
}
