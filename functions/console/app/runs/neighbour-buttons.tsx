import { Button } from '../ui/controls/button.tsx';
import { go, href, place } from '../ui/router.ts';
import { neighboursOf } from './neighbours.ts';

/** Buttons to the experiments before and after this one in the table from which the user came. */
export function NeighbourButtons({
  project_id,
  experiment_id,
}: {
  project_id: string;
  experiment_id: string;
}) {
  const neighbours = neighboursOf(project_id, experiment_id);
  if (neighbours === undefined) return null;
  const open = (id: string | undefined) => {
    if (id === undefined) return;
    // The same part of the other experiment.
    const tab = place.value.query.get('tab') ?? undefined;
    go(href(['projects', project_id, 'experiments', id], { tab }));
  };
  const { previous, next } = neighbours;
  return (
    <span class="neighbours">
      <Button
        kind="quiet"
        icon="up"
        label="Previous experiment ([)"
        shortcut="["
        disabled={previous === undefined}
        onClick={() => open(previous)}
      />
      <Button
        kind="quiet"
        icon="down"
        label="Next experiment (])"
        shortcut="]"
        disabled={next === undefined}
        onClick={() => open(next)}
      />
    </span>
  );
}
