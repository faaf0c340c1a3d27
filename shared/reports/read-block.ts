import * as z from 'zod';
import { Timestamp } from '../core/formats.ts';
import { findArtifact } from '../data/experiments/artifact.ts';
import { findExperiments } from '../data/experiments/experiment.ts';
import { nothingTracked, readTrackingOfEach } from '../data/experiments/tracking.ts';
import { readCriterion } from '../data/projects/inferred-criterion.ts';
import type { Project } from '../data/projects/project.ts';
import { findFrozen, type Report } from '../data/projects/report.ts';
import { findSweep } from '../data/sweeps/sweep.ts';
import { lastTry, listRuns } from '../data/sweeps/sweep-run.ts';
import { showExperiment } from '../experiments/experiment-answer.ts';
import { readCurves } from '../experiments/read-points.ts';
import {
  experimentsOfView,
  type ViewedExperiment,
  type ViewReading,
} from '../experiments/search/experiments-of-view.ts';
import { viewOrder } from '../experiments/search/view-order.ts';
import { jsonNumber } from '../http/body/json-number.ts';
import { metricGoal } from '../metrics/criteria.ts';
import { MetricRanker } from '../metrics/metric-ranker.ts';
import { BlockData, digestOfBlock, missing, type StoredData, unlessReplaced } from './block-data.ts';
import { maxRows, maxRuns, type ReportBlock } from './parse-report.ts';

/** What a block of a report shows. */
export const BlockAnswer = z
  .object({
    frozen_at: Timestamp.nullable().describe('Time of its data; null for the present.'),
    data: BlockData,
  })
  .meta({ id: 'ReportBlock' });
type BlockAnswer = z.infer<typeof BlockAnswer>;

/** Return what a block shows: its stored data if it is frozen, else the present. */
export async function readBlock(
  reading: ViewReading,
  project: Project,
  report: Report,
  block: ReportBlock,
): Promise<BlockAnswer> {
  const digest = digestOfBlock(block);
  const frozen_at = (block.isFrozen && report.frozen[digest]) || null;
  const stored = frozen_at === null ? undefined : await findFrozen(reading.records, report, digest);
  if (stored === undefined) return { frozen_at: null, data: await presentData(reading, project, block) };
  const data: StoredData = JSON.parse(stored);
  return { frozen_at, data: await unlessReplaced(reading, data) };
}

/** Read what a block shows at this time. What is gone is named in its place. */
export async function presentData(
  reading: ViewReading,
  project: Project,
  block: ReportBlock,
): Promise<StoredData> {
  const { records } = reading;
  const { project_id } = project;
  const { kind, compression } = block;
  if (kind === 'receipt')
    return compression === undefined
      ? missing('It names no compression.')
      : { kind, compression: compression.id, method: compression.method };
  if (kind === 'sweep') {
    const sweep = await findSweep(records, project_id, block.sweep ?? '');
    if (sweep === undefined || sweep.deleting !== undefined) return missing('The sweep is gone.');
    const { sweep_id, name, status, criterion, trials, counts, best } = sweep;
    const { complete, stopped_early, failed, cancelled } = counts;
    return {
      ...{ kind, sweep_id, name, status, trials },
      metric: criterion.name,
      goal: criterion.goal,
      ended: complete + stopped_early + failed + cancelled,
      best: best === null ? null : JSON.parse(best),
    };
  }
  const chosen = await experimentsOf(reading, project, block);
  if (chosen === undefined) return missing(`The view ${block.view} is gone.`);
  if (chosen.all.length === 0) return missing('No experiment is left to show.');
  const ranker = new MetricRanker(await readCriterion(records, project_id));
  const shown = chosen.all.map(({ experiment, tracking }) =>
    showExperiment(experiment, reading.now(), tracking, { ranker, usernames: new Map() }),
  );
  const [first] = shown;
  if (first === undefined) return missing('No experiment is left to show.');
  if (kind === 'table') {
    const columns = block.columns.length > 0 ? block.columns : usualColumns(shown);
    return {
      ...{ kind, columns, complete: !chosen.isMore },
      rows: shown.map((row) => ({ run: runOf(row), values: columns.map((column) => cellOf(row, column)) })),
    };
  }
  if (kind === 'value') {
    const [metric = ''] = block.metrics;
    const summary = chosen.all[0]?.tracking.metrics.get(metric);
    if (summary === undefined) return missing(`The experiment has no metric ${metric}.`);
    const { show } = block;
    const is = show !== 'best' ? show : metricGoal(metric, ranker.criterion) === 'maximize' ? 'max' : 'min';
    const step = is === 'last' ? summary.step : is === 'max' ? summary.max_step : summary.min_step;
    return { kind, run: runOf(first), metric, value: jsonNumber(summary[is]), step: step ?? null };
  }
  if (kind === 'picture') {
    const artifact = await findArtifact(records, first.experiment_id, block.path);
    if (artifact === undefined) return missing(`The experiment has no file ${block.path}.`);
    const { path, size, media_type, object } = artifact;
    if (!media_type.startsWith('image/')) return missing(`The file ${path} is no picture.`);
    return { kind, run: runOf(first), path, size, media_type, object };
  }
  return chartOf(reading, block, shown.slice(0, maxRuns), chosen.isMore || shown.length > maxRuns);
}

