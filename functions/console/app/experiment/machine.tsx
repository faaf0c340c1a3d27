import type { Experiment } from '../api/answers.ts';
import { Button } from '../ui/controls/button.tsx';

/** What a run used of its machine, the same sentences as in `mps show`, and a run with the size that is enough. */
export function Machine({
  experiment: { system },
  onSmaller,
}: {
  experiment: Experiment;
  /** Opens the dialog of another run; undefined for people who may not start one. */
  onSmaller: (() => void) | undefined;
}) {
  if (system?.text == null) return null;
  return (
    <section class="panel machine" aria-labelledby="machine">
      <div class="panel-head">
        <h2 id="machine">Machine</h2>
        <p class="small grow">{system.text}</p>
        {system.advice !== null && onSmaller !== undefined && (
          <Button icon="again" onClick={onSmaller}>
            Run again with this size
          </Button>
        )}
      </div>
    </section>
  );
}
