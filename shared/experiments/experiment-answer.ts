import * as z from 'zod';
import { isoTime, Timestamp, Ulid } from '../core/formats.ts';
import type { Settings } from '../core/settings.ts';
import { CiRun, ciName } from '../data/accounts/ci-run.ts';
import { readUsernames } from '../data/accounts/user.ts';
import { type Experiment, ExperimentKind, outcomeOf } from '../data/experiments/experiment.ts';
import { ModelExportAnswer } from '../data/experiments/model-export.ts';
import { SystemUse } from '../data/experiments/system-use.ts';
import { Git, readTracking, type Tracking } from '../data/experiments/tracking.ts';
import { type MetricSummary, sparklineStride } from '../data/metrics/metric-summary.ts';
import { defaultName } from '../data/projects/default-name.ts';
import { readCriterion } from '../data/projects/inferred-criterion.ts';
import { RunOutcome } from '../data/sweeps/sweep-run.ts';
import type { TableReader } from '../data/table/table.ts';
import { JsonNumber, jsonNumber } from '../http/body/json-number.ts';
import { Reply } from '../http/definition/reply.ts';
import type { FieldsMask } from '../http/fields-mask/parse-mask.ts';
import { durationOf, showJob, shownJob } from '../jobs/shown-job.ts';
import { sizeAdvice, useText } from '../jobs/size-advice.ts';
import { type Placed, placeOneInLine } from '../jobs/waiting-queue.ts';
import { foundSources } from '../metrics/found-source.ts';
import { MetricRanker } from '../metrics/metric-ranker.ts';
import { isSystemMetric, withoutSystem } from '../metrics/system-metric.ts';
import { RecordedRule } from '../run-rules/recorded-rule.ts';
import { BestAnswer, judged } from './best-answer.ts';
import { commandClashes, commandOf } from './command-facts.ts';

/** Summary of a metric of an experiment. */
export const MetricSummaryAnswer = z
  .object({
    last: JsonNumber.describe('Value at the highest step; among equal steps, the latest value.'),
    min: JsonNumber,
    max: JsonNumber,
    step: z.number().nullable().describe('Step of the last value.'),
    time: Timestamp.describe('Time of the last value.'),
    count: z.number().int().describe('Points.'),
  })
  .meta({ id: 'MetricSummary' });

/** What the machine of an experiment did. */
const SystemAnswer = z
  .object({
    metrics: z
      .record(z.string(), MetricSummaryAnswer)
      .describe("Summary of each metric `system/…`, by name: the service's samples, or those of a client."),
    use: SystemUse.omit({ seconds_with: true, contended: true })
      .nullable()
      .describe('What its command used; null before the end of a training, and if it was too short to tell.'),
    advice: z
      .object({
        vcpus: z.number(),
        memory: z.number().int().describe('MiB.'),
        gpus: z.number().int(),
        cost: z.number().nullable().describe('US dollars that the run would have cost with this size.'),
        present_cost: z.number().nullable().describe('US dollars that it cost by the same prices.'),
      })
      .nullable()
      .describe('The cheapest size that would have been enough, with a margin; null if there is none.'),
    text: z.string().nullable().describe('Use and advice in a few sentences.'),
  })
  .meta({ id: 'System' });

