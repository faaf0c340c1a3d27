import { useMemo, useState } from 'preact/hooks';
import { confusionOf } from './confusion.ts';
import { type ConfusedPair, ConfusionMatrix } from './confusion-matrix.tsx';
import type { TableData } from './table-data.ts';
import { TableView } from './table-view.tsx';

/** Table of a file. One of truths and predictions has their confusion matrix above it, which chooses its rows. */
export function MatrixTable({ table }: { table: TableData }) {
  const confusion = useMemo(() => confusionOf(table), [table]);
  const [pair, setPair] = useState<ConfusedPair>();
  const shown = useMemo(
    () =>
      confusion === undefined || pair === undefined
        ? table
        : { ...table, rows: confusion.rowsOf(pair.truth, pair.prediction) },
    [table, confusion, pair],
  );
  return (
    <>
      {confusion !== undefined && <ConfusionMatrix confusion={confusion} chosen={pair} onChoose={setPair} />}
      <TableView table={shown} />
    </>
  );
}
