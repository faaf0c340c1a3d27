import { keepsAll } from '../../../../shared/onnx/strategies/prune-strategies.ts';

/** Parameter of a method, from its JSON Schema. */
export interface Parameter {
  name: string;
  description: string;
  kind: 'choice' | 'flag' | 'number' | 'list';
  choices: readonly string[];
  /** Default value as in a query; empty without one. */
  usual: string;
}

/** A pruning or quantization method, from one schema of `/methods`. */
export interface Method {
  /** Unique ID of the method. */
  id: string;
  description: string;
  /** Values that this method fixes, such as its strategy. */
  fixed: Readonly<Record<string, string>>;
  parameters: readonly Parameter[];
}

/** Return a parameter's name for people. */
export const readable = (name: string): string =>
  name.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase());

/** Return a description of the API, which is Markdown, with the parameters as their fields are named. */
const described = (markdown: unknown, names: readonly string[]): string =>
  textOf(markdown)
    .replaceAll('`', '')
    .replaceAll(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => (names.includes(name) ? `“${readable(name)}”` : name));

/** Parameter of a search: the share of quality that its result may lose. */
export const searchedLoss = 'max_loss';

/** Read a percentage as a share. @returns undefined for anything but a number above 0 */
export function shareOf(percent: string): number | undefined {
  const value = Number(percent.trim().replace(',', '.'));
  // Avoid the digits that a division adds, as in 0.07 / 100.
  return value > 0 && Number.isFinite(value) ? Number((value / 100).toPrecision(12)) : undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function usualOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return Array.isArray(value) ? value.join(',') : String(value);
}

function parameterOf(
  name: string,
  schema: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Parameter | undefined {
  const common = {
    name,
    description: described(schema['description'], names),
    usual: usualOf(schema['default']),
    choices: [],
  };
  if (Array.isArray(schema['enum']))
    return { ...common, kind: 'choice', choices: schema['enum'].map(String) };
  if (schema['type'] === 'boolean') return { ...common, kind: 'flag' };
  // Skip a parameter that only allows null.
  if (schema['type'] === 'null') return undefined;
  if (schema['type'] === 'array') {
    // Skip a list that must be empty.
    if (schema['maxItems'] === 0) return undefined;
    return { ...common, kind: 'list' };
  }
  return { ...common, kind: 'number' };
}

/** Read the methods of a `/methods` document. */
export function methodsIn(document: { anyOf: readonly unknown[] }): Method[] {
  return document.anyOf.filter(isObject).map((schema, index) => {
    const fixed: Record<string, string> = {};
    const parameters: Parameter[] = [];
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    const names = Object.keys(properties);
    for (const [name, property] of Object.entries(properties)) {
      if (!isObject(property)) continue;
      if ('const' in property) fixed[name] = String(property['const']);
      else {
        const parameter = parameterOf(name, property, names);
        if (parameter !== undefined) parameters.push(parameter);
      }
    }
    const bits = fixed['precision'] === undefined ? '' : `, ${fixed['precision']} bit`;
    return {
      id: `${fixed['strategy'] ?? index}${bits}`,
      description: described(schema['description'], names),
      fixed,
      parameters,
    };
  });
}

/** Return whether a pruning with this value would keep all weights. */
const isIdle = ({ fixed }: Method, { name }: Parameter, value: string): boolean =>
  name === 'compression' && keepsAll(fixed['strategy'] ?? '', Number(value));

/** Return the initial values of a form: the defaults, but half of the weights if the default would keep all. */
export const beginningOf = (method: Method): Record<string, string> =>
  Object.fromEntries(
    method.parameters.map((parameter) => [
      parameter.name,
      isIdle(method, parameter, parameter.usual) ? '2' : '',
    ]),
  );

/** Return an error if a job with these values would change nothing. */
export function idleFault(
  method: Method,
  values: Readonly<Record<string, string>>,
): { name: string; message: string } | undefined {
  const found = method.parameters.find((parameter) =>
    isIdle(method, parameter, values[parameter.name]?.trim() || parameter.usual),
  );
  return (
    found && {
      name: found.name,
      message: 'This keeps all weights, so nothing would change. 2 keeps half of them.',
    }
  );
}

/** Build the query of a method from the chosen values. Leave out defaults. */
export function queryOf(
  { fixed, parameters }: Method,
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  const query: Record<string, string> = { ...fixed };
  for (const { name, usual } of parameters) {
    const value = values[name]?.trim();
    if (value !== undefined && value !== '' && value !== usual) query[name] = value;
  }
  return query;
}
