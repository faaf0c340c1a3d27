import { basename, dirname, join } from 'node:path';
import type { endpoint as downloadArtifact } from '../../functions/experiments/artifacts/download-artifact.endpoint.ts';
import type { endpoint as listArtifacts } from '../../functions/experiments/artifacts/list-artifacts.endpoint.ts';
import type { endpoint as listExperiments } from '../../functions/experiments/search/list-experiments.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { consoleLink, consoleOf } from '../../shared/client/console-link.ts';
import { saveDownload } from '../../shared/client/node/save-download.ts';
import { valueText } from '../../shared/drawing/number-text.ts';
import { type Gate, needsBase } from '../../shared/gates/gate.ts';
import { judgeRuns } from '../../shared/gates/judge-gate.ts';
import { type MetricValues, meanOf } from '../../shared/gates/judge-metric.ts';
import type { Measurement } from '../../shared/onnx/engine/measure/measurement.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import type { Experiment } from '../experiments/experiment.ts';
import { findExperiment } from '../experiments/find-experiment.ts';
import { connect, type Session } from '../login/connect.ts';
import { withScratchFolder } from '../upload/scratch-folder.ts';
import { type Checked, measureFile, receiptGates, valuesOf } from './check-model.ts';
import { chooseBase, maxRuns } from './choose-base.ts';
import type { CiPlan } from './ci-file.ts';
import { type Compressed, compressModel } from './compress-model.ts';
import { drawCurves } from './draw-curves.ts';
import type { History } from './history.ts';
import { curveTexts, readCurves } from './read-curves.ts';
import { type CiReport, ciGates } from './report.ts';
import { trainHead } from './train-head.ts';
import { writeNew } from './write-new.ts';

/** Judge trainings of this folder, or one that is there, against those of the target branch. */
export async function checkRuns(context: CliContext, plan: CiPlan, history: History): Promise<Checked> {
  const { env, folder } = context;
  const session = await connect(env);
  const { project, experiment, run } = plan;
  const head =
    experiment === undefined
      ? await trainHead(context, session, plan)
      : [await findExperiment(session, folder, { project, id: experiment })];
  const [first] = head;
  if (first === undefined) throw new CliError('Nothing was trained.');
  requireEnded(session, head);
  const search = { ancestors: history.ancestors, head, file: plan.path, seed: run?.seed };
  const { base, earlier } = chooseBase(await runsOf(session.client, first.project_id), search);
  const { model, compressed } = await measuredModels(context, plan, session.client, {
    head: first,
    base: base[0],
  });
  const metrics = metricsOf(head, base, earlier);
  const costs = head.flatMap(({ cost }) => (cost === null ? [] : [cost]));
  const facts = {
    metrics,
    cost: costs.length < head.length ? null : Math.max(...costs),
    bytes: { file: model?.file.bytes ?? 0, base: model?.base?.bytes ?? null },
    latency: (model?.latency && { file: model.latency.file_ms, ratio: model.latency.ratio }) ?? null,
  };
  const named = new Set(plan.gates.map(({ name }) => name));
  const rows = [...metrics].sort(
    ([a], [b]) => Number(named.has(b)) - Number(named.has(a)) || (a < b ? -1 : 1),
  );
  // A compressed model is compared with the one that it was made of.
  const hasBase = ({ metric, name }: Gate) => {
    if (metric !== 'metric') return (model?.base ?? null) !== null;
    const values = metrics.get(name);
    // A metric that the head does not report fails, also without a base; one that is new in it does not.
    return values === undefined || (base.length > 0 && values.base?.some(Number.isFinite) === true);
  };
  const lacking = base.length === 0 ? [] : plan.gates.filter((gate) => needsBase(gate) && !hasBase(gate));
  const names = rows.map(([name]) => name);
  const curves = await readCurves(session.client, names, { head: first, base: base[0] });
  const sides = { head: sideOf(session, head), base: base.length === 0 ? null : sideOf(session, base) };
  if (curves.length > 0)
    await writeNew(
      join(folder, drawing),
      drawCurves(curves, {
        title: `${plan.path}: curves`,
        names: { head: sides.head.name, base: sides.base?.name ?? '' },
      }),
    );
  const why =
    history.why ?? 'No run of the target branch that succeeded is of this command. Run "mps ci" there, too.';
  return {
    ...sides,
    gates: [
      ...ciGates(plan.gates, hasBase, (judged) => judged.map((gate) => judgeRuns(gate, facts))),
      ...(compressed === undefined ? [] : receiptGates(plan.gates, compressed)),
    ],
    values: [
      ...rows.slice(0, maxRows).map(([name, values]) => metricRow(name, values)),
      ...(model === undefined ? [] : valuesOf(model)),
      ...(costs.length === 0 ? [] : [costRow(costs, base)]),
    ],
    curves: curveTexts(curves),
    notes: [
      ...(base.length === 0 ? [why] : []),
      ...lacking.map(({ text }) => `The base has no value for the gate ${text}.`),
      ...first.warnings.slice(0, 10),
      ...(curves.length === 0 ? [] : [`The curves are drawn in ${drawing} of this job.`]),
      ...(compressed?.notes ?? []),
      ...(model?.warnings ?? []),
    ],
  };
}

/** File of the curves. */
const drawing = 'mps-ci.svg';

/** Rows of a comment. */
const maxRows = 200;

/** A training that did not succeed, to which its report leads. */
export class FailedTrainingError extends CliError {
  readonly head: CiReport['head'];

