import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import type { JudgedBy } from '../../../../shared/metrics/criteria.ts';
import { isSystemMetric } from '../../../../shared/metrics/system-metric.ts';
import { inOrder, isCriterion } from '../runs/metric-order.ts';
import { metricOf } from '../runs/row.ts';
import { stylesOf } from '../theme/colours.ts';
import { Button } from '../ui/controls/button.tsx';
import { Dialog } from '../ui/controls/dialog.tsx';
import { useShowMore } from '../ui/show-more.tsx';
import { Empty } from '../ui/states/empty.tsx';
import { Problem } from '../ui/states/problem.tsx';
import { Skeleton } from '../ui/states/skeleton.tsx';
import { nameMatcher } from '../ui/text/name-matcher.ts';
import { useKeys } from '../ui/use-keys.ts';
import { axes, ChartControls } from './controls.tsx';
import { EnlargedChart, LazyChart } from './lazy-chart.tsx';
import { CustomPanels } from './panels/custom-panels.tsx';
import { inGivenOrder } from './panels/layout.ts';
import { PanelDialog } from './panels/panel-dialog.tsx';
import { chartOrder } from './panels/panel-view.ts';
import { endOf } from './reading/curve.ts';
import type { Drawable } from './reading/drawable.ts';
import type { PointFeed } from './reading/point-feed.ts';
import { type RunCurves, useRunCurves } from './reading/run-curves.ts';
import { type ListedRun, RunList } from './run-list.tsx';
import { machineSection, type Section, sectionsOf } from './sections.ts';
import { SingleMetric } from './single-values.tsx';
import {
  baselineRun,
  type ChartView,
  enlarge,
  enlarged,
  hiddenRuns,
  pinnedCharts,
  setAxis,
  setLog,
  useChartView,
} from './view.ts';

/** Maximum number of charts of a section before the user asks for more. */
const maxCharts = 48;
/** Maximum number of metrics that stand beside the table without sections. */
const maxFlat = 12;
/** Number of metrics from which they can be searched. */
const searchFrom = 7;

/** Change a chart setting by one key: T the axis, L the logarithmic scale. */
function useChartKeys({ axis, logX, logY }: ChartView): void {
  const at = axes.findIndex(({ id }) => id === axis);
  useKeys({
    t: () => setAxis(axes[(at + 1) % axes.length]?.id ?? 'step'),
    l: () => setLog(logX, !logY),
  });
}

/** Return whether every run reported a metric once at most. Such a metric is a figure, not a curve. */
const isSingle = (name: string, runs: readonly Drawable[]): boolean =>
  runs.every(({ metrics }) => !Object.hasOwn(metrics, name) || (metrics[name]?.count ?? 0) <= 1) &&
  runs.some(({ metrics }) => Object.hasOwn(metrics, name));

/** Runs that are drawn as their mean. */
export interface RunGroup {
  id: string;
  name: string;
  /** IDs of the experiments. */
  members: readonly string[];
  /** Mean of the last values of a metric. */
  lastOf(metric: string): number | undefined;
}

interface Common {
  runs: readonly ListedRun[];
  drawables: readonly Drawable[];
  read: RunCurves;
  view: ChartView;
  judge: JudgedBy | undefined;
}

/** Charts and figures of a section's metrics. */
function SectionCharts({
  metrics,
  runs,
  drawables,
  read,
  view,
  judge,
}: Common & { metrics: readonly string[] }) {
  const singles = metrics.filter((name) => isSingle(name, drawables));
  const curved = inGivenOrder(
    metrics.filter((name) => !singles.includes(name)),
    chartOrder(),
  );
  const [shown, more] = useShowMore(curved, maxCharts, 'charts');
  const [figures, moreFigures] = useShowMore(singles, maxCharts, 'values');
  return (
    <>
      {shown.length > 0 && (
        <div class="charts">
          {shown.map((name) => (
            <LazyChart key={name} name={name} among={curved} runs={runs} read={read} view={view} />
          ))}
        </div>
      )}
      {more}
      {figures.length > 0 && (
        <div class={runs.length > 1 ? 'singles several' : 'singles'}>
          {figures.map((name) => (
            <SingleMetric
              key={name}
              name={name}
              judge={judge}
              values={runs.flatMap((run, index) => {
                const drawable = drawables[index];
                const value = drawable && metricOf(drawable, name);
                return value === undefined ? [] : [{ ...run, value }];
              })}
            />
          ))}
        </div>
      )}
      {moreFigures}
    </>
  );
}

/** A section that can be folded. */
function ChartSection({ section, ...common }: Common & { section: Section }) {
  const [isOpen, setOpen] = useState(true);
  return (
    <details
      class="chart-section"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <h2>
          <bdi>{section.name === '' ? 'Metrics' : section.name}</bdi>
        </h2>
        <span class="soft small">{section.metrics.length.toLocaleString('en')}</span>
      </summary>
      {isOpen && <SectionCharts metrics={section.metrics} {...common} />}
    </details>
  );
}

/**
 * Curves of one or several runs: the list of runs as the legend, and sections of charts that share crosshair, zoom and
 * settings. The curves of running experiments grow.
 */
