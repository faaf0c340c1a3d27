import type { ExperimentPath } from '../api/experiments.ts';
import { Button } from '../ui/controls/button.tsx';
import { tell } from '../ui/states/notice.tsx';
import { canNotify, unwatch, watch, watched } from './watched.ts';

/** Button that lets the browser tell the end of a running experiment. */
export function WatchButton({ project_id, experiment_id }: ExperimentPath) {
  if (!canNotify()) return null;
  const isWatched = watched.value.some((one) => one.experiment_id === experiment_id);
  const change = async () => {
    if (isWatched) return unwatch(experiment_id);
    if (await watch({ project_id, experiment_id }))
      tell('A notification will tell its end while this page is in the background');
    else tell('This browser refuses notifications of this site. Its settings of the site allow them.', true);
  };
  return (
    <Button icon="bell" pressed={isWatched} onClick={change}>
      Notify me
    </Button>
  );
}
