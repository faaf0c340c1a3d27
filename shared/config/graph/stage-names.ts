import { type ConfigMapping, type ConfigValue, isMapping } from '../config-value.ts';
import { dependencyKeys, outputKeys } from './find-stages.ts';

/**
 * Read the declared dependencies of a stage: names of stages, paths and templates, as written except for `wdir`
 * and `./`.
 */
export function dependencyNames(body: ConfigMapping): string[] {
  return namesUnder(body, dependencyKeys);
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

/** Read the declared outputs of a stage. */
export function outputNames(body: ConfigMapping): string[] {
  return namesUnder(body, outputKeys);
}

/**
 * Matches a stage's name with a suffix for its output or, in Argo, its outcome. `train.py` is a file, not a stage.
 */
const ofStage =
  /^([\w-]+)(?:\.(?:outputs?|outs|artifacts|results?|Succeeded|Failed|Skipped|Errored|Omitted|Daemoned|AnySucceeded|AllFailed)\b.*|:(?!\/\/).+)?$/;

/** Find the stages in a template or an expression: `{{tasks.a.outputs.x}}`, `a.outputs.x`, `a && b.Succeeded`. */
export function mentionedStages(text: string): string[] {
  const inTemplate = [...text.matchAll(/\b(?:tasks|steps|stages|jobs|needs)\.([\w-]+)/g)].map(
    ([, name]) => name,
  );
  const operands = /&&|\|\|/.test(text) ? text.split(/&&|\|\||[()!\s]+/) : [text];
  const inExpression = operands.map((operand) => ofStage.exec(operand)?.[1]);
  return [...inTemplate, ...inExpression].filter((name) => name !== undefined);
}
