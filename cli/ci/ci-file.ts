import { relative, resolve } from 'node:path';
import * as z from 'zod/mini';
import { nearestName } from '../../shared/core/nearest-name.ts';
import { printableText } from '../../shared/core/text/printable-text.ts';
import { type Gate, GateError, needsLabels } from '../../shared/gates/gate.ts';
import { parseGate } from '../../shared/gates/parse-gate.ts';
import { hasCode } from '../../shared/host/has-code.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { type CiCompression, parseCompression } from './ci-compression.ts';
import { readYaml } from './read-yaml.ts';

const text = z
  .string('must be text; numbers and dates need quotes')
  .check(z.minLength(1, 'must not be empty'), z.maxLength(1000, 'must have at most 1000 characters'));
const dollars = z.number('must be US dollars above 0').check(z.positive('must be US dollars above 0'));
const upToHour = 'must be seconds above 0, at most 3600';
const upTo20 = 'must be a whole number from 1 to 20';
const conditions = 'must be a list of 1 to 50 conditions, such as ["bytes <= base"]';

const Run = z.strictObject(
  {
    command: z.optional(text),
    config: z.optional(text),
    /** US dollars of one training. */
    budget: z.optional(dollars),
    /** Value of the configuration that the repeats set to 1, 2, 3… */
    seed: z.optional(text),
  },
  'must be a mapping, such as { command: python train.py }',
);

const CiFile = z.strictObject({
  /** Train this folder. */
  run: z.optional(Run),
  /** Or judge an experiment that is there: an id, or `latest`. */
  experiment: z.optional(text),
  /** An ONNX file of this folder; with a training the path of the artifact that it leaves. */
  model: z.optional(text),
  /** ONNX file to compare with. Default: the file as it is on the target branch. */
  base: z.optional(text),
  /** npz file with samples for the model. */
  data: z.optional(text),
  /** Shapes of generated inputs. */
  inputs: z.optional(text),
  /** Seconds for timing. */
  seconds: z.optional(z.number(upToHour).check(z.positive(upToHour), z.lte(3600, upToHour))),
  /** Branch to compare with. Default: that of the pull request, else main. */
  against: z.optional(text),
  /** Compress the model, and judge the result. */
  compress: z.optional(z.record(text, z.unknown(), 'must be a mapping, such as { strategy: auto }')),
  gates: z.array(text, conditions).check(z.minLength(1, conditions), z.maxLength(50, conditions)),
  /** How often the head is trained. */
  repeats: z.optional(z.int(upTo20).check(z.gte(1, upTo20), z.lte(20, upTo20))),
  project: z.optional(text),
  /** What happens to gates that need a base if there is none. */
  without_base: z.optional(z.enum(['pass', 'fail'], 'must be pass or fail')),
});

export interface CiPlan extends Omit<z.infer<typeof CiFile>, 'gates' | 'compress'> {
  /** Path of the file, with `/`. */
  path: string;
  gates: readonly Gate[];
  compress?: CiCompression | undefined;
}

/** Read a file of `mps ci`. @throws CliError that names all faults */
export async function readCiFile(folder: string, given: string): Promise<CiPlan> {
  const file = resolve(folder, given);
  const path = relative(folder, file).replaceAll('\\', '/');
  const {
    value,
    lineOf,
    faults: unread,
  } = await readYaml(file).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'EISDIR')) throw error;
    throw new CliError(`There is no file ${path}. It may be as short as:\n${shortest}`, exitCodes.usage);
  });
  const lines = (faults: readonly Fault[]) =>
    faults
      .map(({ at, message }) => ({ line: lineOf(at), message: printableText(message) }))
      .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
      .map(({ line, message }) => `  ${line === undefined ? '' : `line ${line}: `}${message}`);
  const refuse = (faults: readonly string[]) =>
    new CliError(`${path} cannot be used:\n${faults.join('\n')}`, exitCodes.usage);
  if (value === undefined) throw refuse(unread);
  const checked = CiFile.safeParse(value);
  const values = isMapping(value) ? value : {};
  const { gates, faults: ofGates } = parseGates(values['gates'], values);
  const { compress = undefined, faults: ofCompression = [] } = isMapping(values['compress'])
    ? parseCompression(values['compress'])
    : {};
  const all = [
    ...(checked.error?.issues ?? []).flatMap((issue) => faultsOf(issue, values)),
    ...ofGates,
    ...ofCompression.map((message) => ({ at: message.split(':')[0]?.split('.') ?? [], message })),
    ...(isMapping(value) ? faultsTogether(values, gates) : []),
  ];
  if (!checked.success || unread.length > 0 || all.length > 0) throw refuse([...unread, ...lines(all)]);
  const { gates: _, compress: __, ...rest } = checked.data;
  return { ...rest, path, gates, compress };
}

