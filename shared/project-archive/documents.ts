import * as z from 'zod';
import { Capacity, CapacityType } from '../core/capacity/capacity.ts';
import { FileId, Sha256, Timestamp } from '../core/formats.ts';
import { line } from '../core/text/text-rules.ts';
import { Best, ExperimentKind, emptyExperiment } from '../data/experiments/experiment.ts';
import { LoggedModelStatus, ModelMetric } from '../data/experiments/logged-model.ts';
import {
  aliasPattern,
  isPlainAddress,
  isRemoteAddress,
  maxAlias,
  maxRegisteredName,
  newestAlias,
  refusedInName,
  versionAlias,
} from '../data/experiments/logged-model-rules.ts';
import { DatasetInput, Git, ModelLink } from '../data/experiments/tracking.ts';
import { AnyTrackedName } from '../data/experiments/tracking-rules.ts';
import { Attempt, SizeLimits, TrainingKind } from '../data/jobs/job.ts';
import { JobStatus } from '../data/jobs/job-status.ts';
import { sizeRange } from '../data/jobs/size-range.ts';
import { versionStages } from '../data/models/registered-model.ts';
import { environmentFields, RecordedOverrides } from '../data/projects/environment-rules.ts';
import { Criterion } from '../data/projects/project.ts';
import {
  AnyProjectDescription,
  AnyProjectName,
  CriterionName,
  ProjectTags,
  ProjectTask,
  ProjectType,
} from '../data/projects/project-rules.ts';
import { ReportTitle } from '../data/projects/report.ts';
import { RunRules } from '../data/projects/run-rules.ts';
import { TableViews } from '../data/projects/table-view.ts';
import { faultOfAll, VariableName, VariableValue } from '../data/projects/variable-rules.ts';
import { Overlap } from '../data/schedules/overlap.ts';
import { isTableNumber, TableNumberText } from '../data/table/stored-number.ts';
import { maxAttempts } from '../jobs/host-loss.ts';
import { maxBlocks } from '../reports/parse-report.ts';
import { RecordedRule } from '../run-rules/recorded-rule.ts';
import { maxRules } from '../run-rules/run-rule.ts';
import { environmentFaults } from '../runner/training/environment-faults.ts';
import { CronText, ZoneName } from '../schedules/cron.ts';
import { ScheduleBudget, ScheduleName } from '../schedules/schedule-fields.ts';
import { RecordedTime } from './manifest.ts';

// The documents of an archive. They contain no ids of the service: experiments and models have numbers, and users
// have names.
//
// A field uses the rule (`shared/data/…/…-rules.ts`) of the requests that otherwise set it, so an archive contains no value
// that they refuse. Texts with references have rules of their own, because they are longer here.

const whole = z.number().int().min(0);
const number = z.number().int().min(1);
/** A number that other numbers are added to or compared with. */
const amount = z.number().refine(isTableNumber, 'must be 0 or have a magnitude from 1e-130 to 2^53');
/**
 * Text limit in characters. In addition, each document has a limit in bytes. References at most double the length
 * of a text.
 */
const long = z.string().max(700_000);
const texts = z.record(z.string().max(1000), long);
const format = z.enum(['tar.gz', 'tar', 'zip', 'file']);

const range = ([least, most]: readonly [least: number, most: number]) => {
  const message = `must be from ${least} to ${most}`;
  return z.number(message).min(least, message).max(most, message);
};
const wholeRange = (bounds: readonly [least: number, most: number]) => range(bounds).int();

/** An environment. Its fields are also checked together. */
const environmentOf = <S extends z.ZodRawShape>(shape: S) =>
  z.strictObject({ ...environmentFields, ...shape }).superRefine((value, context) => {
    for (const { name, message } of environmentFaults(value))
      context.addIssue({ code: 'custom', path: [name], message });
  });

/** Report names that a list contains twice. */
const namedOnce = (rows: readonly { name: string }[], context: z.RefinementCtx): void => {
  const seen = new Set<string>();
  for (const [index, { name }] of rows.entries()) {
    if (seen.has(name))
      context.addIssue({ code: 'custom', path: [index, 'name'], message: 'is named twice' });
    seen.add(name);
  }
};

const upload = { sha256: Sha256, format, updated_at: RecordedTime, version: number };

