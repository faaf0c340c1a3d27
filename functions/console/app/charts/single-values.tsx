import { Fragment } from 'preact';
import { type JudgedBy, metricGoal } from '../../../../shared/metrics/criteria.ts';
import { lineColour } from '../theme/colours.ts';
import { useShowMore } from '../ui/show-more.tsx';
import { numberText } from '../ui/text/format.ts';
import { highlighted } from './view.ts';

/** Value of a metric that a run reported once. */
export interface SingleValue {
  id: string;
  name: string;
  style: number;
  value: number;
}

const maxBars = 10;

/** Share of a bar that a value fills. Bars begin at 0 unless values differ little. */
function shareOf(value: number, values: readonly number[]): number {
  const finite = values.filter(Number.isFinite);
  const [low, high] = [Math.min(0, ...finite), Math.max(0, ...finite)];
  return high === low || !Number.isFinite(value) ? 0 : (value - low) / (high - low);
}

/** Metric that was reported once, as a figure of one run or as bars of several. */
export function SingleMetric({
  name,
  values,
  judge,
}: {
  name: string;
  values: readonly SingleValue[];
  judge: JudgedBy | undefined;
}) {
  const goal = metricGoal(name, judge);
  const sorted =
    goal === undefined
      ? values
      : [...values].sort((a, b) => (goal === 'minimize' ? a.value - b.value : b.value - a.value));
  const [shown, more] = useShowMore(sorted, maxBars, 'runs');
  const numbers = values.map(({ value }) => value);
  const [first] = values;
  return (
    <div class="single">
      <p class="single-name clamp" title={name}>
        <bdi>
          {name.split(/(?<=[/_.])/).map((part, index) => (
            <Fragment key={index}>
              {index > 0 && <wbr />}
              {part}
            </Fragment>
          ))}
        </bdi>
      </p>
      {values.length === 1 && first !== undefined ? (
        <p class="figure">{numberText(first.value)}</p>
      ) : (
        <ul>
          {shown.map(({ id, name: run, style, value }) => (
            <li
              key={id}
              class={highlighted.value === id ? 'marked' : ''}
              onPointerEnter={() => (highlighted.value = id)}
              onPointerLeave={() => (highlighted.value = undefined)}
            >
              <bdi class="ellipsis" title={run}>
                {run}
              </bdi>
              <span class="bar-track">
                <i
                  style={{
                    width: `${100 * shareOf(value, numbers)}%`,
                    background: `var(--${lineColour(style)})`,
                  }}
                />
              </span>
              <b>{numberText(value)}</b>
            </li>
          ))}
        </ul>
      )}
      {more}
    </div>
  );
}
