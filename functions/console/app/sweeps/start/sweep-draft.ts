import { ProblemError } from '../../../../../shared/client/problem-error.ts';
import { listOf, type ParameterDraft, scalarLike } from './suggest-space.ts';

/** Fields of the form besides its parameters, by their names in the request. */
export const fieldNames = [
  'name',
  'config',
  'args',
  'metric',
  'goal',
  'method',
  'seed',
  'trials',
  'repeats',
  'retries',
  'parallel',
  'stop.rule',
  'stop.step_min',
  'stop.reduction',
  'until.metric',
  'budget',
  'dataset',
  'vcpus',
  'memory',
  'gpus',
  'nodes',
  'timeout',
] as const;
export type FieldName = (typeof fieldNames)[number];

/** A sweep as it is typed. Blank fields have the service's defaults. */
export type SweepDraft = Readonly<Record<FieldName, string>>;

const texts: ReadonlySet<FieldName> = new Set(['name', 'config', 'metric', 'goal', 'method', 'dataset']);

/**
 * Return the request of a draft, as it was typed: the service checks it, so that its faults are told in one place.
 */
export function sweepRequest(
  draft: SweepDraft,
  parameters: readonly ParameterDraft[],
): Record<string, unknown> {
  const value = (name: FieldName): unknown => {
    const text = draft[name].trim();
    return text === '' ? undefined : texts.has(name) ? text : numberIn(text);
  };
  const request: Record<string, unknown> = {
    parameters: Object.fromEntries(
      parameters.flatMap((one) => {
        const parameter = parameterOf(one);
        return parameter === undefined ? [] : [[one.name, parameter]];
      }),
    ),
  };
  for (const name of fieldNames) {
    if (name.includes('.') || name === 'args' || isUnused(name, draft)) continue;
    const given = value(name);
    if (given !== undefined) request[name] = given;
  }
  if (draft.args === 'true') request['args'] = true;
  if (draft['stop.rule'] !== '')
    request['stop'] = {
      rule: draft['stop.rule'],
      ...present('step_min', value('stop.step_min')),
      ...(draft['stop.rule'] === 'asha' && present('reduction', value('stop.reduction'))),
    };
  if (value('until.metric') !== undefined) request['until'] = { metric: value('until.metric') };
  return request;
}

const present = (name: string, value: unknown): Record<string, unknown> =>
  value === undefined ? {} : { [name]: value };

/** Whether the form hides a field, because the sampler knows it. A grid has as many trials as points. */
export const isUnused = (name: FieldName, { method }: Pick<SweepDraft, 'method'>): boolean =>
  (name === 'trials' && method === 'grid') || (name === 'seed' && method === 'external');

const numberIn = (text: string): number | string => (Number.isNaN(Number(text)) ? text : Number(text));

/** Return a parameter as the request has it. Return undefined for a value that stays what it is. */
function parameterOf({
  kind,
  present: before,
  ...draft
}: ParameterDraft): Record<string, unknown> | undefined {
  if (kind === 'fixed') {
    const isBlank = draft.value.trim() === '' && typeof before !== 'string';
    const value = scalarLike(draft.value, before);
    return isBlank || value === null || String(value) === String(before ?? '') ? undefined : { value };
  }
  if (kind === 'values')
    return { values: listOf(draft.values).map((text) => scalarLike(text, before) ?? text) };
  const bound = (text: string): number | string | undefined =>
    text.trim() === '' ? undefined : numberIn(text.trim());
  return {
    ...present('min', bound(draft.min)),
    ...present('max', bound(draft.max)),
    ...present('step', bound(draft.step)),
    ...(draft.scale === 'log' && { scale: draft.scale }),
    // Without a bound the service would ask for a kind, and not for the bound.
    ...(draft.min.trim() === '' && draft.max.trim() === '' && { min: '' }),
  };
}

/** Faults by the field that shows them. */
export interface FieldFaults {
  at: Readonly<Record<string, string>>;
  /** Faults of no field, with the names that the service gives them. */
  others: readonly string[];
}

export const noFaults: FieldFaults = { at: {}, others: [] };

/**
 * Sort the faults of an error by the form's fields: each belongs to the field with the longest name that begins its own.
 * Return undefined for an error without faults.
 */
export function faultsAtFields(
  error: unknown,
  parameters: readonly Pick<ParameterDraft, 'name' | 'kind'>[],
): FieldFaults | undefined {
  if (!(error instanceof ProblemError) || error.faults.length === 0) return undefined;
  const known = ['parameters', ...fieldNames, ...parameters.flatMap(namesOf)].sort(
    (a, b) => b.length - a.length,
  );
  const at: Record<string, string> = {};
  const others: string[] = [];
  for (const { name, message } of error.faults) {
    const field = known.find((one) => name === one || name.startsWith(`${one}.`));
    if (field === undefined) others.push(`${name} ${message}`);
    else at[field] = at[field] === undefined ? message : `${at[field]}; ${message}`;
  }
  return { at, others };
}

/** Return the names of a parameter's fields that its kind shows. */
function namesOf({ name, kind }: Pick<ParameterDraft, 'name' | 'kind'>): string[] {
  const own = `parameters.${name}`;
  if (kind === 'fixed') return [own];
  return [
    own,
    ...(kind === 'values' ? ['values'] : ['min', 'max', 'step', 'scale']).map((one) => `${own}.${one}`),
  ];
}