/** A fault of a file, and the path of the value that has it. */
interface Fault {
  at: readonly PropertyKey[];
  message: string;
}

const shortest = 'model: model.onnx\ngates: ["bytes <= base", "latency <= 1.1x"]';

function faultsOf(issue: z.core.$ZodIssue, values: Given): Fault[] {
  const { path } = issue;
  const at = path.join('.');
  if (issue.code !== 'unrecognized_keys') {
    const isMissing = path.length === 1 && !Object.hasOwn(values, at);
    const message = at === '' ? 'must be a mapping, such as model: model.onnx' : issue.message;
    return [
      {
        at: path,
        message: `${at === '' ? 'the file' : at}: ${isMissing ? `is required: it ${message}` : message}`,
      },
    ];
  }
  const known = Object.keys(path.length === 0 ? CiFile.shape : Run.shape);
  return issue.keys.map((key) => {
    const near = nearestName(key, known);
    const hint = near === undefined ? `Known are ${known.join(', ')}.` : `Did you mean ${near}?`;
    return { at: [...path, key], message: `${[...path, key].join('.')}: unknown. ${hint}` };
  });
}

/** A file whose values may be of any kind. */
type Given = Readonly<Record<string, unknown>>;

const isMapping = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a file judges trainings. */
export const isOfRuns = ({ run, experiment }: { run?: unknown; experiment?: unknown }): boolean =>
  run !== undefined || experiment !== undefined;

/** Parse the gates that are text; the schema refuses the others. */
function parseGates(texts: unknown, file: Given): { gates: Gate[]; faults: Fault[] } {
  const gates: Gate[] = [];
  const faults: Fault[] = [];
  for (const [index, gate] of (Array.isArray(texts) ? texts : []).entries()) {
    if (typeof gate !== 'string' || gate === '') continue;
    try {
      gates.push(parseGate(gate, isOfRuns(file) ? 'runs' : 'file'));
    } catch (error) {
      if (!(error instanceof GateError)) throw error;
      faults.push({ at: ['gates', index], message: error.message });
    }
  }
  return { gates, faults };
}

/** Return the faults of values that are good alone. */
function faultsTogether(file: Given, gates: readonly Gate[]): Fault[] {
  const { run, experiment, model, base, data, repeats, against, compress } = file;
  const ofModel = gates.find(({ metric }) => metric === 'bytes' || metric === 'latency');
  const ofLabels = isOfRuns(file) ? undefined : gates.find(needsLabels);
  const seed = isMapping(run) ? run['seed'] : undefined;
  const found: [boolean, readonly string[], string][] = [
    [!isOfRuns(file) && model === undefined, [], 'one of run, experiment and model is required.'],
    [run !== undefined && experiment !== undefined, ['experiment'], 'run and experiment: give one of both.'],
    [
      isOfRuns(file) && base !== undefined,
      ['base'],
      'base: a training is compared with those of the target branch.',
    ],
    [run === undefined && repeats !== undefined, ['repeats'], 'repeats: needs run.'],
    [repeats === undefined && seed !== undefined, ['run', 'seed'], 'run.seed: needs repeats.'],
    [model === undefined && data !== undefined, ['data'], 'data: needs model.'],
    [model === undefined && compress !== undefined, ['compress'], 'compress: needs model.'],
    [
      model === undefined && ofModel !== undefined,
      ['gates'],
      `gate ${JSON.stringify(ofModel?.text)} needs model, the path of an ONNX file.`,
    ],
    [
      ofLabels !== undefined && data === undefined,
      ['gates'],
      `gate ${JSON.stringify(ofLabels?.text)} needs data, an npz file with an array "labels".`,
    ],
    [
      typeof against === 'string' && !branchName.test(against),
      ['against'],
      'against: must be the name of a branch, such as main.',
    ],
  ];
  return found.flatMap(([isFault, at, message]) => (isFault ? [{ at, message }] : []));
}

/** What git allows in the name of a branch, as far as its commands read other things into it. */
const branchName = /^(?!-)(?!.*(?:\.\.|@\{))[^\s:~^?*[\\\p{Cc}]+$/u;
