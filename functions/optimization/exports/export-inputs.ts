import { createHash } from 'node:crypto';
import {
  badRequest,
  faultsOf,
  type ParameterFault,
  ServiceError,
} from '../../../shared/core/service-error.ts';
import type { Settings } from '../../../shared/core/settings.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import type { ModelExport } from '../../../shared/data/experiments/model-export.ts';
import { findModel } from '../../../shared/data/models/model.ts';
import type { Project } from '../../../shared/data/projects/project.ts';
import { findDataset, type Upload } from '../../../shared/data/projects/upload.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import {
  type ExportSettings,
  exportCommand,
  exportedFolder,
  settingsName,
} from '../../../shared/exports/program/export-settings.ts';
import { exporterFiles } from '../../../shared/exports/program/exporter-files.ts';
import { requireBudget } from '../../../shared/jobs/budget.ts';
import { costEstimate } from '../../../shared/jobs/cost.ts';
import { allowedSize, fargateSize, inBody } from '../../../shared/jobs/size.ts';
import { checkQuantization, type QuantizeRequest } from '../../../shared/onnx/strategies/quantize-request.ts';
import { usualPrecision } from '../../../shared/onnx/strategies/quantize-strategies.ts';
import { datasetFields, type TrainingInputs } from '../../../shared/training/record-experiment.ts';
import type { ExportRequest } from './export-request.ts';
import { resolveRevision } from './resolve-revision.ts';

/**
 * Return the inputs of an experiment that exports a model.
 * @throws ServiceError 400 that names all faults, `not-found` for a missing experiment, `conflict` if a name is taken
 */
export async function exportInputs(
  request: ExportRequest,
  { project_id }: Project,
  {
    records,
    keys,
    settings,
  }: { records: TableReader<'records'>; keys: TableReader<'accounts'>; settings: Settings },
): Promise<TrainingInputs> {
  const { source, task = null, data, trust_remote_code, budget } = request;
  if ('experiment_id' in source) await requireExperiment(records, project_id, source.experiment_id);
  const model_name = request.name ?? nameOf(source);
  const checked = await checkExport({ ...request, name: model_name }, project_id, { records, settings });
  const { compression, size, timeout, dataset } = checked;
  const model_export: ModelExport = {
    source: 'hf' in source ? { hf: source.hf, revision: source.revision ?? null, commit: null } : source,
    model_name,
    result_name: resultName(model_name),
    strategy_id: null,
    reason: null,
    compression,
    budget: budget ?? null,
  };
  if ('hf' in model_export.source && 'hf' in source)
    model_export.source.commit = await resolveRevision(source, project_id, { records, keys, settings });
  const written: ExportSettings = {
    source: writtenSource(model_export, settings),
    task,
    texts: data ?? null,
    trust_remote_code,
  };
  const content = Buffer.from(`${JSON.stringify(written, undefined, 2)}\n`);
  return {
    kind: 'train',
    ...size,
    nodes: 1,
    timeout,
    config_id: settingsName,
    config_version: 1,
    config_sha256: createHash('sha256').update(content).digest('hex'),
    content,
    source_sha256: null,
    source_size: 0,
    ...datasetFields(dataset),
    environment: {
      entry_point_command: exportCommand,
      env_type: 'python',
      dependencies: (await exporterFiles()).requirements,
      version: 0,
    },
    rerun_of: null,
    overrides: null,
    continues_from: null,
    git: null,
    budget,
    tracked: { name: `export ${model_name}`.slice(0, longestName) },
    model_export,
  };
}

/**
 * Check what a request for an export says besides its source.
 * @param project_id undefined for a project that is still to be created
 * @throws ServiceError 400 that names all faults, `conflict` if its only one is that a name is taken
 */
