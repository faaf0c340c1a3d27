import type { ComponentChildren } from 'preact';
import type { Sweep } from '../api/sweeps.ts';
import { DetailsPanel, sizeText } from '../experiment/details-panel.tsx';
import { Copy } from '../ui/controls/copy.tsx';
import { href } from '../ui/router.ts';
import { Ago } from '../ui/text/ago.tsx';
import { costText, durationText, numberText, plural } from '../ui/text/format.ts';
import { LongText } from '../ui/text/long-text.tsx';
import { Markdown } from '../ui/text/markdown.tsx';
import { CostBar, ProgressBar } from './progress.tsx';
import { valueText } from './sweep-text.ts';

/** How far a sweep is: its best value, its progress, what it has cost and what it will. */
export function SweepFigures({ sweep }: { sweep: Sweep }) {
  const { best, metric, counts, spent, budget, estimate, parallel, created_at, ended_at } = sweep;
  return (
    <dl class="figures compact">
      <div>
        <dt>
          Best <bdi>{metric}</bdi>
        </dt>
        <dd>
          {best === null ? '–' : valueText(best.value, best.deviation)}
          {best !== null && <small> in trial #{best.trial}</small>}
        </dd>
      </div>
      <div>
        <dt>Experiments</dt>
        <dd>
          <ProgressBar sweep={sweep} />
          <small class="soft">
            {[
              counts.running > 0 && `${counts.running} of ${parallel} at once running`,
              counts.left > 0 && `${counts.left.toLocaleString('en')} left`,
              counts.failed > 0 && `${counts.failed} failed`,
              counts.stopped_early > 0 && `${counts.stopped_early} stopped early`,
            ]
              .filter(Boolean)
              .join(', ')}
          </small>
        </dd>
      </div>
      {(spent !== null || budget !== null) && (
        <div>
          <dt>Cost</dt>
          <dd>
            {costText(spent)}
            {budget !== null && <small> of {costText(budget)}</small>}
            <CostBar sweep={sweep} />
          </dd>
        </div>
      )}
      <div>
        <dt>{ended_at === null ? 'Takes' : 'Took'}</dt>
        <dd>
          {ended_at !== null
            ? durationText((Date.parse(ended_at) - Date.parse(created_at)) / 1000)
            : estimate.from === 'timeout'
              ? 'known once a trial has ended'
              : `about ${durationText(estimate.hours * 3600)}`}
          {ended_at === null && estimate.cost !== null && <small> and {costText(estimate.cost)}</small>}
        </dd>
      </div>
    </dl>
  );
}

/** What a sweep searches, and how. */
export function SweepFacts({ sweep }: { sweep: Sweep }) {
  const { project_id, sweep_id, parameters, best, stop, repeats, until, note } = sweep;
  const rows: [string, ComponentChildren][] = [
    ['Ranked by', `${sweep.metric}, ${sweep.goal}d`],
    ['Method', `${sweep.method}, seed ${sweep.seed}`],
    [
      'Trials',
      `${plural(sweep.trials, 'trial')}${repeats > 1 ? `, each ${repeats} times` : ''}, ${sweep.parallel} at once`,
    ],
    ['Configuration', `${sweep.config}, version ${sweep.config_version}`],
    ['Size', sizeText(sweep)],
    ['Stops after', durationText(sweep.timeout)],
  ];
  if (stop !== null) rows.push(['Early stop', `${stop.rule}, from step ${stop.step_min}`]);
  if (until !== null) rows.push(['Ends at', `${sweep.metric} ${numberText(until.metric)}`]);
  if (sweep.dataset !== null) rows.push(['Data set', <bdi key="d">{sweep.dataset}</bdi>]);
  rows.push(['Began', <Ago key="b" time={sweep.created_at} />]);
  if (sweep.ended_at !== null) rows.push(['Ended', <Ago key="e" time={sweep.ended_at} />]);
  rows.push([
    'Id',
    <>
      <code>{sweep_id}</code> <Copy text={sweep_id} label="Copy the id" />
    </>,
  ]);
  return (
    <>
      <section class="panel">
        <h2>Parameters</h2>
        <dl class="facts">
          {Object.entries(parameters).map(([name, parameter]) => (
            <div key={name} class="fact">
              <dt>
                <bdi>{name}</bdi>
              </dt>
              <dd>
                {best !== null && Object.hasOwn(best.params, name) && (
                  <>
                    <strong class="mono">{String(best.params[name])}</strong>{' '}
                  </>
                )}
                <span class="soft">
                  {best !== null && Object.hasOwn(best.params, name) && 'of '}
                  <LongText text={rangeText(parameter)} />
                </span>
              </dd>
            </div>
          ))}
        </dl>
        {best !== null && (
          <p class="soft small after">
            In bold the values of{' '}
            <a
              href={href(['projects', project_id], {
                filter: `sweep = '${sweep_id}' AND trial = ${best.trial}`,
              })}
            >
              the best trial
            </a>
            .
          </p>
        )}
      </section>
      {note !== null && note !== '' && (
        <section class="panel">
          <h2>Note</h2>
          <Markdown text={note} />
        </section>
      )}
      <DetailsPanel rows={rows} />
    </>
  );
}

/** Return what a parameter may be, such as `0.0001 to 0.1, log`. */
function rangeText(parameter: unknown): string {
  const { values, value, min, max, step, scale } = parameter as {
    values?: unknown[];
    value?: unknown;
    min?: number;
    max?: number;
    step?: number;
    scale?: string;
  };
  if (values !== undefined) return values.map(String).join(', ');
  if (min === undefined || max === undefined) return `always ${String(value)}`;
  return `${numberText(min)} to ${numberText(max)}${scale === 'log' ? ', log' : ''}${step === undefined ? '' : `, by ${numberText(step)}`}`;
}
