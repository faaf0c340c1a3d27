import { type ConfigCollection, type ConfigMapping, type ConfigValue, isMapping } from '../config-value.ts';

export interface Stage {
  /** All names by which other stages may refer to it. The first one is for display. */
  names: readonly string[];
  body: ConfigMapping;
}

export interface Stages {
  type: string;
  list: readonly Stage[];
  /** Whether the stages run in list order by default. */
  ordered: boolean;
}

/** Paths to the stage groups: at the top level, or as in Argo, Tekton and Kubeflow. */
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

/** Find the stages of a document; undefined if it describes none. */
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
  // `steps` and `stages` can also be step counts or widths. A pipeline has a stage that runs something or depends
  // on something.
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

/** Keys that name a stage's dependencies. */
export const dependencyKeys: readonly string[] = [
  ...['deps', 'depends', 'depends_on', 'dependsOn', 'dependencies', 'needs', 'requires', 'upstream'],
  ...['after', 'runAfter', 'run_after', 'dependentTasks', 'inputs', 'input'],
];

/** Keys that name a stage's outputs. In DVC, metrics and plots are files that other stages read. */
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

/** Return a stage's body. DVC puts the body of a `foreach` stage under `do`. */
function bodyOf(stage: ConfigMapping): ConfigMapping {
  return isMapping(stage['do']) ? { ...stage, ...stage['do'] } : stage;
}

function memberAt(data: ConfigMapping, path: readonly string[]): ConfigValue | undefined {
  return path.reduce<ConfigValue | undefined>(
    (value, key) => (isMapping(value) ? value[key] : undefined),
    data,
  );
}
