import { useEffect, useState } from 'preact/hooks';
import { estimateSweepCost, type SweepEstimate, type SweepRequest } from '../../api/sweeps.ts';

interface SweepCost {
  estimate?: SweepEstimate;
  error?: unknown;
}

const typingMilliseconds = 300;

/** Ask what a sweep takes, once the user stops typing. The same request tells the faults of the form. */
export function useSweepCost(project_id: string, request: SweepRequest): SweepCost {
  const [state, setState] = useState<SweepCost>({});
  const asked = JSON.stringify(request);
  useEffect(() => {
    let isOld = false;
    const show = (next: SweepCost): void => {
      if (!isOld) setState(next);
    };
    const timer = setTimeout(() => {
      estimateSweepCost(project_id, request).then(
        (estimate) => show({ estimate }),
        (error: unknown) => show({ error }),
      );
    }, typingMilliseconds);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [project_id, asked]);
  return state;
}
