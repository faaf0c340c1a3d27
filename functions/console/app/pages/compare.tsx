import { useMemo, useState } from 'preact/hooks';
import type { Experiment } from '../api/answers.ts';
import { loadConfig, loadExperiment } from '../api/experiments.ts';
import { loadProject } from '../api/projects.ts';
import { useLive } from '../api/use-live.ts';
import { lineColour } from '../charts/colours.ts';
import { Curves, drawableOf } from '../charts/curves.tsx';
import { ConfigDiff } from '../compare/config-diff.tsx';
import { Parallel } from '../compare/parallel.tsx';
import { go, href, place, setQuery } from '../router.ts';
import { costText, durationText, numberText, plural } from '../ui/format.ts';
import { Button, Empty, LinkButton, Loaded, Tabs } from '../ui/parts.tsx';
import { PageHead } from '../ui/shell.tsx';
import { isFinal, Status } from '../ui/status.tsx';

const most = 50;
const tabNames = [
  { id: 'table', name: 'Differences' },
  { id: 'curves', name: 'Curves' },
  { id: 'parallel', name: 'Parallel coordinates' },
  { id: 'config', name: 'Configurations' },
];

interface Line {
  group: string;
  name: string;
  values: (string | undefined)[];
  isNumber: boolean;
}

function linesOf(experiments: readonly Experiment[]): Line[] {
  const fixed: Line[] = [
    {
      group: 'Experiment',
      name: 'duration',
      isNumber: true,
      values: experiments.map(({ duration }) => durationText(duration)),
    },
    {
      group: 'Experiment',
      name: 'cost',
      isNumber: true,
      values: experiments.map(({ cost }) => costText(cost)),
    },
    {
      group: 'Experiment',
      name: 'configuration',
      isNumber: false,
      values: experiments.map((one) =>
        one.config_id === null ? undefined : `${one.config_id} v${one.config_version}`,
      ),
    },
    {
      group: 'Experiment',
      name: 'commit',
      isNumber: false,
      values: experiments.map(({ git }) => git?.commit.slice(0, 12)),
    },
    {
      group: 'Experiment',
      name: 'source',
      isNumber: false,
      values: experiments.map((one) => one.source_sha256?.slice(0, 12)),
    },
    {
      group: 'Experiment',
      name: 'data set',
      isNumber: false,
      values: experiments.map(({ dataset }) => dataset ?? undefined),
    },
    {
      group: 'Experiment',
      name: 'dependencies',
      isNumber: false,
      values: experiments.map((one) => one.lock_hash?.slice(0, 12)),
    },
  ];
  const names = (read: (one: Experiment) => object) =>
    [...new Set(experiments.flatMap((one) => Object.keys(read(one))))].sort();
  return [
    ...names(({ metrics }) => metrics).map((name) => ({
      group: 'Metrics',
      name,
      isNumber: true,
      values: experiments.map(({ metrics }) =>
        metrics[name] === undefined ? undefined : numberText(metrics[name].last),
      ),
    })),
    ...names(({ params }) => params).map((name) => ({
      group: 'Params',
      name,
      isNumber: experiments.every(
        ({ params }) => params[name] === undefined || Number.isFinite(Number(params[name])),
      ),
      values: experiments.map(({ params }) => params[name]),
    })),
    ...names(({ tags }) => tags).map((name) => ({
      group: 'Tags',
      name,
      isNumber: false,
      values: experiments.map(({ tags }) => tags[name]),
    })),
    ...fixed.filter(({ values }) => values.some((value) => value !== undefined && value !== '–')),
  ];
}

const differs = ({ values }: Line): boolean => new Set(values).size > 1;

/** The best of a line of metrics, by the direction that the project's criterion has for its own metric. */
function bestOf(
  { group, values, name }: Line,
  experiments: readonly Experiment[],
  isMinimized: boolean,
): number {
  if (group !== 'Metrics') return -1;
  const numbers = experiments.map(({ metrics }) => Number(metrics[name]?.last));
  const lower = isMinimized || /loss|error|perplexity|latency|rmse|mae|mse/i.test(name);
  let best = -1;
  for (const [index, value] of numbers.entries()) {
    if (!Number.isFinite(value) || values[index] === undefined) continue;
    const present = numbers[best];
    if (present === undefined || (lower ? value < present : value > present)) best = index;
  }
  return best;
}

