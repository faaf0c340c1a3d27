import type { Experiment } from '../api/answers.ts';
import { loadSweep } from '../api/sweeps.ts';
import { useLive } from '../api/use-live.ts';
import { href } from '../ui/router.ts';

type Swept = Pick<Experiment, 'project_id' | 'trial' | 'repeat'> & { sweep_id: string };

/**
 * The sweep that began an experiment, and the experiment's trial and repeat. The link has the sweep's id until its name
 * is loaded, and keeps it if the sweep was deleted: its experiments stay.
 */
export function SweepLink({ project_id, sweep_id, trial, repeat }: Swept) {
  const { data } = useLive(`sweep/${sweep_id}`, () => loadSweep({ project_id, sweep_id }), { isKept: true });
  return (
    <span>
      <a href={href(['projects', project_id, 'sweeps', sweep_id])}>
        <bdi>{data?.name ?? sweep_id}</bdi>
      </a>
      , trial #{trial}, repeat {repeat}
    </span>
  );
}