/** `project.json`: the project itself. */
export const ProjectDocument = z.strictObject({
  project_name: AnyProjectName,
  project_description: AnyProjectDescription,
  project_type: ProjectType,
  project_task: ProjectTask,
  criterion: Criterion.extend({ name: CriterionName }).strict().nullable(),
  tags: ProjectTags.nullable(),
  rules: RunRules.optional(),
  views: TableViews.optional(),
  /** Number of an experiment. */
  baseline: number.optional(),
  environment: environmentOf({ updated_at: RecordedTime, version: number }).nullable(),
  /** The variables that are not secret. */
  variables: z
    .array(
      z.strictObject({
        name: VariableName,
        value: VariableValue,
        created_at: RecordedTime,
        updated_at: RecordedTime,
        version: number,
      }),
    )
    .superRefine((variables, context) => {
      namedOnce(variables, context);
      const message = faultOfAll(variables.map(({ name, value }) => [name, Buffer.byteLength(value)]));
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    }),
  /** The current source. */
  source: z.strictObject(upload).nullable(),
  /** The current versions of the data sets. */
  datasets: z.array(z.strictObject({ name: FileId, ...upload })).superRefine(namedOnce),
});
export type ProjectDocument = z.infer<typeof ProjectDocument>;

/** `configs/<config_id>/config.json`. Each kept version is a file next to it. */
export const ConfigDocument = z.strictObject({
  format: z.enum(['yaml', 'json', 'toml']),
  created_at: RecordedTime,
  updated_at: RecordedTime,
  version: number,
  versions_before: whole,
});
export type ConfigDocument = z.infer<typeof ConfigDocument>;

/** Fields of an experiment from people and programs. Their texts contain references. */
const FieldsDocument = z.strictObject({
  name: z.string().max(1000),
  note: long.nullable(),
  tags: texts,
  params: texts,
  git: Git.strict().nullable(),
  datasets: z.array(DatasetInput.omit({ texts: true }).strict()).optional(),
  models_read: z.array(ModelLink.strict()).optional(),
  models_made: z.array(ModelLink.strict()).optional(),
  updated_at: RecordedTime,
});

/** Size of a job, per node. */
const sizeOfJob = {
  vcpus: range(sizeRange.vcpus),
  memory: wholeRange(sizeRange.memory),
  gpus: wholeRange(sizeRange.gpus),
  nodes: wholeRange(sizeRange.nodes),
  timeout: wholeRange(sizeRange.timeout),
  environment: environmentOf({ version: whole }),
};

/** Size of an experiment that a client recorded. It has no job. */
const noJob = {
  vcpus: z.literal(0),
  memory: z.literal(0),
  gpus: z.literal(0),
  nodes: z.literal(1),
  timeout: z.literal(0),
  environment: z.strictObject({
    entry_point_command: z.literal(emptyExperiment.environment.entry_point_command),
    env_type: z.literal(emptyExperiment.environment.env_type),
    dependencies: z.literal(emptyExperiment.environment.dependencies),
    version: z.literal(emptyExperiment.environment.version),
  }),
};

const experiment = {
  /** Name of the owner; null after that user was deleted. */
  user: line(64).nullable(),
  status: JobStatus,
  status_reason: z.string().max(20_000).nullable(),
  attempt: whole,
  attempts: z.array(Attempt.strict()).max(maxAttempts),
  capacity: Capacity.optional(),
  capacity_type: CapacityType.optional(),
  estimates: z.strictObject({ spot: amount, 'on-demand': amount }).optional(),
  created_at: RecordedTime,
  started_at: Timestamp.nullable(),
  stopped_at: Timestamp.nullable(),
  cancel_requested_at: Timestamp.nullable(),
  exit_code: z.number().int().nullable(),
  signal: z.string().max(100).nullable(),
  limits: SizeLimits.strict().nullable(),
  begun_at: Timestamp.nullable(),
  config_id: FileId.nullable(),
  config_version: whole.nullable(),
  config_sha256: Sha256.nullable(),
  source_sha256: Sha256.nullable(),
  source_size: whole,
  dataset: FileId.nullable(),
  dataset_sha256: Sha256.nullable(),
  dataset_is_archive: z.boolean(),
  lock_hash: z.string().max(200).nullable(),
  environment_cache: z.enum(['hit', 'miss', 'none']).nullable(),
  saved_seconds: amount.nullable(),
  criterion: Criterion.extend({ name: CriterionName, own: z.boolean().optional() }).strict(),
  best: Best.extend({
    criterion: CriterionName,
    metric: AnyTrackedName.optional(),
    value: amount,
    step: amount.nullable(),
  })
    .strict()
    .nullable(),
  rules: z
    .array(RecordedRule)
    .max(2 * maxRules)
    .optional(),
  /** From releases that ranked an experiment before it was read. */
  metric_names: z.array(AnyTrackedName).max(1000).optional(),
  /** Numbers of experiments. */
  rerun_of: number.nullable(),
  continues_from: number.nullable(),
  recorded_by: number.optional(),
  overrides: RecordedOverrides.nullable(),
  cost_estimate: amount.nullable(),
  fields: FieldsDocument.nullable(),
};

