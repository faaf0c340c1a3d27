import * as z from 'zod';
import { type Gate, gateExitCode, needsSet } from '../../gates/gate.ts';
import { ModelError } from '../model/model-error.ts';
import { usefulAgreement, uselessError } from '../receipt/receipt.ts';
import { pruneSchemas } from '../strategies/prune-request.ts';
import { quantizeSchemas } from '../strategies/quantize-request.ts';
import { usualPrecision } from '../strategies/quantize-strategies.ts';
import { type FlagKind, readArguments } from './read-arguments.ts';
import { takeGates } from './take-gates.ts';

export const operations = ['prune', 'quantize'] as const;
export type Operation = (typeof operations)[number];

export interface Flag {
  /** Name of the parameter in the request. */
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

/** Describe a parameter by the constant values in the methods' schemas. */
function choices(methods: readonly z.ZodObject[], parameter: string): string {
  const all = methods.flatMap((method) => {
    const rule: z.core.$ZodType | undefined = method.shape[parameter];
    const schema = rule === undefined ? undefined : z.toJSONSchema(rule, { io: 'input' });
    return typeof schema === 'object' && schema.const !== undefined ? [String(schema.const)] : [];
  });
  return `One of ${[...new Set(all)].join(', ')}.`;
}

/** Return the parameters of an operation as flags, from the schemas of its methods. Each parameter occurs once. */
export function requestFlags(operation: Operation): ReadonlyMap<string, Flag> {
  const methods = operation === 'prune' ? pruneSchemas() : quantizeSchemas();
  const flags = new Map<string, Flag>();
  for (const method of methods) {
    for (const [parameter, rule] of Object.entries<z.core.$ZodType>(method.shape)) {
      // Several methods share most parameters. Describing each one again would take longer than reading a small
      // model.
      if (parameter === 'operation' || flags.has(flagName(parameter))) continue;
      const schema = z.toJSONSchema(rule, { io: 'input' });
      const description = schema.description ?? choices(methods, parameter);
      flags.set(flagName(parameter), { parameter, kind: kindOf(schema), description });
    }
  }
  return flags;
}

/** Flags of both operations for files, shapes and limits. */
export const commonFlags = {
  out: 'File to write the result to; missing folders are created.',
  calibration: 'npz file with inputs for calibration.',
  evaluation: 'npz file with inputs and labels for measuring accuracy.',
  inputs: 'Shapes of the inputs, such as 1x3x224x224.',
  memory: 'Maximum memory of a stage in MiB.',
  seconds: 'Maximum duration of a stage in seconds.',
} as const;

/** Flag that allows replacing the files of an earlier result. */
export const forceFlag = {
  name: 'force',
  description:
    'Replace existing files of the result: the file of --out, its .data, and its receipt. Input files are never replaced.',
} as const;

/** Flag that reports a useless result to scripts through the exit code. */
export const gateFlag = {
  name: 'gate',
  description: `Exit with ${gateExitCode} if the result is useless: an output's relative error above ${uselessError}, or agreement below ${usefulAgreement}, on the set. With conditions, as for measure: if one fails. The result is written in any case.`,
} as const;

export interface Command {
  operation: Operation;
  model: string;
  request: Readonly<Record<string, unknown>>;
  options: Readonly<Partial<Record<keyof typeof commonFlags, string>>>;
  force: boolean;
  /** Conditions of `--gate`. Undefined if the command line has no `--gate`. */
  gates: readonly Gate[] | undefined;
  /** Errors of the command line itself. */
  faults: readonly string[];
  /** Parameters with such an error. Later errors about them are not reported. */
  faulty: ReadonlySet<string>;
}

const isOperation = (text: string | undefined): text is Operation =>
  operations.some((operation) => operation === text);
const isCommonFlag = (name: string): name is keyof typeof commonFlags => Object.hasOwn(commonFlags, name);

/**
 * Return the value of a flag that is not a switch. Undefined if the flag requires a number and the text is not
 * one.
 */
function flagValue({ kind }: Flag, texts: readonly string[]): unknown {
  if (kind === 'list') return texts.flatMap((text) => text.split(',')).filter((part) => part !== '');
  const [text = ''] = texts;
  if (kind === 'text') return text;
  const number = Number(text);
  return text.trim() === '' || !Number.isFinite(number) ? undefined : number;
}

/**
 * Parse a command line and list all its errors. The schema of the method checks the request later.
 *
 * @returns null if the user asks for help
 * @throws ModelError if the command line names no operation
 */
export function parseCommand(argv: readonly string[]): Command | null {
  if (argv.length === 0 || argv.includes('--help') || argv.includes('-h')) return null;
  const [operation, ...args] = argv;
  if (!isOperation(operation))
    throw new ModelError(`The first argument must be one of ${operations.join(', ')}, measure.`);
  const flags = requestFlags(operation);
  const kinds = new Map<string, FlagKind>([
    ...[...flags].map(([name, { kind }]): [string, FlagKind] => [name, kind]),
    ...Object.keys(commonFlags).map((name): [string, FlagKind] => [name, 'text']),
    [forceFlag.name, 'boolean'],
  ]);
  const gated = takeGates(args);
  const { texts, switches, positionals, lacking, hasUnknown, ...read } = readArguments(
    gated.rest,
    kinds,
    operation,
  );
  const faults = [...gated.faults, ...read.faults];
  const [model = '', ...others] = positionals;
  // The text after an unknown flag may be its value.
  if ((positionals.length === 0 || others.length > 0) && !hasUnknown)
    faults.push('Give the path of one model.');
  const request: Record<string, unknown> = { operation };
  const faulty = new Set([...lacking].map((name) => flags.get(name)?.parameter ?? name));
  const options: Partial<Record<keyof typeof commonFlags, string>> = {};
  for (const [name, given] of texts) {
    const flag = flags.get(name);
    if (flag === undefined) {
      if (isCommonFlag(name)) options[name] = given[0] ?? '';
      continue;
    }
    const value = flagValue(flag, given);
    if (value !== undefined) request[flag.parameter] = value;
    else {
      faults.push(`--${name} must be a number.`);
      faulty.add(flag.parameter);
    }
  }
  if (operation === 'quantize' && !faulty.has('precision'))
    request['precision'] ??= usualPrecision(String(request['strategy']));
  for (const [name, isOn] of switches) {
    const flag = flags.get(name);
    if (flag !== undefined) request[flag.parameter] = isOn;
  }
  if (options.out === undefined && !lacking.has('out'))
    faults.push('Name the file for the result with --out.');
  if (gated.gates !== undefined && needsSet(gated.gates) && !options.calibration && !options.evaluation)
    faults.push('--gate needs a data set: give --evaluation or --calibration.');
  const force = switches.get(forceFlag.name) ?? false;
  return { operation, model, request, options, force, gates: gated.gates, faults, faulty };
}
