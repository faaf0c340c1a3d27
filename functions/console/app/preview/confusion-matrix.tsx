import { plural } from '../ui/text/format.ts';
import type { Confusion } from './confusion.ts';

/** Class of the truth and the one that was predicted. */
export interface ConfusedPair {
  truth: string;
  prediction: string;
}

/** Confusion matrix: truth by rows, prediction by columns. A click at a number chooses its rows. */
export function ConfusionMatrix({
  confusion: { classes, counts, total, right },
  chosen,
  onChoose,
}: {
  confusion: Confusion;
  chosen: ConfusedPair | undefined;
  /** Called with the pair to show the rows of; undefined for all rows. */
  onChoose: (pair: ConfusedPair | undefined) => void;
}) {
  return (
    <div class="scroll-x" tabIndex={0} role="group" aria-label="Confusion matrix">
      <table class="confusion">
        <caption>
          {right.toLocaleString('en')} of {plural(total, 'row')} right ({((100 * right) / total).toFixed(1)}{' '}
          %)
        </caption>
        <thead>
          <tr>
            <th scope="col">
              <span class="soft">truth ↓ prediction →</span>
            </th>
            {classes.map((name) => (
              <th key={name} scope="col">
                <bdi>{name}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {classes.map((truth, row) => {
            const line = counts[row] ?? [];
            const sum = line.reduce((all, count) => all + count, 0);
            return (
              <tr key={truth}>
                <th scope="row">
                  <bdi>{truth}</bdi>
                </th>
                {classes.map((prediction, column) => {
                  const count = line[column] ?? 0;
                  const isChosen = chosen?.truth === truth && chosen.prediction === prediction;
                  return (
                    <td key={prediction}>
                      <button
                        type="button"
                        class={row === column ? 'right' : 'wrong'}
                        style={{ '--share': `${Math.round(sum === 0 ? 0 : (45 * count) / sum)}%` }}
                        disabled={count === 0}
                        aria-pressed={isChosen}
                        aria-label={`${count} of ${truth} taken for ${prediction}`}
                        onClick={() => onChoose(isChosen ? undefined : { truth, prediction })}
                      >
                        {count === 0 ? '' : count.toLocaleString('en')}
                      </button>
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
