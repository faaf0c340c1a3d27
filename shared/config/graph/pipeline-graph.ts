import { type ConfigMapping, type ConfigValue, isMapping } from '../config-value.ts';
import { dependencyKeys, outputKeys, type Stage, type Stages } from './find-stages.ts';
import { GraphDraft } from './graph-draft.ts';
import { attributesOf } from './node-attributes.ts';

const notAttributes: ReadonlySet<string> = new Set(['id', 'name', 'do']);

/**
 * Build the graph of stages. An edge leads from a stage to each stage that names it or one of its outputs as a
 * dependency.
 */
export function pipelineGraph({ type, list, ordered }: Stages): GraphDraft {
  const draft = new GraphDraft();
  const byName = new Map<string, string>();
  const outputs = new PipelineOutputs();
  const nodes = list.map((stage, index) => {
    const id = draft.addNode(
      stage.names[0] ?? `${type} ${index + 1}`,
      labelOf(stage, type, index),
      type,
      attributesOf(stage.body, notAttributes),
    );
    return { id, stage };
  });
  for (const { id, stage } of nodes) {
    for (const name of stage.names) if (!byName.has(name)) byName.set(name, id);
    for (const path of outputNames(stage.body)) outputs.add(path, id);
  }
  for (const { id, stage } of nodes) {
    for (const name of dependencyNames(stage.body)) {
      const producer = byName.get(name);
      if (producer !== undefined) draft.connect(producer, id);
      else if (!connectProducers(draft, outputs, id, name)) {
        for (const mentioned of mentionedStages(name)) draft.connect(byName.get(mentioned), id, name);
      }
    }
  }
  const silent = nodes.every(({ stage }) => dependencyKeys.every((key) => stage.body[key] === undefined));
  if (ordered && silent) chain(draft, nodes);
  return draft;
}

/**
 * Most edges of a graph to producers below folders. A folder with thousands of producers and consumers would have
 * millions of edges.
 */
const maxProducersBelow = 20_000;

/**
 * Map of each file to the stage that makes it. As in DVC, a stage that names a path also depends on the maker of a
 * folder above it, or of files below it.
 */
class PipelineOutputs {
  readonly #makers = new Map<string, string>();
  readonly #below = new Map<string, Set<string>>();
  #answeredBelow = 0;

  /** Record an output. The first stage that names it is its maker. */
  add(path: string, stage: string): void {
    if (this.#makers.has(path)) return;
    this.#makers.set(path, stage);
    for (const folder of foldersAbove(path)) {
      const makers = this.#below.get(folder) ?? new Set();
      this.#below.set(folder, makers.add(stage));
    }
  }

  /** Return the stages that make a dependency. Include the asking stage only if it makes exactly this path. */
  producers(path: string, asking: string): string[] {
    const maker = this.#makers.get(path);
    if (maker !== undefined) return [maker];
    for (const folder of foldersAbove(path)) {
      const above = this.#makers.get(folder);
      if (above !== undefined) return above === asking ? [] : [above];
    }
    const below = [...(this.#below.get(path) ?? [])].filter((stage) => stage !== asking);
    this.#answeredBelow += below.length;
    return this.#answeredBelow > maxProducersBelow ? [] : below;
  }
}

/** Most characters of a path whose parent folders are compared. Longer paths only match exactly. */
const maxPathLength = 1000;

/** Return the parent folders of a path, the nearest first. */
function foldersAbove(path: string): string[] {
  if (path.length > maxPathLength) return [];
  const folders: string[] = [];
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1))
    folders.push(path.slice(0, slash));
  return folders;
}

function labelOf({ names, body }: Stage, type: string, index: number): string {
  const name = body['name'];
  if (typeof name === 'string' && name !== '') return name;
  const { uses } = body;
  return names[0] ?? (typeof uses === 'string' ? uses : `${type} ${index + 1}`);
}

/** Read the declared outputs of a stage. */
function outputNames(body: ConfigMapping): string[] {
  return namesUnder(body, outputKeys);
}

/** Mappings under these keys hold the stage's own parameters, not its dependencies. */
const parameterKeys: ReadonlySet<string> = new Set(['inputs', 'input']);

function namesUnder(body: ConfigMapping, keys: readonly string[]): string[] {
  const folder = typeof body['wdir'] === 'string' ? body['wdir'] : '';
  const found = keys.flatMap((key) => namesIn(body[key], !parameterKeys.has(key)));
  return found.flatMap((name) =>
    folder === '' ? [plainPath(name)] : [plainPath(`${folder}/${name}`), name],
  );
}

function namesIn(value: ConfigValue | undefined, keysCount: boolean): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value))
    return value.flatMap((item) => (isMapping(item) ? namesOfEntry(item) : namesInScalar(item)));
  if (!isMapping(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    ...(keysCount ? [key] : []),
    ...(isMapping(member)
      ? longForm(member)
      : Array.isArray(member)
        ? member.flatMap(namesInScalar)
        : namesInScalar(member)),
  ]);
}