/** Experiment in the responses of all operations. */
export const ExperimentAnswer = z
  .object({
    experiment_id: Ulid,
    project_id: Ulid,
    kind: ExperimentKind,
    user: z
      .string()
      .nullable()
      .describe(
        'Name of the user who began it; null once that user is deleted. `ci:OWNER/NAME` if a run of CI began it.',
      ),
    ci: CiRun.nullable().describe('The run of CI that began it; null if a person did.'),
    user_id: Ulid,
    name: z.string(),
    note: z.string().nullable().describe('Markdown.'),
    tags: z.record(z.string(), z.string()),
    params: z
      .record(z.string(), z.string())
      .describe(
        'For trainings the scalars of the configuration, such as `optimizer.lr`, and the flags of the command.',
      ),
    command: z
      .string()
      .nullable()
      .describe(
        'Command of a training, with `***` for secrets of its flags; null for an experiment that a client records.',
      ),
    git: Git.nullable(),
    metrics: z
      .record(z.string(), MetricSummaryAnswer)
      .describe('Summary of each metric of the model, by name. Those of the machine are in `system`.'),
    metrics_source: z
      .enum(['program', ...foundSources])
      .nullable()
      .describe(
        'Who reported the metrics: the program, else its log or files of its framework. Null without metrics.',
      ),
    config_id: z.string().nullable().describe('Null for an experiment that a client records.'),
    config_version: z.number().int().nullable(),
    config_sha256: z.string().nullable(),
    source_sha256: z.string().nullable(),
    dataset: z.string().nullable(),
    dataset_sha256: z.string().nullable(),
    rerun_of: Ulid.nullable(),
    overrides: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).nullable(),
    continues_from: Ulid.nullable(),
    schedule_id: Ulid.nullable().describe('Schedule that began it; null without one.'),
    sweep_id: Ulid.nullable().describe('Sweep that began it; null without one.'),
    trial: z.number().int().nullable().describe('Number of its values in the sweep, from 0.'),
    repeat: z.number().int().nullable().describe('Number of the repeat of the trial, from 1.'),
    outcome: RunOutcome.nullable().describe('How the run of a sweep ended; null while it runs.'),
    rules: z
      .array(RecordedRule)
      .describe('Rules under which it runs: its own, and those that its project had when it began.'),
    lock_hash: z.string().nullable(),
    environment_cache: z.enum(['hit', 'miss', 'none']).nullable(),
    saved_seconds: z.number().nullable(),
    ...shownJob,
    gpus: z.number().int(),
    nodes: z.number().int(),
    best: BestAnswer.nullable().describe(
      "The best value by the project's current criterion, even while the run continues.",
    ),
    best_reason: z.string().nullable().describe('Reason why `best` is null; null otherwise.'),
    sparkline: z
      .object({ metric: z.string(), values: z.array(z.number()) })
      .nullable()
      .describe(
        'Small curve of the metric of `best`, else of the first metric: up to 25 values at equal distances, rounded to a hundredth of their range. Null if the service keeps none; read the points then.',
      ),
    warnings: z
      .array(z.string())
      .describe(
        'Output of the program that was not recorded, such as invalid lines of METRICS_FILE, and flags that differ from the configuration, in a few sentences.',
      ),
    system: SystemAnswer.nullable().describe(
      'What the machine did. Lists have it if `fields` names it, else null.',
    ),
    model_export: ModelExportAnswer.nullable().describe(
      'What it exports, and what follows. Null if it is no export of a model.',
    ),
    artifacts: z.number().int(),
    artifact_bytes: z.number().int(),
    deleted_at: Timestamp.nullable().describe(
      'Time at which it was marked as deleted. It is removed 30 days later. Null if it is not deleted.',
    ),
  })
  .meta({ id: 'Experiment' });

/** Answer with the current state of an experiment. */
export const answerExperiment = async (answering: Answering, experiment: Experiment) =>
  Reply.json(await describeExperiment(answering, experiment), { version: experiment.version });

/** Return the current state of an experiment as it is answered. */
export async function describeExperiment(
  { records, accounts, settings, now }: Answering,
  experiment: Experiment,
): Promise<z.input<typeof ExperimentAnswer>> {
  const { project_id, experiment_id, user_id } = experiment;
  const [placed, tracking, criterion, usernames] = await Promise.all([
    placeOneInLine(records, settings.limits, experiment),
    readTracking(records, project_id, experiment_id),
    readCriterion(records, project_id),
    readUsernames(accounts, [user_id]),
  ]);
  const at = now();
  const ranker = new MetricRanker(criterion);
  const shown = showExperiment(placed, at, tracking, { ranker, usernames });
  return { ...shown, system: showSystem(experiment, at, tracking.metrics, settings) };
}

function showSystem(
  experiment: Experiment,
  now: Date,
  metrics: Tracking['metrics'],
  { prices }: Settings,
): z.input<typeof SystemAnswer> {
  const { system } = experiment;
  const advice = sizeAdvice({ ...experiment, duration: durationOf(experiment, now) }, system, prices);
  return {
    metrics: showSummaries([...metrics].filter(([name]) => isSystemMetric(name))),
    use: system ?? null,
    advice,
    text: system === undefined ? null : useText(experiment, system, advice),
  };
}

const showSummaries = (metrics: Iterable<[string, MetricSummary]>) =>
  Object.fromEntries([...metrics].map(([name, summary]) => [name, showSummary(summary)]));

