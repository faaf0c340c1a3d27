import { useEffect, useRef } from 'preact/hooks';
import type { AnswerOf } from '../../../../shared/client/route.ts';
import type { endpoint as readLive } from '../../../experiments/live/read-live-experiment.endpoint.ts';
import type { Experiment } from '../api/answers.ts';
import { call } from '../api/calls.ts';
import type { ExperimentPath } from '../api/experiments.ts';
import { follow } from '../api/follow.ts';
import { isWithheld, signInCount } from '../api/session.ts';
import { PointFeed } from '../charts/reading/point-feed.ts';
import { isFinal } from '../ui/states/status.tsx';

export type LiveRun = AnswerOf<typeof readLive>;

/** Ask for the state of an experiment with its new lines, or its new points. */
export const askLive = (
  { project_id, experiment_id }: ExperimentPath,
  query: { parts: ('log' | 'points')[]; tail?: number | undefined; node?: number },
  after: string | undefined,
  signal: AbortSignal,
): Promise<LiveRun> => {
  const { tail, ...others } = query;
  return call<typeof readLive>('GET /projects/{project_id}/experiments/{experiment_id}/live', {
    path: { project_id, experiment_id },
    query: { ...others, ...(after !== undefined ? { after } : tail !== undefined && { tail }) },
    signal,
  });
};

/** Follow the state and the points of a running experiment. */
export function useFollowed(
  experiment: Experiment,
  {
    isOn,
    onChange,
    onWithheld,
  }: { isOn: boolean; onChange: (next: Experiment) => void; onWithheld: () => void },
): PointFeed {
  const { project_id, experiment_id } = experiment;
  const feed = useRef(new PointFeed());
  const latest = useRef({ experiment, onChange, onWithheld });
  latest.current = { experiment, onChange, onWithheld };
  const signIns = signInCount.value;
  useEffect(() => {
    if (!isOn || isFinal(latest.current.experiment.status)) return;
    return follow({
      ask: (after, signal) =>
        askLive({ project_id, experiment_id }, { parts: ['points'], tail: 0 }, after, signal),
      take(live, isFirst) {
        feed.current.tell(live.points, isFirst);
        latest.current.onChange(live.experiment);
      },
      fail(error) {
        if (isWithheld(error)) latest.current.onWithheld();
      },
    });
  }, [project_id, experiment_id, isOn, signIns]);
  return feed.current;
}
