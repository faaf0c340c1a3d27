import { Readable } from 'node:stream';
import type * as z from 'zod';
import { endpoint as putArtifact } from '../../../functions/experiments/artifacts/put-artifact.endpoint.ts';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import { reportFields } from '../../../functions/projects/reports/report.ts';
import { endpoint as trainRemote } from '../../../functions/projects/training/train-project-remote.endpoint.ts';
import { endpoint as putDataset } from '../../../functions/projects/uploads/put-dataset.endpoint.ts';
import { endpoint as putVariable } from '../../../functions/projects/variables/put-variable.endpoint.ts';
import type { ObjectWriter } from '../../../shared/aws/objects.ts';
import type { ProjectImport } from '../../../shared/data/projects/project-archives.ts';
import { alias, description, modelName, tag } from '../../../shared/mlflow/registry/rules.ts';
import { Pass } from '../../../shared/project-archive/archive-limits.ts';
import { canonicalJson } from '../../../shared/project-archive/canonical-json.ts';
import {
  ConfigDocument,
  ExperimentDocument,
  ModelDocument,
  ProjectDocument,
  RegisteredDocument,
  ReportDocument,
  ScheduleDocument,
  VersionDocument,
} from '../../../shared/project-archive/documents.ts';
import { checkArchive } from '../../../shared/project-archive/import/check-archive.ts';
import { openArchive } from '../../../shared/project-archive/import/open-archive.ts';
import { ScheduleSpec } from '../../../shared/schedules/schedule-spec.ts';
import { testService } from '../../support/service.ts';
import { archiveLab, exported } from './archive-lab.ts';
import { recordProject } from './archived-project.ts';
import { leavesOf } from './document-fields.ts';
import { type ArchivedFiles, filesOf, packed } from './repacked-archive.ts';

export const service = await testService();
export const lab = archiveLab(service, (await service.user('developer')).user);
const original = await exported(
  lab,
  await recordProject(lab, {
    description: 'Reads digits',
    configs: { 'train.yaml': ['lr: 0.1\n'] },
    hasEnvironment: true,
    source: Buffer.from('source'),
    datasets: { digits: Buffer.from('digits') },
    experiments: [true, false].map((isTrained) => ({
      isTrained,
      tags: { stage: 'baseline' },
      note: '',
      points: [{ name: 'loss', value: 1, step: 1, time: Date.parse('2026-01-02T03:04:05.006Z') }],
      lines: ['printed'],
      artifacts: { 'a.txt': Buffer.from('a') },
      hasParent: false,
    })),
    models: [{ MLmodel: Buffer.from('flavors: {}') }],
    hasRegistry: true,
    hasPages: true,
  }),
);

export const at = '2026-02-03T04:05:06.007Z';
export const sha256 = 'a'.repeat(64);
const dataset = {
  name: 'd',
  digest: '1',
  source_type: 'http',
  source: 'https://example/',
  schema: '{}',
  profile: '{}',
  tags: { a: 'b' },
};
type Json = Readonly<Record<string, unknown>>;

/** Fields that the recorded project leaves out, so that each field of each document is there once. */
const further: Readonly<Record<string, (document: Json) => Json>> = {
  'project.json': (document) => ({
    ...document,
    criterion: { name: 'loss', goal: 'minimize' },
    rules: [{ nan: 'loss', do: 'stop' }],
    views: [{ name: 'best', address: 'sort=-best' }],
    baseline: 1,
  }),
  'experiments/000001/experiment.json': (document) => ({
    ...document,
    status_reason: 'said',
    attempts: [
      { attempt: 1, started_at: at, stopped_at: at, exit_code: 0, reason: 'said', capacity_type: 'spot' },
    ],
    capacity: 'spot-then-on-demand',
    capacity_type: 'on-demand',
    estimates: { spot: 0.03, 'on-demand': 0.1 },
    cancel_requested_at: at,
    exit_code: 0,
    signal: 'SIGTERM',
    limits: { memory: 'enforced', vcpus: 'enforced', separation: 'user' },
    begun_at: at,
    source_sha256: sha256,
    dataset: 'digits',
    dataset_sha256: sha256,
    lock_hash: 'a',
    environment_cache: 'hit',
    saved_seconds: 1,
    criterion: { name: 'accuracy', goal: 'maximize', own: true },
    best: { criterion: 'accuracy', metric: 'acc', value: 0.5, step: 1 },
    rules: [{ rule: { nan: 'loss', do: 'stop' }, of: 'run', met: { at, reason: 'said' } }],
    metric_names: ['acc'],
    rerun_of: 1,
    continues_from: 1,
    recorded_by: 1,
    overrides: { lr: 0.1 },
    cost_estimate: 0.1,
    fields: {
      ...(document['fields'] as Json),
      git: { commit: 'abc', branch: 'main', dirty: true },
      datasets: [dataset],
      models_read: [{ model_id: 'm', step: 0 }],
      models_made: [{ model_id: 'm', step: 0 }],
    },
  }),
  'models/000001/model.json': (document) => ({
    ...document,
    folder: 'models/m',
    params: { a: 'b' },
    metrics: (document['metrics'] as Json[]).map((one) => ({
      ...one,
      dataset_name: 'd',
      dataset_digest: '1',
    })),
  }),
};
export const whole: ArchivedFiles = filesOf(original).map(([path, bytes, claimed = {}]) => {
  const change = further[path];
  return change === undefined
    ? [path, bytes, claimed]
    : [path, Buffer.from(canonicalJson(change(JSON.parse(bytes.toString('utf8'))))), claimed];
});