/** Return the first experiments of a block; undefined if its view is gone. */
async function experimentsOf(
  reading: ViewReading,
  { project_id, views = [] }: Project,
  { kind, view, sweep: sweep_id, experiments: named }: ReportBlock,
): Promise<{ all: ViewedExperiment[]; isMore: boolean } | undefined> {
  const { records } = reading;
  const limit = kind === 'chart' ? maxRuns : maxRows;
  if (view !== undefined) {
    const address = views.find(({ name }) => name === view)?.address;
    if (address === undefined) return undefined;
    const query = new URLSearchParams(address);
    const filter = (query.get('filter') ?? '').trim();
    return experimentsOfView(
      reading,
      project_id,
      { filter, order: viewOrder(query.get('sort') ?? '') },
      limit,
    );
  }
  let [ids, isMore] = [named, false];
  if (sweep_id !== undefined) {
    const sweep = await findSweep(records, project_id, sweep_id);
    if (sweep === undefined || sweep.deleting !== undefined) return { all: [], isMore };
    const page = await listRuns(records, sweep, { limit });
    ids = page.items.map((run) => lastTry(run).experiment_id);
    isMore = page.next !== undefined;
  }
  const experiments = await findExperiments(records, project_id, ids);
  const { of } = await readTrackingOfEach(records, experiments);
  const all = experiments.map((experiment) => ({
    experiment,
    tracking: of.get(experiment.experiment_id) ?? nothingTracked,
  }));
  return { all: all.filter(({ tracking }) => tracking.fields?.deleted_at === undefined), isMore };
}

type Shown = ReturnType<typeof showExperiment>;

const runOf = ({ experiment_id, name, status, outcome }: Shown) => ({ experiment_id, name, status, outcome });

/** Return the columns of a table that names none: the best value, else the first metrics, and params that differ. */
function usualColumns(rows: readonly Shown[]): string[] {
  const names = new Set(rows.flatMap(({ params }) => Object.keys(params)));
  const differing = [...names].filter((name) => new Set(rows.map(({ params }) => params[name])).size > 1);
  const chosen = rows.length > 1 ? differing : [...names];
  const metrics = new Set(rows.flatMap((row) => Object.keys(row.metrics)));
  const hasBest = rows.some(({ best }) => best !== null);
  return [
    ...(hasBest ? ['best'] : [...metrics].slice(0, usualMetrics).map((name) => `metrics.${name}`)),
    ...chosen.toSorted().flatMap((name, index) => (index < usualParams ? [`params.${name}`] : [])),
  ];
}

const usualMetrics = 3;
const usualParams = 6;

/** Return a cell of a table. A long text is cut. */
function cellOf({ best, params, metrics, tags }: Shown, column: string): string | number | null {
  if (column === 'best') return best?.value ?? null;
  const [, group, name = ''] = /^(params|metrics|tags)\.(.*)$/s.exec(column) ?? [];
  if (group === 'metrics') return metrics[name]?.last ?? null;
  const text = (group === 'params' ? params : tags)[name];
  return text === undefined ? null : text.length > cellLength ? `${text.slice(0, cellLength)}…` : text;
}

const cellLength = 120;

/** Read the curves of a chart. The experiments are read one after another, so a request holds one at a time. */
async function chartOf(
  { records }: ViewReading,
  { metrics }: ReportBlock,
  rows: readonly Shown[],
  isMore: boolean,
): Promise<StoredData> {
  const charts = metrics.map((metric): Chart => ({ metric, curves: [] }));
  for (const row of rows) {
    const points = await readCurves(records, row.experiment_id, { names: metrics }, curvePoints);
    const byName = Map.groupBy(points, ({ name }) => name);
    for (const { metric, curves } of charts) {
      const curve = byName.get(metric) ?? [];
      if (curve.length > 0)
        curves.push({
          run: runOf(row),
          steps: curve.map(({ step }, index) => step ?? index),
          values: curve.map(({ value }) => jsonNumber(value)),
        });
    }
  }
  return { kind: 'chart', charts, complete: !isMore };
}

type Chart = Extract<StoredData, { kind: 'chart' }>['charts'][number];

/** Maximum points of a curve. A chart is as wide as a column of text. */
const curvePoints = 150;
