import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { experimentsById, maxById } from '../api/projects.ts';
import { type Drawable, drawableWithMachine } from '../charts/reading/drawable.ts';
import type { Row } from '../runs/row.ts';
import { attempt } from '../ui/states/notice.tsx';
import { isFinal } from '../ui/states/status.tsx';
import { withValues } from './loaded-values.ts';
import type { Rows } from './use-rows.ts';

/** What a run's machine reported. */
type Machine = Parameters<typeof drawableWithMachine>[0]['system'];

/** Return the machines of runs by ID. The rows of the table lack them. */
async function loadMachines(rows: readonly Row[]): Promise<ReadonlyMap<string, Machine>> {
  const [first] = rows;
  if (first === undefined) return new Map();
  const ids = rows.slice(0, maxById).map(({ experiment_id }) => experiment_id);
  const { rows: found } = await experimentsById(first.project_id, ids, 'experiment_id,system');
  return new Map(found.map(({ experiment_id, system }) => [experiment_id, system]));
}

/** Number of runs to draw if none is chosen, and with the running ones. */
const [drawnFirst, drawnRunning] = [5, 10];

/** Return the rows to draw if none is chosen: the first ones, and those that run. */
export function firstToDraw(rows: readonly Row[]): Row[] {
  const first = new Set(rows.slice(0, drawnFirst));
  for (const row of rows) {
    if (first.size >= drawnRunning) break;
    if (!isFinal(row.status)) first.add(row);
  }
  return rows.filter((row) => first.has(row));
}

/**
 * Return the runs whose curves are drawn, with all of their metrics and those of their machines. The rows of a heavy
 * table have loaded some of the metrics.
 */
export function useDrawables(rows: readonly Row[], complete: Rows['complete']): Drawable[] {
  const [whole, setWhole] = useState<ReadonlyMap<string, Row>>(new Map());
  const [machines, setMachines] = useState<ReadonlyMap<string, Machine>>(new Map());
  const requested = useRef(new Set<string>());
  const key = rows.map(({ experiment_id }) => experiment_id).join();
  useEffect(() => {
    const lacking = rows.filter(({ experiment_id }) => !requested.current.has(experiment_id));
    if (lacking.length === 0) return;
    for (const { experiment_id } of lacking) requested.current.add(experiment_id);
    void attempt(async () => {
      const [read, found] = await Promise.all([complete(lacking, ['metrics']), loadMachines(lacking)]);
      setWhole((before) => new Map([...before, ...read.map((row) => [row.experiment_id, row] as const)]));
      setMachines((before) => new Map([...before, ...found]));
    });
  }, [key]);
  return useMemo(
    () =>
      withValues(rows, [...whole.values()]).map((row) =>
        drawableWithMachine({ ...row, system: machines.get(row.experiment_id) ?? null }),
      ),
    [rows, whole, machines],
  );
}
