import { useRef } from 'preact/hooks';
import type { Experiment } from '../api/answers.ts';
import { type ExperimentPath, readArtifact } from '../api/experiments.ts';
import { loadMedia } from '../api/media.ts';
import { useLive } from '../api/use-live.ts';
import { isFinal } from '../ui/states/status.tsx';

const everyMilliseconds = 20_000;

/** Event files whose beginning is read, and how much of it. Programs write their first picture or histogram early. */
const eventFiles = 2;
const eventBytes = 500_000;

/** Return whether event files have pictures, sounds or histograms: most have curves only. */
async function hasEventMedia(path: ExperimentPath, files: readonly { path: string }[]): Promise<boolean> {
  const { hasMedia } = await import('./read-events.ts');
  for (const file of files.slice(0, eventFiles))
    if (hasMedia(new Uint8Array(await readArtifact(path, file.path, eventBytes)))) return true;
  return false;
}

/** Return whether an experiment has pictures or sounds; false until it is known. */
export function useHasMedia({ project_id, experiment_id, artifacts, status }: Experiment): boolean {
  const hasFiles = artifacts > 0;
  const hasEnded = isFinal(status);
  const { data } = useLive(
    `has-media/${experiment_id}/${hasFiles}/${hasEnded}`,
    async (signal) => {
      if (!hasFiles || found.current === experiment_id) return false;
      const media = await loadMedia(project_id, [experiment_id], () => {}, signal);
      const series = media.flatMap(({ series: some }) => some);
      const events = series.flatMap(({ kind, items }) => (kind === 'events' ? items : []));
      if (series.some(({ kind }) => kind !== 'events')) return true;
      return events.length > 0 && hasEventMedia({ project_id, experiment_id }, events);
    },
    { every: (isThere) => (isThere || !hasFiles || hasEnded ? undefined : everyMilliseconds), isKept: true },
  );
  // What was found stays, also while the last files of a run that has ended are asked for.
  const found = useRef<string>(undefined);
  if (data === true) found.current = experiment_id;
  return found.current === experiment_id;
}