  constructor(message: string, head: CiReport['head']) {
    super(message);
    this.head = head;
  }
}

/** @throws FailedTrainingError for a training that did not succeed */
function requireEnded(session: Session, head: readonly Experiment[]): void {
  const failed = head.find(({ status }) => status !== 'SUCCEEDED');
  if (failed === undefined) return;
  const { experiment_id, status, status_reason } = failed;
  throw new FailedTrainingError(
    `${experiment_id} ${status}${status_reason === null ? '' : `: ${status_reason}`}`,
    sideOf(session, [failed]),
  );
}

type Listed = Awaited<ReturnType<typeof runsOf>>[number];

async function runsOf(client: Client, project_id: string) {
  const route = 'GET /projects/{project_id}/experiments';
  const request = { path: { project_id }, query: { filter: "status = 'SUCCEEDED'", limit: 100 } };
  const runs: Experiment[] = [];
  for await (const row of client.rows<typeof listExperiments>(route, request))
    if (runs.push(row) === maxRuns) break;
  return runs;
}

function metricsOf(
  head: readonly Listed[],
  base: readonly Listed[],
  earlier: readonly Listed[],
): Map<string, MetricValues> {
  const last = (runs: readonly Listed[], name: string) =>
    runs.flatMap(({ metrics }) => (Object.hasOwn(metrics, name) ? [Number(metrics[name]?.last)] : []));
  const names = new Set([...head, ...base].flatMap(({ metrics }) => Object.keys(metrics)));
  const reported = [...names].filter((name) => last(head, name).length > 0);
  return new Map(
    reported.map((name) => {
      const before = last(base, name);
      const values = { head: last(head, name), base: before.length === 0 ? null : before };
      return [name, { ...values, earlier: last(earlier, name) }];
    }),
  );
}

/** Write the mean of runs, with their deviation if there are several. */
function valuesText(values: readonly number[]): string {
  const mean = meanOf(values);
  if (values.length < 2) return valueText(mean);
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return `${valueText(mean)} ± ${valueText(Math.sqrt(squares / (values.length - 1)))} (${values.length})`;
}

function metricRow(name: string, { head, base }: MetricValues): CiReport['values'][number] {
  const change = base === null ? Number.NaN : meanOf(head) - meanOf(base);
  const sign = change > 0 ? '+' : '';
  return {
    name,
    head: valuesText(head),
    base: base === null ? '' : valuesText(base),
    change: Number.isFinite(change) ? `${sign}${valueText(change)}` : '',
  };
}

function costRow(costs: readonly number[], base: readonly Listed[]): CiReport['values'][number] {
  const before = base.flatMap(({ cost }) => (cost === null ? [] : [cost]));
  return {
    name: 'cost (US$)',
    head: valuesText(costs),
    base: before.length === 0 ? '' : valuesText(before),
    change: '',
  };
}

function sideOf({ client }: Session, runs: readonly Listed[]): { name: string; link: string | null } {
  const [newest] = runs;
  if (newest === undefined) return { name: '', link: null };
  const { name, git, project_id, experiment_id } = newest;
  const commit = git === null ? '' : ` at ${git.commit.slice(0, 10)}`;
  const more = runs.length === 1 ? '' : ` and ${runs.length - 1} more`;
  const link = consoleLink(consoleOf(client.url), ['projects', project_id, 'experiments', experiment_id]);
  return { name: `${name}${more}${commit}`, link };
}

/** Measure the model that both trainings left, or that of the head against its compressed copy. */
async function measuredModels(
  context: CliContext,
  plan: CiPlan,
  client: Client,
  { head, base }: { head: Listed; base: Listed | undefined },
): Promise<{ model?: Measurement; compressed?: Compressed }> {
  const { model, compress } = plan;
  if (model === undefined) return {};
  return withScratchFolder(async (scratch) => {
    const path = await pulled(client, head, model, join(scratch, 'head'));
    if (path === undefined) throw new CliError(`The training left no artifact ${model}.`);
    const gates = plan.gates.filter(({ metric }) => metric === 'bytes' || metric === 'latency');
    if (compress !== undefined) {
      const compressed = await compressModel(context, { ...plan, compress }, { path, scratch });
      const sides = { path: compressed.path, base: path };
      return { model: await measureFile(context, { ...plan, gates }, sides), compressed };
    }
    const before = base && (await pulled(client, base, model, join(scratch, 'base')));
    return { model: await measureFile(context, { ...plan, gates }, { path, base: before }) };
  });
}

/** Download a model and the files beside it that begin with its name. */
async function pulled(
  client: Client,
  { project_id, experiment_id }: Listed,
  model: string,
  folder: string,
): Promise<string | undefined> {
  const route = 'GET /projects/{project_id}/experiments/{experiment_id}/artifacts';
  const path = { project_id, experiment_id };
  const stem = model.replace(/\.onnx$/, '');
  let isThere = false;
  for await (const artifact of client.rows<typeof listArtifacts>(route, { path, query: { limit: 1000 } })) {
    const { path: name, size, sha256 } = artifact;
    if (name !== model && !(dirname(name) === dirname(model) && name.startsWith(stem))) continue;
    const request = { path: { ...path, path: name }, query: {} };
    const saving = { path: join(folder, basename(name)), size, sha256 };
    await saveDownload<typeof downloadArtifact>(client, `${route}/{path+}`, request, saving);
    isThere ||= name === model;
  }
  return isThere ? join(folder, basename(model)) : undefined;
}