/** `experiments/<number>/experiment.json`. */
const Trained = z.strictObject({ kind: ExperimentKind.exclude(['logged']), ...experiment, ...sizeOfJob });
const Logged = z.strictObject({ kind: ExperimentKind.extract(['logged']), ...experiment, ...noJob });
export const ExperimentDocument = z.discriminatedUnion('kind', [Trained, Logged]);
export type ExperimentDocument = Omit<z.infer<typeof Trained>, 'kind'> & {
  kind: z.infer<typeof ExperimentKind>;
};

/** `models/<number>/model.json`: a model that an MLflow client logged. Its texts contain references. */
export const ModelDocument = z.strictObject({
  name: z.string().max(1000),
  model_type: long,
  status: LoggedModelStatus,
  source_experiment: number.nullable(),
  folder: z.string().max(1000).optional(),
  params: texts,
  tags: texts,
  metrics: z.array(ModelMetric.extend({ value: TableNumberText }).strict()).max(10_000),
  created_at: RecordedTime,
  updated_at: RecordedTime,
});
export type ModelDocument = z.infer<typeof ModelDocument>;

const versionNumber = z.number().int().min(1).max(999_999_999);
const alias = z
  .string()
  .min(1)
  .max(maxAlias)
  .regex(aliasPattern)
  .refine((value) => !versionAlias.test(value) && value.toLowerCase() !== newestAlias);

/** `registry/<number>/model.json`: a registered model with versions from the project. */
export const RegisteredDocument = z.strictObject({
  name: z
    .string()
    .max(maxRegisteredName)
    .refine((name) => name.trim() !== '' && !refusedInName.test(name)),
  description: long,
  tags: texts,
  /** Version numbers by alias, for versions in the archive. */
  aliases: z.record(alias, versionNumber),
  created_at: RecordedTime,
  updated_at: RecordedTime,
});
export type RegisteredDocument = z.infer<typeof RegisteredDocument>;

/** One line of `registry/<number>/versions.ndjson`. The lines are sorted by number. */
export const VersionDocument = z.strictObject({
  number: versionNumber,
  description: long,
  /** Name of the user who created it. */
  user: line(64),
  source: long.refine((source) => source.startsWith('models:/') || isRemoteAddress(source)),
  location: long.refine((location) => isRemoteAddress(location) && isPlainAddress(location)),
  run_id: long,
  run_link: long,
  model_id: long,
  stage: z.enum(versionStages),
  tags: texts,
  created_at: RecordedTime,
  updated_at: RecordedTime,
});
export type VersionDocument = z.infer<typeof VersionDocument>;

/** `reports/<number>/report.json`: a page of the project. Its texts contain references. */
export const ReportDocument = z.strictObject({
  title: ReportTitle,
  text: long,
  /** Data of frozen blocks, in the order of the blocks. */
  frozen: z
    .array(
      z.strictObject({
        /** Number of the first block with its lines, from 1. */
        block: number,
        at: RecordedTime,
        /** What the block shows, as JSON. */
        data: long,
      }),
    )
    .max(maxBlocks),
  created_at: RecordedTime,
  updated_at: RecordedTime,
});
export type ReportDocument = z.infer<typeof ReportDocument>;

/**
 * `schedules/<number>/schedule.json`. The configuration of its runs is a file next to it. What came of its times is not in
 * the archive: they belong to the deployment that kept them.
 */
export const ScheduleDocument = z.strictObject({
  name: ScheduleName,
  cron: CronText,
  // Versions of Node differ in how they spell a zone.
  zone: z.string().refine((zone) => ZoneName.safeParse(zone).success, 'is not a time zone'),
  overlap: Overlap,
  budget: ScheduleBudget.nullable(),
  rules: RunRules.optional(),
  inputs: z
    .strictObject({
      kind: TrainingKind,
      ...sizeOfJob,
      capacity: Capacity.optional(),
      config_id: FileId,
      config_version: whole,
      config_sha256: Sha256,
      source_sha256: Sha256.nullable(),
      source_size: whole,
      dataset: FileId.nullable(),
      dataset_sha256: Sha256.nullable(),
      dataset_is_archive: z.boolean(),
    })
    // Only the kind tells the service that a job needs the cluster.
    .superRefine(({ kind, nodes }, context) => {
      const is = nodes > 1 ? 'train-remote' : 'train';
      if (kind !== is)
        context.addIssue({ code: 'custom', path: ['kind'], message: `must be ${is} for ${nodes} nodes` });
    }),
  created_at: RecordedTime,
});
export type ScheduleDocument = z.infer<typeof ScheduleDocument>;
