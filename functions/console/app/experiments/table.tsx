import { useCallback } from 'preact/hooks';
import type { Column } from '../runs/columns.ts';
import type { Ranking } from '../runs/ranking.ts';
import type { Row } from '../runs/row.ts';
import { DataTable } from './data-table.tsx';
import type { Order } from './sort-rows.ts';
import { loadSparklines } from './sparklines.ts';
import { addressOf, contentOf, type RowLook } from './table-row.tsx';
import type { ColumnRange } from './use-visible-columns.ts';

const look: RowLook<Row> = { addressOf, contentOf };

/** Table of experiments, with small curves of those that are seen. */
export function ExperimentsTable({
  ranking,
  ...table
}: {
  rows: readonly Row[];
  columns: readonly Column[];
  order: Order | undefined;
  chosen: ReadonlySet<string>;
  drawn: ReadonlyMap<string, number>;
  pinned: ReadonlySet<string>;
  baseline: string | undefined;
  ranking: Ranking;
  onRange(range: ColumnRange): void;
  onChosen(next: ReadonlySet<string>): void;
  onSort(column: Column): void;
  onPin(row: Row): void;
}) {
  const hasCourses = table.columns.some(({ id }) => id === 'course');
  const onSeen = useCallback(
    (rows: readonly Row[]) => {
      if (hasCourses) loadSparklines(rows, ranking);
    },
    [hasCourses, ranking],
  );
  return <DataTable what="Experiment" look={look} onSeen={onSeen} {...table} />;
}