/** What keeps these files from being imported; empty where nothing does. Nothing is stored. */
export async function faultsOf(files: ArchivedFiles): Promise<readonly string[]> {
  const archive = packed(files);
  const from = (first: number, last = archive.length - 1) =>
    Readable.from([archive.subarray(first, last + 1)]);
  const objects = {
    read: async (_: string, { first = 0, last }: { first?: number; last?: number } = {}) => from(first, last),
    open: async (_: string, { from: first }: { from: number }) => ({ body: from(first) }),
    putStream: async (_: string, bytes: Readable) => {
      for await (const chunk of bytes) void chunk;
    },
  } as unknown as ObjectWriter;
  const deployment = { packageIndexes: [], trustedImages: undefined };
  const context = {
    ...lab,
    objects,
    accounts: service.accounts,
    newId: () => '',
    now: () => new Date(),
    projectBytes: 1e9,
    deployment,
  };
  const begun = { import_id: '0'.repeat(26), project_id: '0'.repeat(26), done: 0 } as ProjectImport;
  try {
    await checkArchive(
      context,
      new Pass(begun, async (previous) => previous),
      await openArchive(objects, 'archive', archive.length),
      () => true,
    );
    return [];
  } catch (error) {
    if (error instanceof Error && 'faults' in error) return error.faults as string[];
    throw error;
  }
}

/** A document with a value at the place of a field: the first of a list, the first name (`#`) or value of a record. */
function withField(document: unknown, [part = '', ...rest]: readonly string[], value: unknown): unknown {
  if (part === '') return value;
  if (Array.isArray(document))
    return document.map((one, index) => (index === 0 ? withField(one, rest, value) : one));
  const record = document as Json;
  const [first = ''] = Object.keys(record);
  if (part === '#') {
    const { [first]: kept, ...others } = record;
    return { ...others, [String(value)]: kept };
  }
  const name = part === '*' ? first : part;
  if (!Object.hasOwn(record, name)) throw new Error(`no field ${name} among ${Object.keys(record)}`);
  return { ...record, [name]: withField(record[name], rest, value) };
}

export const documents = {
  project: ['project.json', ProjectDocument],
  config: ['configs/train.yaml/config.json', ConfigDocument],
  experiment: ['experiments/000001/experiment.json', ExperimentDocument],
  model: ['models/000001/model.json', ModelDocument],
  registered: ['registry/000001/model.json', RegisteredDocument],
  version: ['registry/000001/versions.ndjson', VersionDocument],
  report: ['reports/000001/report.json', ReportDocument],
  schedule: ['schedules/000001/schedule.json', ScheduleDocument],
} as const;
export type Document = keyof typeof documents;

/** The files with a value in a field of a document, `project.criterion.name` say. */
export function withValue(field: string, value: unknown): ArchivedFiles {
  const [name = '', ...parts] = field.split('.');
  const [path] = documents[name as Document];
  return whole.map(([other, bytes, claimed = {}]) => {
    if (other !== path) return [other, bytes, claimed];
    const [line = '', ...lines] = bytes.toString('utf8').trimEnd().split('\n');
    const first = canonicalJson(withField(JSON.parse(line), parts, value));
    return [other, Buffer.from(name === 'version' ? `${[first, ...lines].join('\n')}\n` : first), claimed];
  });
}

export const long = (length: number) => 'x'.repeat(length + 1);
const { query: ofProject } = createProject.input;
const { body: change } = updateProject.input;
const { query: ofEnvironment } = putEnvironment.input;
const { path: ofVariable, body: variable } = putVariable.input;
const { query: ofTraining } = trainRemote.input;
const { body: logged } = createExperiment.input;
const shapeOf = (body: { schema: z.ZodType }) => (body.schema as z.ZodObject).shape;

const noRules = [
  [{}],
  [{ nan: '', do: 'stop' }],
  [{ nan: 'loss', silent: '30m', do: 'stop' }],
  [{ silent: 'long', do: 'stop' }],
  Array.from({ length: 41 }, () => ({ nan: 'loss', do: 'stop' })),
];

