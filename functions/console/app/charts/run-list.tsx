import { useState } from 'preact/hooks';
import { type JudgedBy, metricGoal } from '../../../../shared/metrics/criteria.ts';
import { differenceFrom } from '../runs/difference.ts';
import { DifferenceText } from '../runs/difference-text.tsx';
import { Icon } from '../ui/icon.tsx';
import { CutName } from '../ui/text/cut-name.tsx';
import { numberText, plural } from '../ui/text/format.ts';
import { LineSample } from './line-sample.tsx';
import { baselineRun, hiddenRuns, highlighted, isolateRun, showAllRuns, toggleRun } from './view.ts';

/** Run of a page of charts. */
export interface ListedRun {
  id: string;
  name: string;
  style: number;
  /** IDs of the experiments whose mean it is; undefined for a run. */
  members?: readonly string[];
  /** Last value of the metric that the list shows. */
  value?: number | undefined;
}

/** Number of runs from which the list has a search. */
const searchFrom = 12;

/**
 * Legend as the list of runs. Hovering highlights a run in every chart. A click hides it, and a click with Alt shows it
 * alone.
 */
export function RunList({
  runs,
  metric,
  judge,
}: {
  runs: readonly ListedRun[];
  metric: string | undefined;
  judge: JudgedBy | undefined;
}) {
  const [wanted, setWanted] = useState('');
  const hidden = hiddenRuns();
  const ids = runs.map(({ id }) => id);
  const isSome = ids.some((id) => hidden.has(id));
  const marked = highlighted.value;
  const baseline = runs.find(({ id }) => id === baselineRun.value);
  const goal = metric === undefined ? undefined : metricGoal(metric, judge);
  const found = runs.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()));
  return (
    <section class="run-list" aria-label="Runs">
      <header>
        <span>
          {isSome ? `${runs.length - hidden.size} of ` : ''}
          {plural(runs.length, runs.some(({ members }) => members) ? 'group' : 'run')}
        </span>
        {isSome ? (
          <button type="button" class="as-link small" onClick={showAllRuns}>
            Show all
          </button>
        ) : (
          metric !== undefined && (
            <bdi class="ellipsis soft" title={`Last value of ${metric}`}>
              {metric}
            </bdi>
          )
        )}
      </header>
      {runs.length >= searchFrom && (
        <input
          type="search"
          aria-label="Find runs"
          placeholder="Find runs"
          value={wanted}
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
      )}
      <ul class="legend" onPointerLeave={() => (highlighted.value = undefined)}>
        {found.map(({ id, name, style, value }) => {
          const isShown = !hidden.has(id);
          return (
            <li key={id}>
              <button
                type="button"
                class={`${isShown ? '' : 'off'}${marked === id ? ' marked' : ''}`}
                aria-pressed={isShown}
                title={`${name}\nClick to ${isShown ? 'hide' : 'show'}, Alt-click to show it alone`}
                onPointerEnter={() => (highlighted.value = isShown ? id : undefined)}
                onFocus={() => (highlighted.value = isShown ? id : undefined)}
                onBlur={() => (highlighted.value = undefined)}
                onClick={({ altKey }) => {
                  highlighted.value = undefined;
                  if (altKey) isolateRun(id, ids);
                  else toggleRun(id);
                }}
              >
                <Icon name={isShown ? 'eye' : 'eyeOff'} size={14} />
                <LineSample style={style} />
                <CutName name={name} />
                {id === baseline?.id && <small class="soft">baseline</small>}
                {value !== undefined && <b>{numberText(value)}</b>}
                {baseline !== undefined && id !== baseline.id && (
                  <DifferenceText difference={differenceFrom(baseline.value, value, goal)} />
                )}
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
