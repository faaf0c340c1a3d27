import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Drawable, drawableOf } from '../charts/reading/drawable.ts';
import type { Row } from '../runs/row.ts';
import { attempt } from '../ui/states/notice.tsx';
import { withValues } from './loaded-values.ts';
import type { Rows } from './use-rows.ts';

/** Return the runs whose curves are drawn, with all of their metrics, of which the rows of a heavy table have loaded some. */
export function useDrawables(rows: readonly Row[], complete: Rows['complete']): Drawable[] {
  const [whole, setWhole] = useState<ReadonlyMap<string, Row>>(new Map());
  const requested = useRef(new Set<string>());
  const key = rows.map(({ experiment_id }) => experiment_id).join();
  useEffect(() => {
    const lacking = rows.filter(({ experiment_id }) => !requested.current.has(experiment_id));
    if (lacking.length === 0) return;
    for (const { experiment_id } of lacking) requested.current.add(experiment_id);
    void attempt(async () => {
      const read = await complete(lacking, ['metrics']);
      setWhole((before) => new Map([...before, ...read.map((row) => [row.experiment_id, row] as const)]));
    });
  }, [key]);
  return useMemo(() => withValues(rows, [...whole.values()]).map(drawableOf), [rows, whole]);
}
