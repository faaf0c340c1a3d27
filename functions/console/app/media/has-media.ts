import { useRef } from 'preact/hooks';
import type { Experiment } from '../api/answers.ts';
import { loadMedia } from '../api/media.ts';
import { useLive } from '../api/use-live.ts';
import { isFinal } from '../ui/states/status.tsx';

const everyMilliseconds = 20_000;

/** Return whether an experiment has pictures or sounds; false until it is known. */
export function useHasMedia({ project_id, experiment_id, artifacts, status }: Experiment): boolean {
  const hasFiles = artifacts > 0;
  const hasEnded = isFinal(status);
  const { data } = useLive(
    `has-media/${experiment_id}/${hasFiles}/${hasEnded}`,
    async (signal) => {
      if (!hasFiles || found.current === experiment_id) return false;
      const media = await loadMedia(project_id, [experiment_id], () => {}, signal);
      return media.some(({ series }) => series.length > 0);
    },
    { every: (isThere) => (isThere || !hasFiles || hasEnded ? undefined : everyMilliseconds), isKept: true },
  );
  // What was found stays, also while the last files of a run that has ended are asked for.
  const found = useRef<string>(undefined);
  if (data === true) found.current = experiment_id;
  return found.current === experiment_id;
}
