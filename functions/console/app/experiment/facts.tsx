import { useState } from 'preact/hooks';
import { foundSourceText } from '../../../../shared/metrics/found-source.ts';
import type { Experiment } from '../api/answers.ts';
import { Button } from '../ui/controls/button.tsx';
import { Copy } from '../ui/controls/copy.tsx';
import { href } from '../ui/router.ts';
import { RunStatus } from '../ui/states/status.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { costText, durationText, timeText } from '../ui/text/format.ts';
import { LongText } from '../ui/text/long-text.tsx';
import { DetailsPanel, sizeText } from './details-panel.tsx';
import { SweepLink } from './sweep-link.tsx';

const shownFirst = 14;

/** Params of an experiment, next to its curves. */
export function Params({ experiment: { params, overrides } }: { experiment: Experiment }) {
  const [isWhole, setWhole] = useState(false);
  const [wanted, setWanted] = useState('');
  const all = Object.entries(params).sort(([one], [other]) => one.localeCompare(other));
  const entries = all.filter(([name]) => name.toLowerCase().includes(wanted.toLowerCase()));
  const shown = isWhole || wanted !== '' ? entries : entries.slice(0, shownFirst);
  return (
    <section class="panel">
      <div class="panel-head">
        <h2>Params</h2>
        {all.length > 0 && (
          <Copy text={() => JSON.stringify(params, null, 2)} label="Copy the params as JSON" />
        )}
      </div>
      {all.length > shownFirst && (
        <input
          type="search"
          class="find"
          aria-label="Find params"
          placeholder="Find"
          value={wanted}
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
      )}
      {all.length === 0 && (
        <p class="soft small">None. A training has those of its configuration and its command.</p>
      )}
      <dl class="facts">
        {shown.map(([name, value]) => (
          <div key={name} class="fact">
            <dt>
              <bdi>{name}</bdi>
            </dt>
            <dd>
              <LongText text={value} class="mono" />
              {overrides !== null && Object.hasOwn(overrides, name) && (
                <span class="chip changed">changed</span>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {!isWhole && wanted === '' && entries.length > shownFirst && (
        <Button kind="quiet" onClick={() => setWhole(true)}>
          All {entries.length}
        </Button>
      )}
    </section>
  );
}

/** Attempts of an experiment, each with start, duration and outcome. */
export function Timeline({ experiment }: { experiment: Experiment }) {
  const { attempts, created_at, begun_at, place_in_line, status, kind } = experiment;
  if (kind === 'logged') return null;
  return (
    <section class="panel">
      <h2>Timeline</h2>
      <ol class="timeline">
        <li>
          <strong>Created</strong> <Ago time={created_at} />
        </li>
        {place_in_line !== null && (
          <li>
            <strong>Waits</strong> as number {place_in_line} in line
          </li>
        )}
        {begun_at !== null && begun_at !== created_at && (
          <li>
            <strong>Handed over</strong> <Ago time={begun_at} />
          </li>
        )}
        {attempts.map(({ attempt, started_at, stopped_at, exit_code, reason, capacity_type, cost }) => {
          const seconds =
            started_at !== null && stopped_at !== null
              ? (Date.parse(stopped_at) - Date.parse(started_at)) / 1000
              : null;
          return (
            <li key={attempt} class={exit_code === 0 ? 'good' : stopped_at === null ? 'live' : 'bad'}>
              <strong>Attempt {attempt}</strong> {started_at !== null && <Ago time={started_at} />}
              <span class="soft">
                {seconds !== null && `, ${durationText(seconds)}`}
                {capacity_type === 'spot' && ', on Spot'}
                {capacity_type === 'on-demand' && experiment.spot !== null && ', on demand'}
                {experiment.spot !== null && cost !== null && `, ${costText(cost)}`}
                {exit_code !== null && `, exit code ${exit_code}`}
              </span>
              {reason !== null && (
                <div class="soft said">
                  <LongText text={reason} />
                </div>
              )}
            </li>
          );
        })}
        <li class={status === 'FAILED' ? 'bad' : status === 'SUCCEEDED' ? 'good' : ''}>
          <RunStatus run={experiment} />{' '}
          {experiment.stopped_at !== null && <Ago time={experiment.stopped_at} />}
        </li>
      </ol>
    </section>
  );
}

const cacheTexts = { hit: 'from the cache', miss: 'built for this experiment', none: 'none needed' } as const;

/** Whether MLflow sets a tag itself. */
export const isOfMlflow = (tag: string): boolean => tag.startsWith('mlflow.');

/** Say what Spot saved, or what it may save before the end. */
function spotText({
  estimate,
  saved,
  on_demand_cost,
  interruptions,
}: NonNullable<Experiment['spot']>): string {
  const count = `${interruptions} ${interruptions === 1 ? 'interruption' : 'interruptions'}`;
  if (saved !== null) return `saved ${costText(saved)} of ${costText(on_demand_cost)}; ${count}`;
  return estimate === null ? count : `${costText(estimate)} if it stays there; ${count}`;
}

/** Inputs of an experiment and the place of its run. */
export function Facts({ experiment }: { experiment: Experiment }) {
  const { experiment_id, kind, git, environment_cache, saved_seconds, rerun_of, continues_from, project_id } =
    experiment;
  const link = (id: string) => <a href={href(['projects', project_id, 'experiments', id])}>{id}</a>;
  const isJob = kind !== 'logged';
  const rows: [string, preact.ComponentChildren][] = [
    [
      'Id',
      <>
        <code>{experiment_id}</code> <Copy text={experiment_id} label="Copy the id" />
      </>,
    ],
    ['Kind', kind],
    ['Created', timeText(experiment.created_at)],
    ['User', experiment.user ?? 'deleted since'],
  ];
  if (experiment.config_id !== null)
    rows.push(['Configuration', `${experiment.config_id}, version ${experiment.config_version}`]);
  if (experiment.command !== null)
    rows.push(['Command', <LongText key="c" text={experiment.command} class="mono" />]);
  const { metrics_source } = experiment;
  if (metrics_source !== null && metrics_source !== 'program')
    rows.push(['Metrics', foundSourceText[metrics_source]]);
  if (git !== null)
    rows.push([
      'Commit',
      <>
        <code>{git.commit.slice(0, 12)}</code> {git.branch !== null && <bdi>on {git.branch}</bdi>}{' '}
        {git.dirty === true && <span class="chip">with uncommitted changes</span>}
      </>,
    ]);
  if (environment_cache !== null)
    rows.push([
      'Environment',
      `${cacheTexts[environment_cache]}${saved_seconds !== null && saved_seconds > 0 ? `, which saved ${durationText(saved_seconds)}` : ''}`,
    ]);
  if (experiment.dataset !== null) rows.push(['Data set', <bdi key="d">{experiment.dataset}</bdi>]);
  if (isJob) rows.push(['Size', sizeText(experiment)]);
  if (isJob) rows.push(['Stops after', durationText(experiment.timeout)]);
  if (experiment.cost_estimate !== null) rows.push(['Cost at most', costText(experiment.cost_estimate)]);
  if (experiment.spot !== null) rows.push(['Spot', spotText(experiment.spot)]);
  const { sweep_id } = experiment;
  if (sweep_id !== null) rows.push(['Sweep', <SweepLink key="s" {...experiment} sweep_id={sweep_id} />]);
  if (rerun_of !== null) rows.push(['Run again from', link(rerun_of)]);
  if (continues_from !== null && continues_from !== rerun_of) rows.push(['Continues', link(continues_from)]);
  if (experiment.source_sha256 !== null)
    rows.push(['Source', <code key="s">{experiment.source_sha256.slice(0, 12)}</code>]);
  for (const [tag, value] of Object.entries(experiment.tags))
    if (isOfMlflow(tag)) rows.push([tag.slice('mlflow.'.length), <LongText key={tag} text={value} />]);
  return <DetailsPanel rows={rows} />;
}
