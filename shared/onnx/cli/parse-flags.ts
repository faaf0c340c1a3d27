import { parseArgs } from 'node:util';
import * as z from 'zod';
import { pruneMethods } from '../methods/prune-methods.ts';
import { quantizeMethods } from '../methods/quantize-methods.ts';
import { ModelFault } from '../model-fault.ts';

export const operations = ['prune', 'quantize'] as const;
export type Operation = (typeof operations)[number];

/** How the text of a flag is read. */
type FlagKind = 'boolean' | 'number' | 'text' | 'list';

export interface Flag {
  /** Of the request. */
  parameter: string;
  kind: FlagKind;
  description: string;
}

const flagName = (parameter: string): string => parameter.replaceAll('_', '-');

function kindOf({ type, const: constant }: z.core.JSONSchema.BaseSchema): FlagKind {
  if (type === 'array') return 'list';
  if (type === 'boolean' || typeof constant === 'boolean') return 'boolean';
  if (type === 'string' || typeof constant === 'string') return 'text';
  return 'number';
}

/** What a parameter that is settled for each method can be. */
function choices(methods: readonly z.ZodObject[], parameter: string): string {
  const all = methods.flatMap((method) => {
    const schema = z.toJSONSchema(method, { io: 'input' }).properties?.[parameter];
    return typeof schema === 'object' && schema.const !== undefined ? [String(schema.const)] : [];
  });
  return `One of ${[...new Set(all)].join(', ')}.`;
}

/** The parameters of an operation as flags: what its methods' schemas take, each once. */
export function requestFlags(operation: Operation): ReadonlyMap<string, Flag> {
  const methods = operation === 'prune' ? Object.values(pruneMethods) : quantizeMethods;
  const flags = new Map<string, Flag>();
  for (const method of methods) {
    const { properties = {} } = z.toJSONSchema(method, { io: 'input' });
    for (const [parameter, schema] of Object.entries(properties)) {
      if (parameter === 'operation' || typeof schema === 'boolean' || flags.has(flagName(parameter)))
        continue;
      const description = schema.description ?? choices(methods, parameter);
      flags.set(flagName(parameter), { parameter, kind: kindOf(schema), description });
    }
  }
  return flags;
}

/** Flags that say where things are, of either operation. */
export const placeFlags = {
  out: 'File that the result is written to.',
  calibration: 'npz file of inputs that ranges are taken from.',
  evaluation: 'npz file of inputs and labels that accuracy is measured on.',
  inputs: 'Shapes of the inputs, as in 1x3x224x224.',
  memory: 'Most MiB of memory that a stage may take.',
  seconds: 'Most seconds that a stage may take.',
} as const;

export interface Command {
  operation: Operation;
  model: string;
  request: Readonly<Record<string, unknown>>;
  place: Readonly<Partial<Record<keyof typeof placeFlags, string>>>;
}

function flagValue({ kind }: Flag, name: string, value: string | boolean): unknown {
  if (kind === 'boolean' || typeof value === 'boolean') return value;
  if (kind === 'list') return value.split(',').filter((part) => part !== '');
  if (kind === 'text') return value;
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number)) throw new ModelFault(`--${name} takes a number.`);
  return number;
}

const isOperation = (text: string | undefined): text is Operation => operations.some((one) => one === text);

/**
 * Reads a command line. What the request says is judged later, by the schema of its method.
 *
 * @returns null where help is asked for
 * @throws ModelFault for flags that do not exist, and for what is missing
 */
export function parseCommand(argv: readonly string[]): Command | null {
  if (argv.length === 0 || argv.includes('--help') || argv.includes('-h')) return null;
  const [operation, ...args] = argv;
  if (!isOperation(operation)) throw new ModelFault(`The first argument is one of ${operations.join(', ')}.`);
  const flags = requestFlags(operation);
  const kinds = [...flags].map(
    ([name, { kind }]) => [name, { type: kind === 'boolean' ? 'boolean' : 'string' }] as const,
  );
  const places = Object.keys(placeFlags).map((name) => [name, { type: 'string' }] as const);
  const { values, positionals } = readArgs(args, Object.fromEntries([...kinds, ...places]));
  const [model, ...others] = positionals;
  if (model === undefined || others.length > 0) throw new ModelFault('Give one model, as a path.');
  const request: Record<string, unknown> = { operation };
  const place: Partial<Record<keyof typeof placeFlags, string>> = {};
  for (const [name, value] of Object.entries(values)) {
    const flag = flags.get(name);
    if (typeof value !== 'string' && typeof value !== 'boolean') continue;
    if (flag !== undefined) request[flag.parameter] = flagValue(flag, name, value);
    else if (isPlace(name) && typeof value === 'string') place[name] = value;
  }
  if (place.out === undefined) throw new ModelFault('Say by --out which file the result is written to.');
  return { operation, model, request, place };
}

const isPlace = (name: string): name is keyof typeof placeFlags => Object.hasOwn(placeFlags, name);

function readArgs(args: string[], options: Record<string, { type: 'boolean' | 'string' }>) {
  try {
    return parseArgs({ args, options, allowPositionals: true, allowNegative: true, strict: true });
  } catch (error) {
    throw new ModelFault(error instanceof Error ? error.message : String(error));
  }
}
