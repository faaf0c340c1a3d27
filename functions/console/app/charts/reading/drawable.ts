import type { Experiment } from '../../api/answers.ts';
import { isFinal } from '../../ui/states/status.tsx';

/** Run whose curves are drawn. */
export interface Drawable {
  experiment_id: string;
  project_id: string;
  name: string;
  isLive: boolean;
  metrics: Experiment['metrics'];
}

export const drawableOf = ({
  experiment_id,
  project_id,
  name,
  status,
  metrics,
}: Pick<Experiment, 'experiment_id' | 'project_id' | 'name' | 'status' | 'metrics'>): Drawable => ({
  experiment_id,
  project_id,
  name,
  isLive: !isFinal(status),
  metrics,
});

/** The run with the metrics of its machine, which become a section of their own. */
export const drawableWithMachine = (
  experiment: Parameters<typeof drawableOf>[0] & Pick<Experiment, 'system'>,
): Drawable => ({
  ...drawableOf(experiment),
  metrics: { ...experiment.metrics, ...experiment.system?.metrics },
});