export function Curves({
  experiments,
  judge,
  baseline,
  groups,
  feed,
  isBeside = false,
}: {
  experiments: readonly Drawable[];
  /** Whether the table beside the charts is their legend. */
  isBeside?: boolean;
  /** Brings the new points of the only experiment; otherwise they are read. */
  feed?: PointFeed | undefined;
  /** Groups of the experiments whose means are drawn instead of these. */
  groups?: readonly RunGroup[] | undefined;
  /** Criterion of the project. Its metric comes first. */
  judge?: JudgedBy | undefined;
  /** ID of the experiment that the others are compared with. */
  baseline?: string | undefined;
}) {
  const [wanted, setWanted] = useState('');
  const [isAdding, setAdding] = useState(false);
  const view = useChartView();
  const read = useRunCurves(experiments, feed);
  useChartKeys(view);
  const ids = experiments.map(({ experiment_id }) => experiment_id);
  const styles = useMemo(() => stylesOf(ids), [ids.join()]);
  useLayoutEffect(() => {
    baselineRun.value = baseline;
    return () => {
      baselineRun.value = undefined;
    };
  }, [baseline]);
  const hidden = hiddenRuns();
  const summarized = experiments.map(({ metrics }) => Object.keys(metrics));
  const nameKey = [...new Set([...summarized.flat(), ...read.names()])].sort().join('\0');
  const names = useMemo(
    () => (nameKey === '' ? [] : inOrder(nameKey.split('\0'), judge)),
    [nameKey, judge?.name],
  );
  const pinned = pinnedCharts().filter((name) => names.includes(name));
  const fits = nameMatcher(wanted);
  const sections = useMemo(() => {
    const found = names.filter((name) => fits(name) && !pinned.includes(name));
    return sectionsOf(found, judge);
  }, [names, wanted, pinned.join('\0'), judge?.name]);

  if (names.length === 0 || (read.error !== undefined && !read.isLoaded && read.version === 0)) {
    if (read.error !== undefined) return <Problem error={read.error} what="The curves could not be loaded" />;
    if (!read.isLoaded) return <Skeleton rows={6} />;
    return (
      <Empty title="No metrics yet" icon="chart">
        <p>
          A training writes them to <code>METRICS_FILE</code>, one JSON line for each value:{' '}
          <code>{'{"accuracy": 0.93, "step": 4}'}</code>
        </p>
      </Empty>
    );
  }
  const lead = names.find((name) => isCriterion(name, judge)) ?? names[0];
  // The value beside a line is that of its end. The summary is newer than the curve of a running experiment.
  const lastOf = (run: Drawable, metric: string): number | undefined =>
    endOf(read.curve(run.experiment_id, metric)) ?? metricOf(run, metric);
  const listedBy = (metric: string | undefined): ListedRun[] =>
    groups === undefined
      ? experiments.map((run) => ({
          id: run.experiment_id,
          name: run.name,
          style: styles.get(run.experiment_id) ?? 0,
          value: metric === undefined ? undefined : lastOf(run, metric),
        }))
      : groups.map(({ lastOf: meanOf, ...group }, style) => ({
          ...group,
          style,
          value: metric === undefined ? undefined : meanOf(metric),
        }));
  const listed = listedBy(lead);
  const drawables = experiments.filter(({ experiment_id }) => !hidden.has(experiment_id));
  const runs = listed.filter(({ id }) => !hidden.has(id));
  const common = { runs, drawables, read, view, judge };
  const isOfMachine = ({ name }: Section): boolean => name === machineSection;
  const ofModel = sections.filter((section) => !isOfMachine(section));
  // Names say the prefix, too. Headings of few charts would take the room of a row of them.
  const isFlat = isBeside && ofModel.flatMap(({ metrics }) => metrics).length <= maxFlat;
  const isPlain = pinned.length === 0 && (ofModel.length === 1 || isFlat);
  const large = enlarged();
  const isSeveral = listed.length > 1;
  return (
    <div class={isSeveral && !isBeside ? 'curves several' : 'curves'}>
      {isSeveral && !isBeside && <RunList runs={listed} metric={lead} judge={judge} />}
      <div class="curves-main">
        <ChartControls view={view} metrics={names}>
          <Button kind="quiet" icon="plus" label="Add a panel" onClick={() => setAdding(true)} />
          {names.filter((name) => !isSystemMetric(name)).length >= searchFrom && (
            <input
              type="search"
              class="find-metrics"
              aria-label="Find metrics"
              placeholder="Find a metric"
              title="A part of its name, or a regular expression such as ^val/"
              value={wanted}
              onInput={({ currentTarget }) => setWanted(currentTarget.value)}
            />
          )}
        </ChartControls>
        {read.error !== undefined && <Problem error={read.error} what="Some curves could not be loaded" />}
        <CustomPanels {...common} />
        {pinned.length > 0 && (
          <ChartSection section={{ name: 'Pinned', metrics: pinned.filter(fits) }} {...common} />
        )}
        {isPlain && <SectionCharts metrics={ofModel.flatMap(({ metrics }) => metrics)} {...common} />}
        {sections
          .filter((section) => !isPlain || isOfMachine(section))
          .map((section) => (
            <ChartSection key={section.name} section={section} {...common} />
          ))}
        {sections.length === 0 && pinned.length === 0 && (
          <p class="soft">
            No metric matches <bdi>{wanted}</bdi>.
          </p>
        )}
      </div>
      {isAdding && <PanelDialog metrics={names} onClose={() => setAdding(false)} />}
      {large !== undefined && names.includes(large) && (
        <Dialog title={large} onClose={() => enlarge(undefined)} wide="full">
          <div class={isSeveral ? 'curves several' : 'curves'}>
            {isSeveral && <RunList runs={listedBy(large)} metric={large} judge={judge} />}
            <div class="curves-main">
              <ChartControls view={view} metrics={names} />
              <EnlargedChart name={large} runs={runs} read={read} view={view} />
            </div>
          </div>
        </Dialog>
      )}
    </div>
  );
}