/** Return the sparkline of a metric, else of the first one, up to the last value. */
function showSparkline(
  metric: string | undefined,
  metrics: ReadonlyMap<string, MetricSummary>,
): z.input<typeof ExperimentAnswer>['sparkline'] {
  const [first] = metrics.keys();
  const name = metric ?? first;
  const summary = name === undefined ? undefined : metrics.get(name);
  if (name === undefined || summary?.sparkline === undefined) return null;
  const { sparkline, count, last } = summary;
  const hasLast = (count - 1) % sparklineStride(count) === 0;
  const values = [...sparkline, ...(hasLast ? [] : [last])].filter(Number.isFinite);
  const range = Math.max(...values) - Math.min(...values);
  const digits = Math.min(100, Math.max(0, 2 - Math.floor(Math.log10(range))));
  const isFlat = values.length < 2 || range === 0;
  return { metric: name, values: isFlat ? values : values.map((value) => Number(value.toFixed(digits))) };
}

/** Services that the answer of an experiment reads. */
export interface Answering {
  records: TableReader<'records'>;
  accounts: TableReader<'accounts'>;
  settings: Settings;
  now(): Date;
}

/** Build the response for an experiment at the time `now`, with its tracked fields and metrics. */
export function showExperiment(
  experiment: Placed<Experiment>,
  now: Date,
  { fields, metrics }: Tracking,
  { ranker, usernames, asked, settings }: Surroundings,
): z.input<typeof ExperimentAnswer> {
  const reported = withoutSystem(metrics);
  const { best, best_reason } = judged(experiment, metrics, ranker);
  return {
    ...showJob(experiment, now),
    user: experiment.ci === undefined ? (usernames.get(experiment.user_id) ?? null) : ciName(experiment.ci),
    ci: experiment.ci ?? null,
    system: settings && asked?.has('system') ? showSystem(experiment, now, metrics, settings) : null,
    ...{ best, best_reason },
    sparkline: asked?.has('sparkline') === false ? null : showSparkline(best?.metric, reported),
    schedule_id: experiment.schedule_id ?? null,
    sweep_id: experiment.sweep?.sweep_id ?? null,
    trial: experiment.sweep?.trial ?? null,
    repeat: experiment.sweep?.repeat ?? null,
    outcome: outcomeOf(experiment),
    rules: experiment.rules ?? [],
    warnings: [...commandClashes(experiment, fields?.params ?? {}), ...(experiment.warnings ?? [])],
    name: fields?.name ?? defaultName(experiment.config_id),
    note: fields?.note ?? null,
    tags: sortedByName(askedOf(asked, 'tags', Object.entries(fields?.tags ?? {}))),
    params: sortedByName(askedOf(asked, 'params', Object.entries(fields?.params ?? {}))),
    command: commandOf(experiment),
    git: fields?.git ?? null,
    model_export: experiment.model_export ?? null,
    metrics_source: reported.size === 0 ? null : (experiment.metrics_source ?? 'program'),
    metrics: showSummaries(askedOf(asked, 'metrics', [...reported])),
    deleted_at: fields?.deleted_at ?? null,
  };
}

/** What the records of an experiment do not contain. */
interface Surroundings {
  ranker: MetricRanker;
  /** Names of the existing users, by id. */
  usernames: ReadonlyMap<string, string>;
  /** Fields that the answer will have; undefined for all. Of the others, params, tags and metrics stay empty: they may take 100 KB. */
  asked?: FieldsMask | undefined;
  /** What `system` needs, where it may be asked for. */
  settings?: Settings;
}

/** Return the values of a field that are asked for. */
function askedOf<V>(
  mask: FieldsMask | undefined,
  field: 'params' | 'tags' | 'metrics',
  values: [string, V][],
): [string, V][] {
  const names = mask === undefined || (mask.get(field) ?? none);
  return names === true ? values : values.filter(([name]) => names.has(name));
}

const none: FieldsMask = new Map();

/** Sort texts by name, because the table does not keep the order. */
const sortedByName = (texts: [string, string][]): Record<string, string> =>
  Object.fromEntries(texts.sort(([one], [other]) => (one < other ? -1 : 1)));

const showSummary = ({
  last,
  min,
  max,
  step,
  time,
  count,
}: MetricSummary): z.input<typeof MetricSummaryAnswer> => ({
  last: jsonNumber(last),
  min: jsonNumber(min),
  max: jsonNumber(max),
  step,
  time: isoTime(time),
  count,
});
