import { type ConfigCollection, type ConfigMapping, type ConfigValue, isMapping } from '../config-value.ts';

export interface Stage {
  /** Everything other stages may call it by, the first for people. */
  names: readonly string[];
  body: ConfigMapping;
}

export interface Stages {
  type: string;
  list: readonly Stage[];
  /** Listed stages and steps run in the order of the list by default. */
  ordered: boolean;
}

/** Where the groups stand: at the top, or as in Argo, Tekton and Kubeflow. */
const homes: readonly (readonly string[])[] = [
  ...[
    [],
    ['pipeline'],
    ['workflow'],
    ['dag'],
    ['root', 'dag'],
    ['spec'],
    ['spec', 'pipelineSpec'],
    ['spec', 'dag'],
    ['runs'],
  ],
  ['pipelineSpec', 'root', 'dag'],
];

const groupTypes: ReadonlyMap<string, string> = new Map([
  ['stages', 'stage'],
  ['jobs', 'job'],
  ['tasks', 'task'],
  ['steps', 'step'],
]);

/** The stages of a document, or undefined when it describes none. */
export function findStages(data: ConfigCollection): Stages | undefined {
  if (Array.isArray(data)) return asStages('step', data);
  const templates = memberAt(data, ['spec', 'templates']);
  const argo = Array.isArray(templates)
    ? templates.map((template) => (isMapping(template) ? template['dag'] : undefined))
    : [];
  for (const place of [...homes.map((home) => memberAt(data, home)), ...argo]) {
    if (!isMapping(place)) continue;
    for (const [group, type] of groupTypes) {
      const stages = asStages(type, place[group]);
      if (stages !== undefined) return stages;
    }
  }
  return asStages('step', data['pipeline']);
}

function asStages(type: string, group: ConfigValue | undefined): Stages | undefined {
  const list = Array.isArray(group)
    ? group.map(listed)
    : isMapping(group)
      ? Object.entries(group).map(named)
      : [];
  const stages = list.filter((stage) => stage !== undefined);
  // `steps` and `stages` are also step counts and widths: only what runs or depends on something is a pipeline.
  const isPipeline = stages.length > 0 && stages.length === list.length && stages.some(runs);
  return isPipeline
    ? { type, list: stages, ordered: Array.isArray(group) && (type === 'step' || type === 'stage') }
    : undefined;
}

const nameKeys: readonly string[] = ['id', 'name', 'stage', 'step', 'job', 'task'];

function listed(value: ConfigValue): Stage | undefined {
  if (!isMapping(value)) return undefined;
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length === 1 && only !== undefined && isMapping(only[1]) && !runs({ names: [], body: value }))
    return named(only);
  const names = nameKeys.map((key) => value[key]).filter((name) => typeof name === 'string' && name !== '');
  return { names: names.map(String), body: bodyOf(value) };
}

const commandKeys: readonly string[] = [
  'cmd',
  'command',
  'run',
  'script',
  'uses',
  'foreach',
  'image',
  'steps',
  'runs-on',
];

/** Members that name what a stage waits for. */
export const dependencyKeys: readonly string[] = [
  ...['deps', 'depends', 'depends_on', 'dependsOn', 'dependencies', 'needs', 'requires', 'upstream'],
  ...['after', 'runAfter', 'run_after', 'dependentTasks', 'inputs', 'input'],
];

/** Members that name what a stage makes. Metrics and plots are files in DVC, and other stages read them. */
export const outputKeys: readonly string[] = [
  ...['outs', 'outs_no_cache', 'outs_persist', 'outputs', 'output', 'produces', 'artifacts'],
  ...['metrics', 'metrics_no_cache', 'plots'],
];

function runs({ body }: Stage): boolean {
  return [...commandKeys, ...dependencyKeys, ...outputKeys].some((key) => body[key] !== undefined);
}

function named([name, value]: [string, ConfigValue]): Stage | undefined {
  return isMapping(value) ? { names: [name], body: bodyOf(value) } : undefined;
}

/** DVC puts the stage that it repeats `foreach` item under `do`. */
function bodyOf(stage: ConfigMapping): ConfigMapping {
  return isMapping(stage['do']) ? { ...stage, ...stage['do'] } : stage;
}

function memberAt(data: ConfigMapping, path: readonly string[]): ConfigValue | undefined {
  return path.reduce<ConfigValue | undefined>(
    (value, key) => (isMapping(value) ? value[key] : undefined),
    data,
  );
}