type Refused = readonly [values: readonly unknown[], door?: z.core.$ZodType];
/** Values that no field takes; with the schema of a request, ones that this refuses, too. */
export const refused: Readonly<Record<string, Refused>> = {
  'project.project_name': [['', ' ', long(500)], ofProject.shape['project-name']],
  'project.project_description': [[long(20_000)], ofProject.shape['project-description']],
  'project.project_type': [['', 'a\nb', long(64)], ofProject.shape['project-type']],
  'project.project_task': [['', '\u202e', long(64)], ofProject.shape['project-task']],
  'project.criterion.name': [['', long(128)], shapeOf(change)['criterion']],
  'project.criterion.goal': [['most'], shapeOf(change)['criterion_goal']],
  'project.rules': [['x', ...noRules], shapeOf(change)['rules']],
  'project.views.*.name': [['', 'a\nb', long(64)]],
  'project.views.*.address': [['a b', long(1500)]],
  'project.tags.#': [['', '../a', 'a;b', long(250)], tag.shape.key],
  'project.tags.*': [[long(20_000)]],
  'project.environment.entry_point_command': [['', 'echo $HOME', 'a "b', long(4000)]],
  'project.environment.env_type': [['shell'], ofEnvironment.shape.env_type],
  'project.environment.dependencies': [['numpy ==', '--index-url http://evil.example', long(4000)]],
  'project.variables.*.name': [['LD_PRELOAD', 'PATH', '', 'a b', 'A=B', long(128)], ofVariable.shape.name],
  'project.variables.*.value': [['\u0000', long(16 * 1024)], shapeOf(variable)['value']],
  'project.datasets.*.name': [['', '../a', long(128)], putDataset.input.path.shape.dataset],
  'experiment.vcpus': [[0, 0.1, 1000, -1], ofTraining.shape.vcpus],
  'experiment.memory': [[0, 511, 1e9, 512.5], ofTraining.shape.memory],
  'experiment.gpus': [[-1, 9, 0.5], ofTraining.shape.gpus],
  'experiment.nodes': [[0, 65, 1.5], ofTraining.shape.nodes],
  'experiment.timeout': [[0, -1, 1e9, 0.5], ofTraining.shape.timeout],
  'experiment.environment.entry_point_command': [['', 'echo $HOME', long(4000)]],
  'experiment.environment.env_type': [['shell'], ofEnvironment.shape.env_type],
  'experiment.environment.dependencies': [['numpy ==']],
  'experiment.config_id': [['', '../a', 'a b'], ofTraining.shape.config],
  'experiment.dataset': [['', '../a'], ofTraining.shape.dataset],
  'experiment.criterion.name': [['', long(128)], shapeOf(change)['criterion']],
  'experiment.criterion.goal': [['most'], shapeOf(change)['criterion_goal']],
  'experiment.best.criterion': [['', long(128)]],
  'experiment.best.metric': [['', '\u0000', long(250)]],
  'experiment.rules': [noRules.map((rules) => rules.map((rule) => ({ rule, of: 'run', met: null })))],
  'experiment.metric_names.*': [['', long(250)]],
  'experiment.overrides.#': [['', long(500)]],
  'experiment.overrides.*': [[[1], { a: 1 }, long(4000)]],
  'experiment.fields.name': [[long(250)], shapeOf(logged)['name']],
  'experiment.fields.note': [[long(10_000)], shapeOf(logged)['note']],
  'experiment.fields.tags.#': [['', '\u0000', long(250)]],
  'experiment.fields.tags.*': [[long(8000)]],
  'experiment.fields.params.#': [['', ' ', long(250)]],
  'experiment.fields.params.*': [[long(6000)]],
  'experiment.fields.git.commit': [['', long(64)]],
  'experiment.fields.git.branch': [['', long(250)]],
  'experiment.fields.git.dirty': [['yes']],
  'experiment.fields.datasets.*.name': [['', long(500)]],
  'experiment.fields.datasets.*.digest': [['', long(36)]],
  'experiment.fields.datasets.*.source_type': [['']],
  'experiment.fields.datasets.*.source': [['', long(65_535)]],
  'experiment.fields.datasets.*.tags.#': [['', long(255)]],
  'experiment.fields.datasets.*.tags.*': [[long(500)]],
  'experiment.fields.models_read.*.model_id': [['']],
  'experiment.fields.models_read.*.step': [[0.5]],
  'experiment.fields.models_made.*.model_id': [['']],
  'experiment.fields.models_made.*.step': [[0.5]],
  'model.name': [['a/b', 'a:b', long(500)]],
  'model.folder': [['../a', '/a', 'a\\b'], putArtifact.input.path.shape.path],
  'model.params.#': [['']],
  'model.params.*': [[long(6000)]],
  'model.tags.#': [['']],
  'model.tags.*': [[long(6000)]],
  'model.metrics.*.name': [['', '\u0000', long(250)]],
  'model.metrics.*.step': [[0.5]],
  'registered.name': [['', ' ', 'a/b', long(256)], modelName],
  'registered.description': [[long(5000)], description],
  'registered.tags.#': [['', '../a', long(250)], tag.shape.key],
  'registered.tags.*': [[long(100_000)], tag.shape.value],
  'registered.aliases.#': [['', 'a b', 'v4', 'latest', long(255)], alias],
  'registered.aliases.*': [[0, 99]],
  'version.description': [[long(5000)], description],
  'version.tags.#': [['', '../a', long(250)], tag.shape.key],
  'version.tags.*': [[long(100_000)], tag.shape.value],
  'version.source': [['/etc/passwd', 'file:///etc/passwd']],
  'version.location': [['/etc/passwd', 'https://example/../x']],
  'version.stage': [['Secret']],
  'version.user': [['', 'a\nb', long(64)]],
  'version.number': [[0, 0.5, 1e9]],
  'report.title': [['', 'a\nb', long(200)], reportFields.title],
  'report.text': [['~', '```mps poem\n```', long(64 * 1024)]],
  'report.frozen.*.block': [[0, 2, 9, 0.5]],
  'report.frozen.*.data': [['', '{}', '{"kind":"value"}', '['.repeat(100_000)]],
  'schedule.name': [['', 'a\nb', long(100)], ScheduleSpec.shape.name],
  'schedule.cron': [['* * * * *', '0 3 * *', '0 25 * * *'], ScheduleSpec.shape.cron],
  'schedule.zone': [['', 'Mars/Olympus'], ScheduleSpec.shape.zone],
  'schedule.overlap': [['both'], ScheduleSpec.shape.overlap],
  'schedule.budget': [[0, -1, 1e9], ScheduleSpec.shape.budget],
  'schedule.rules': [['x', ...noRules], ScheduleSpec.shape.rules],
  'schedule.inputs.kind': [['prune']],
  'schedule.inputs.vcpus': [[0, 0.1, 1000, -1]],
  'schedule.inputs.memory': [[0, 511, 1e9, 512.5]],
  'schedule.inputs.gpus': [[-1, 9, 0.5]],
  'schedule.inputs.nodes': [[0, 65, 1.5]],
  'schedule.inputs.timeout': [[0, -1, 1e9, 0.5]],
  'schedule.inputs.environment.entry_point_command': [['', 'echo $HOME', long(4000)]],
  'schedule.inputs.environment.env_type': [['shell']],
  'schedule.inputs.environment.dependencies': [['numpy ==']],
  'schedule.inputs.config_id': [['', '../a', 'a b'], ScheduleSpec.shape.config],
  'schedule.inputs.dataset': [['', '../a'], ScheduleSpec.shape.dataset],
  'schedule.inputs.source_sha256': [['a', sha256]],
};