export async function checkExport(
  { data, budget, name, ...request }: Omit<ExportRequest, 'source'>,
  project_id: string | undefined,
  { records, settings }: { records: TableReader<'records'>; settings: Settings },
): Promise<Choices & { dataset: Upload | undefined; cost_estimate: number | null }> {
  const { faults, choices } = choicesOf(request, settings);
  const { size, timeout } = choices ?? {};
  const cost_estimate =
    size && timeout ? costEstimate(settings.prices, { ...size, nodes: 1, timeout, isOnNodes: false }) : null;
  if (timeout !== undefined)
    faults.push(
      ...faultsOf(() => requireBudget(budget ?? null, { cost_estimate, timeout }, 'body', 'budget')),
    );
  const dataset =
    data === undefined || project_id === undefined ? undefined : await findDataset(records, project_id, data);
  const unread = data === undefined ? undefined : faultOfTexts(data, dataset);
  if (unread !== undefined) faults.push({ in: 'body', name: 'data', message: unread });
  const taken = name === undefined ? undefined : await takenNames(records, name);
  if (taken !== undefined && faults.length === 0)
    throw new ServiceError('conflict', taken.message, { errors: [taken] });
  if (choices === undefined || faults.length > 0)
    throw badRequest(taken === undefined ? faults : [...faults, taken]);
  return { ...choices, dataset, cost_estimate };
}

/** Where the program reads the model: the Hub at a commit, if that is known already, or the folder beside it. */
function writtenSource(
  { source }: ModelExport,
  { modelHub }: Pick<Settings, 'modelHub'>,
): ExportSettings['source'] {
  if (!('hf' in source)) return { folder: exportedFolder };
  return { hf: source.hf, revision: source.commit ?? source.revision, hub: modelHub };
}

/** Characters of an experiment's name. */
const longestName = 128;

/** Size and timeout of an export that asks for none: PyTorch loads the model, and traces it. */
const usual = { vcpus: 2, memory: 8192, timeout: 3600 };

interface Choices {
  size: ReturnType<typeof allowedSize>;
  /** Seconds. */
  timeout: number;
  compression: QuantizeRequest;
}

/** Return the size of the export and the compression that follows, or all faults. */
function choicesOf(
  {
    for: target,
    max_loss,
    vcpus,
    memory,
    timeout,
  }: Pick<ExportRequest, 'for' | 'max_loss' | 'vcpus' | 'memory' | 'timeout'>,
  settings: Settings,
): { choices?: Choices; faults: ParameterFault[] } {
  const seconds = timeout ?? Math.min(usual.timeout, settings.limits.jobSeconds);
  const isUsual = vcpus === undefined && memory === undefined;
  const complete = () => fargateSize(isUsual ? { ...usual } : { vcpus, memory });
  const demand = {
    ...{ kind: 'train' as const, timeout: seconds, nodes: 1, gpus: 0 },
    capacity: undefined,
  };
  const sizes: ReturnType<typeof allowedSize>[] = [];
  const faults: ParameterFault[] = [
    ...faultsOf(() => sizes.push(inBody(() => allowedSize(complete, demand, settings)))),
  ];
  const checked = checkQuantization({
    strategy: 'auto',
    precision: Number(usualPrecision('auto')),
    ...(target !== undefined && { for: target }),
    ...(max_loss !== undefined && { max_loss }),
  });
  if ('faults' in checked) faults.push(...checked.faults.map((fault) => ({ in: 'body' as const, ...fault })));
  const [size] = sizes;
  if (size === undefined || !('request' in checked)) return { faults };
  return { choices: { size, timeout: seconds, compression: checked.request }, faults };
}

/** Return why a data set cannot be the texts of an export; undefined if it can. */
function faultOfTexts(name: string, dataset: Upload | undefined): string | undefined {
  if (dataset === undefined) return `must be a data set of the project: there is no data set ${name}`;
  return dataset.format === 'file' ? undefined : 'must be a text file with one text a line, no archive';
}

/** Return the name of a model of which the request names none: the last part of its repository or folder. */
function nameOf(source: ExportRequest['source']): string {
  const path = 'hf' in source ? source.hf : source.path;
  const last = path.split('/').at(-1) ?? '';
  const name = last.replaceAll(/[^A-Za-z0-9._-]/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  return name === '' ? 'model' : name.slice(0, 60);
}

/** Return the fault of a name whose models exist already. */
async function takenNames(
  records: TableReader<'records'>,
  model_name: string,
): Promise<ParameterFault | undefined> {
  const taken: string[] = [];
  for (const name of [model_name, resultName(model_name)])
    if ((await findModel(records, name)) !== undefined) taken.push(name);
  if (taken.length === 0) return undefined;
  const message = `${taken.join(' and ')} ${taken.length === 1 ? 'is a model' : 'are models'} already; choose another name.`;
  return { in: 'body', name: 'name', message };
}

const resultName = (model_name: string): string => `${model_name}-small`;