function Differences({
  experiments,
  project_id,
}: {
  experiments: readonly Experiment[];
  project_id: string;
}) {
  const [isWhole, setWhole] = useState(false);
  const all = useMemo(() => linesOf(experiments), [experiments]);
  const shown = isWhole ? all : all.filter(differs);
  const equal = all.length - all.filter(differs).length;
  const without = (id: string) =>
    setQuery({
      experiments: experiments
        .flatMap(({ experiment_id }) => (experiment_id === id ? [] : [experiment_id]))
        .join(','),
    });
  return (
    <>
      <div class="bar-row">
        <label class="check">
          <input
            type="checkbox"
            checked={!isWhole}
            onChange={({ currentTarget }) => setWhole(!currentTarget.checked)}
          />
          Only what differs
        </label>
        <span class="soft small">{plural(equal, 'line is', 'lines are')} equal in all</span>
      </div>
      <div class="scroll-x compare-table" tabIndex={0} role="group" aria-label="Differences">
        <table>
          <thead>
            <tr>
              <th scope="col">
                <span class="hidden">Name</span>
              </th>
              {experiments.map(({ experiment_id, name, status }, index) => (
                <th key={experiment_id} scope="col">
                  <span class="compare-head">
                    <i style={{ background: `var(--${lineColour(index)})` }} />
                    <a
                      class="ellipsis"
                      title={name}
                      href={href(['projects', project_id, 'experiments', experiment_id])}
                    >
                      <bdi>{name}</bdi>
                    </a>
                    <Button
                      kind="quiet"
                      icon="close"
                      label={`Leave out ${name}`}
                      onClick={() => without(experiment_id)}
                    />
                  </span>
                  <Status status={status} />
                </th>
              ))}
            </tr>
          </thead>
          {[...new Set(shown.map(({ group }) => group))].map((group) => (
            <tbody key={group}>
              <tr class="group">
                <th scope="rowgroup" colSpan={experiments.length + 1}>
                  {group}
                </th>
              </tr>
              {shown
                .filter((line) => line.group === group)
                .map((line) => {
                  const best = bestOf(line, experiments, false);
                  return (
                    <tr key={line.name} class={differs(line) ? '' : 'equal'}>
                      <th scope="row">
                        <bdi>{line.name}</bdi>
                      </th>
                      {line.values.map((value, index) => (
                        <td
                          key={experiments[index]?.experiment_id}
                          class={`${line.isNumber ? 'right' : ''}${index === best && differs(line) ? ' best' : ''}`}
                        >
                          {value === undefined ? <span class="soft">–</span> : <bdi>{value}</bdi>}
                        </td>
                      ))}
                    </tr>
                  );
                })}
            </tbody>
          ))}
        </table>
      </div>
      {shown.length === 0 && (
        <Empty title="They are equal in everything that is known of them" icon="check">
          <Button onClick={() => setWhole(true)}>Show what is equal</Button>
        </Empty>
      )}
    </>
  );
}

function Content({ experiments, project_id }: { experiments: readonly Experiment[]; project_id: string }) {
  const { query } = place.value;
  const tab = tabNames.find(({ id }) => id === query.get('tab'))?.id ?? 'table';
  const kept = Object.fromEntries(query);
  return (
    <>
      <Tabs
        label="Comparison"
        current={tab}
        tabs={tabNames.map((one) => ({
          ...one,
          href: href(['projects', project_id, 'compare'], { ...kept, tab: one.id }),
        }))}
      />
      {tab === 'table' && <Differences experiments={experiments} project_id={project_id} />}
      {tab === 'curves' && <Curves experiments={experiments.map(drawableOf)} />}
      {tab === 'parallel' && (
        <Parallel
          experiments={experiments}
          onOpen={(id) => go(href(['projects', project_id, 'experiments', id]))}
        />
      )}
      {tab === 'config' && (
        <ConfigDiff
          experiments={experiments}
          load={(experiment_id) => loadConfig({ project_id, experiment_id })}
        />
      )}
    </>
  );
}

/** Two to fifty experiments beside each other: what differs between them, unless asked for all. */
export function ComparePage({ project_id }: { project_id: string }) {
  const ids = (place.value.query.get('experiments') ?? '').split(',').filter(Boolean).slice(0, most);
  const project = useLive(`project/${project_id}`, () => loadProject(project_id));
  const live = useLive(
    `compare/${ids.join()}`,
    () => Promise.all(ids.map((experiment_id) => loadExperiment({ project_id, experiment_id }))),
    { every: (experiments) => (experiments.every(({ status }) => isFinal(status)) ? undefined : 10_000) },
  );
  return (
    <>
      <PageHead
        trail={[
          { name: 'Projects', href: href(['projects']) },
          { name: project.data?.project_name ?? 'Project', href: href(['projects', project_id]) },
        ]}
        title={`Compare ${plural(ids.length, 'experiment')}`}
      />
      {ids.length < 2 ? (
        <Empty title="Choose two or more experiments" icon="chart">
          <LinkButton href={href(['projects', project_id])}>To the table</LinkButton>
        </Empty>
      ) : (
        <Loaded live={live} rows={10} what="The experiments could not be loaded">
          {(experiments) => <Content experiments={experiments} project_id={project_id} />}
        </Loaded>
      )}
    </>
  );
}