/** What the service itself writes of what it did, by the kind of its values, and texts of MLflow's clients without bounds of their own. */
const kept: readonly [field: RegExp, values: readonly unknown[]][] = [
  [/(created|updated)_at$/, ['yesterday', 1, '9999-12-31T23:59:59.999Z', '0000-01-01T00:00:00.000Z']],
  [/(_at|\.time)$/, ['yesterday', 1]],
  [/frozen\.\*\.at$/, ['yesterday', '9999-12-31T23:59:59.999Z']],
  [/sha256$/, ['a', 'A'.repeat(64)]],
  [/\.format$/, ['exe']],
  [/\.(kind|status|env_type|environment_cache|capacity(_type)?)$|^experiment\.limits\./, ['UNKNOWN']],
  [/version(s_before)?$|^experiment\.attempt$|source_size$/, [-1, 0.5]],
  [/(rerun_of|continues_from|recorded_by|source_experiment|baseline)$/, [99, 'a']],
  [/(saved_seconds|cost_estimate|estimates\.(spot|on-demand)|best\.(value|step))$/, ['many', 1e300, 1e-300]],
  [/(attempts\.\*\.attempt|exit_code|metrics\.\*\.value)$/, ['many']],
  [/(is_archive|criterion\.own)$/, ['yes']],
  [/^experiment\.(user|signal)$/, [long(200)]],
  [/(reason|lock_hash|model_type|run_id|run_link|model_id|dataset_(name|digest)|schema|profile)$/, [1]],
];

export const fields = Object.entries(documents).flatMap(([name, [, schema]]) =>
  // A rule has one of several conditions, so no rule has each of their fields.
  [...new Set(leavesOf(schema).map((leaf) => `${name}.${leaf.replace(/^rules\..*/, 'rules')}`))],
);
export const valuesOf = (field: string): readonly unknown[] =>
  refused[field]?.[0] ?? kept.find(([pattern]) => pattern.test(field))?.[1] ?? [];