/** Read the names of a list entry: `{path: x}` in the long form, or `x: {cache: false}` as in DVC. */
function namesOfEntry(entry: ConfigMapping): string[] {
  const names = longForm(entry);
  return names.length > 0 ? names : Object.keys(entry);
}

/** Keys of a long-form dependency that hold its name. */
const nameMembers = [
  'path',
  'job',
  'name',
  'from',
  'stage',
  'step',
  'task',
  'source',
  'producerTask',
] as const;

function longForm(entry: ConfigMapping): string[] {
  return nameMembers.map((member) => entry[member]).flatMap(namesInScalar);
}

function namesInScalar(value: ConfigValue | undefined): string[] {
  return typeof value === 'string' ? [value] : [];
}

/** Normalize a path: resolve `.` and `..` and drop a trailing slash. Leave other texts unchanged. */
function plainPath(path: string): string {
  if (!path.includes('/') || path.includes('://')) return path;
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part !== '.' && (part !== '' || parts.length === 0)) parts.push(part);
  }
  return parts.join('/');
}

/**
 * Read the declared dependencies of a stage: names of stages, paths and templates, as written except for `wdir`
 * and `./`.
 */
function dependencyNames(body: ConfigMapping): string[] {
  return namesUnder(body, dependencyKeys);
}

function connectProducers(draft: GraphDraft, outputs: PipelineOutputs, id: string, name: string): boolean {
  const producers = outputs.producers(name, id);
  for (const producer of producers) draft.connect(producer, id, name);
  return producers.length > 0;
}

/**
 * Matches a stage's name with a suffix for its output or, in Argo, its outcome. `train.py` is a file, not a stage.
 */
const ofStage =
  /^([\w-]+)(?:\.(?:outputs?|outs|artifacts|results?|Succeeded|Failed|Skipped|Errored|Omitted|Daemoned|AnySucceeded|AllFailed)\b.*|:(?!\/\/).+)?$/;

/** Find the stages in a template or an expression: `{{tasks.a.outputs.x}}`, `a.outputs.x`, `a && b.Succeeded`. */
function mentionedStages(text: string): string[] {
  const inTemplate = [...text.matchAll(/\b(?:tasks|steps|stages|jobs|needs)\.([\w-]+)/g)].map(
    ([, name]) => name,
  );
  const operands = /&&|\|\|/.test(text) ? text.split(/&&|\|\||[()!\s]+/) : [text];
  const inExpression = operands.map((operand) => ofStage.exec(operand)?.[1]);
  return [...inTemplate, ...inExpression].filter((name) => name !== undefined);
}

function chain(draft: GraphDraft, nodes: readonly { id: string }[]): void {
  let previous: string | undefined;
  for (const { id } of nodes) {
    if (previous !== undefined) draft.connect(previous, id);
    previous = id;
  }
}
