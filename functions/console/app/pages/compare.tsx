import { useMemo, useState } from 'preact/hooks';
import { rowFields } from '../api/answers.ts';
import { type Comparison, experimentsById, loadComparison, loadProject } from '../api/projects.ts';
import { useRights } from '../api/rights.ts';
import { useLive } from '../api/use-live.ts';
import { Curves } from '../charts/curves.tsx';
import { LineSample } from '../charts/line-sample.tsx';
import { type Drawable, drawableWithMachine } from '../charts/reading/drawable.ts';
import { ConfigDiff } from '../experiment/config-diff.tsx';
import { ExperimentsParallel } from '../experiments/values/experiments-parallel.tsx';
import { MediaView } from '../media/lazy-media.ts';
import { SideBySide } from '../preview/side-by-side.tsx';
import { ShareButton } from '../project/share-button.tsx';
import { ChartToReport } from '../reports/chart-to-report.tsx';
import { bestOf, type Compare, comparisonLines, differencesOf, differs } from '../runs/comparison-lines.ts';
import { DifferenceText } from '../runs/difference-text.tsx';
import { type Row, rowOf } from '../runs/row.ts';
import { stylesOf } from '../theme/colours.ts';
import { Button, LinkButton } from '../ui/controls/button.tsx';
import { CheckField } from '../ui/controls/field.tsx';
import { Tabs } from '../ui/controls/tabs.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { href, place, setQuery } from '../ui/router.ts';
import { useShowMore } from '../ui/show-more.tsx';
import { Empty } from '../ui/states/empty.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { isFinal, RunStatus } from '../ui/states/status.tsx';
import { plural } from '../ui/text/format.ts';
import { LongText } from '../ui/text/long-text.tsx';

const most = 50;
/** Number of lines that are drawn before the user asks for the others. */
const maxLines = 200;
const tabNames = [
  { id: 'table', name: 'Differences' },
  { id: 'curves', name: 'Curves' },
  { id: 'media', name: 'Media' },
  { id: 'files', name: 'Files' },
  { id: 'parallel', name: 'Parallel coordinates' },
  { id: 'config', name: 'Configurations and programs' },
];

/** Letters of a name in a head. */
const maxHead = 64;
const headEnd = 12;

/** Return a name for the head of a column, cut before its end: names of runs differ at their ends. */
const headText = (name: string): string =>
  name.length <= maxHead ? name : `${name.slice(0, maxHead - headEnd)}…${name.slice(-headEnd)}`;

