import { useEffect, useRef } from 'preact/hooks';
import type { Row } from '../runs/row.ts';
import { go } from '../ui/router.ts';
import { Empty } from '../ui/states/empty.tsx';
import { lazy } from '../ui/states/lazy.tsx';
import { addressOf } from './table-row.tsx';

/** Ways to a first experiment, of a project or of the service. */
export const FirstSteps = lazy(() => import('./first-steps.tsx').then((module) => module.FirstSteps));

/** Instructions for the first experiment of a project. */
export const FirstRun = ({ project_id, mayChange }: { project_id: string; mayChange: boolean }) =>
  mayChange ? (
    <FirstSteps project_id={project_id} />
  ) : (
    <Empty title="No experiments yet" icon="chart">
      <p>Experiments appear here when somebody trains in this project.</p>
    </Empty>
  );

/** Open the first experiment of a project that was empty until now. One that comes back from the deleted ones is older. */
export function useFirstRun(rows: readonly Row[], isEmpty: boolean): void {
  const emptySince = useRef<number>(undefined);
  useEffect(() => {
    if (isEmpty) emptySince.current ??= Date.now();
    const [first] = rows;
    if (first === undefined || emptySince.current === undefined) return;
    if (Date.parse(first.created_at) > emptySince.current - clockMilliseconds) go(addressOf(first));
    emptySince.current = undefined;
  }, [rows, isEmpty]);
}

/** Clocks of the service and of the browser may differ by so much. */
const clockMilliseconds = 10_000;