function Differences({
  comparison,
  experiments,
  project_id,
  judge,
  baseline,
}: {
  comparison: Comparison;
  experiments: readonly Row[];
  project_id: string;
} & Compare) {
  const [isWhole, setWhole] = useState(false);
  const styles = stylesOf(experiments.map(({ experiment_id }) => experiment_id));
  const all = useMemo(
    () => comparisonLines(comparison, experiments, judge),
    [comparison, experiments, judge?.name, judge?.goal],
  );
  const different = useMemo(() => all.filter(differs), [all]);
  const shown = isWhole ? all : different;
  const equal = all.length - different.length;
  const [drawn, more] = useShowMore(shown, maxLines, 'lines');
  const without = (id: string) =>
    setQuery({
      experiments: experiments
        .flatMap(({ experiment_id }) => (experiment_id === id ? [] : [experiment_id]))
        .join(','),
    });
  return (
    <>
      <div class="bar-row">
        <CheckField checked={!isWhole} onCheck={(checked) => setWhole(!checked)}>
          Only differences
        </CheckField>
        <span class="soft small">{plural(equal, 'line is', 'lines are')} equal in all</span>
      </div>
      <div class="scroll-x compare-table" tabIndex={0} role="group" aria-label="Differences">
        <table>
          <thead>
            <tr>
              <th scope="col">
                <span class="hidden">Name</span>
              </th>
              {experiments.map(({ experiment_id, name, status, outcome }) => (
                <th key={experiment_id} scope="col">
                  <span class="compare-head">
                    <LineSample style={styles.get(experiment_id) ?? 0} />
                    <a title={name} href={href(['projects', project_id, 'experiments', experiment_id])}>
                      <bdi>{headText(name)}</bdi>
                    </a>
                  </span>
                  <span class="compare-head">
                    <RunStatus run={{ status, outcome }} />
                    <Button
                      kind="quiet"
                      icon="flag"
                      pressed={experiment_id === baseline}
                      label={`Baseline ${name}`}
                      onClick={() =>
                        setQuery({ baseline: experiment_id === baseline ? 'none' : experiment_id })
                      }
                    />
                    <Button
                      kind="quiet"
                      icon="close"
                      label={`Leave out ${name}`}
                      onClick={() => without(experiment_id)}
                    />
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          {[...new Set(drawn.map(({ group }) => group))].map((group) => (
            <tbody key={group}>
              <tr class="group">
                <th scope="rowgroup" colSpan={experiments.length + 1}>
                  {group}
                </th>
              </tr>
              {drawn
                .filter((line) => line.group === group)
                .map((line) => {
                  const best = bestOf(line, experiments, judge);
                  const differences = differencesOf(line, experiments, { baseline, judge });
                  return (
                    <tr key={line.name} class={differs(line) ? '' : 'equal'}>
                      <th scope="row">
                        <bdi>{line.name}</bdi>
                      </th>
                      {line.values.map((value, index) => (
                        <td
                          key={experiments[index]?.experiment_id}
                          class={`${line.isNumber ? 'right' : ''}${best.has(index) && differs(line) ? ' best' : ''}`}
                        >
                          {value === undefined ? <span class="soft">–</span> : <LongText text={value} />}
                          <DifferenceText difference={differences[index]} />
                        </td>
                      ))}
                    </tr>
                  );
                })}
            </tbody>
          ))}
        </table>
      </div>
      {more}
      {shown.length === 0 && (
        <Empty title="The experiments do not differ in any recorded value" icon="check">
          <Button onClick={() => setWhole(true)}>Show equal values</Button>
        </Empty>
      )}
    </>
  );
}

interface Compared {
  comparison: Comparison;
  /** Experiments in the order of the address. */
  experiments: readonly Row[];
  /** The same with the metrics of their machines. */
  drawables: readonly Drawable[];
}

function Content({
  comparison,
  experiments,
  drawables,
  project_id,
  judge,
  baseline,
  mayChange,
}: Compared & Compare & { project_id: string; mayChange: boolean }) {
  const { query } = place.value;
  const tab = tabNames.find(({ id }) => id === query.get('tab'))?.id ?? 'table';
  const kept = Object.fromEntries(query);
  /** Two trainings are compared line by line, below what differs. */
  const isPair = experiments.length === 2 && experiments.every(({ config_id }) => config_id !== null);
  const programs = (
    <ConfigDiff
      experiments={experiments}
      load={async (before, after) =>
        (await loadComparison(project_id, [before, after], { changed_files: true })).files[0]
      }
    />
  );
  return (
    <>
      <Tabs
        label="Comparison"
        current={tab}
        tabs={tabNames.map((tabName) => ({
          ...tabName,
          href: href(['projects', project_id, 'compare'], { ...kept, tab: tabName.id }),
        }))}
      />
      {tab === 'table' && (
        <>
          <Differences
            comparison={comparison}
            experiments={experiments}
            project_id={project_id}
            judge={judge}
            baseline={baseline}
          />
          {isPair && programs}
        </>
      )}
      {tab === 'curves' && (
        <ChartToReport project_id={project_id} mayChange={mayChange}>
          <Curves experiments={drawables} judge={judge} baseline={baseline} />
        </ChartToReport>
      )}
      {tab === 'media' && (
        <MediaView
          project_id={project_id}
          experiments={experiments}
          isRunning={experiments.some(({ status }) => !isFinal(status))}
        />
      )}
      {tab === 'files' && <SideBySide project_id={project_id} experiments={experiments} />}
      {tab === 'parallel' && <ExperimentsParallel experiments={experiments} judge={judge} />}
      {tab === 'config' && programs}
    </>
  );
}

/** Load a comparison of any number of experiments with two requests. */
async function loadCompared(project_id: string, ids: readonly string[]): Promise<Compared> {
  const [comparison, { rows }] = await Promise.all([
    loadComparison(project_id, ids, { changed_files: false }),
    experimentsById(project_id, ids, `${rowFields},system`),
  ]);
  const byId = new Map(rows.map((row) => [row.experiment_id, row]));
  const named = ids.flatMap((id) => byId.get(id) ?? []);
  return { comparison, experiments: named.map(rowOf), drawables: named.map(drawableWithMachine) };
}

/** Page that compares 2 to 50 experiments. It shows only differences by default. */
export function ComparePage({ project_id }: { project_id: string }) {
  const named = (place.value.query.get('experiments') ?? '').split(',').filter(Boolean);
  const ids = [...new Set(named)].slice(0, most);
  const project = useLive(`project/${project_id}`, () => loadProject(project_id));
  const { mayOwn, mayChange } = useRights(project_id, project.data);
  const judge = project.data && { name: project.data.criterion, goal: project.data.criterion_goal };
  const live = useLive(`compare/${ids.join()}`, () => loadCompared(project_id, ids), {
    every: ({ experiments }) => (experiments.every(({ status }) => isFinal(status)) ? undefined : 10_000),
  });
  return (
    <>
      <PageHead
        trail={[
          { name: 'Projects', href: href(['projects']) },
          { name: project.data?.project_name ?? 'Project', href: href(['projects', project_id]) },
        ]}
        title={ids.length === 0 ? 'Compare' : `Compare ${plural(ids.length, 'experiment')}`}
        part={tabNames.find(({ id }) => id === place.value.query.get('tab') && id !== 'table')?.name}
      >
        {mayOwn && ids.length > 1 && (
          <ShareButton project_id={project_id} subject={{ kind: 'comparison', experiment_ids: ids }} />
        )}
      </PageHead>
      {named.length > most && (
        <p class="soft">
          The first {most} of {new Set(named).size} in the address. No more can be compared at once.
        </p>
      )}
      {ids.length < 2 ? (
        <Empty title="Choose two or more experiments" icon="chart">
          <LinkButton href={href(['projects', project_id])}>Back to the table</LinkButton>
        </Empty>
      ) : (
        <Loaded live={live} rows={10} what="The experiments could not be loaded">
          {(compared) => (
            <Content
              {...compared}
              project_id={project_id}
              judge={judge}
              mayChange={mayChange}
              baseline={place.value.query.get('baseline') ?? project.data?.baseline ?? undefined}
            />
          )}
        </Loaded>
      )}
    </>
  );
}
