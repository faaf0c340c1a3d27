import { readFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { parse } from 'yaml';
import { en } from 'zod/locales';
import * as z from 'zod/mini';
import { nearestName } from '../../shared/core/nearest-name.ts';
import { type Gate, GateError, needsLabels } from '../../shared/gates/gate.ts';
import { parseGate } from '../../shared/gates/parse-gate.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { type CiCompression, parseCompression } from './ci-compression.ts';

const text = z.string().check(z.minLength(1), z.maxLength(1000));

const Run = z.strictObject({
  command: z.optional(text),
  config: z.optional(text),
  /** US dollars of one training. */
  budget: z.optional(z.number().check(z.positive())),
  /** Value of the configuration that the repeats set to 1, 2, 3… */
  seed: z.optional(text),
});

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
  seconds: z.optional(z.number().check(z.positive(), z.lte(3600))),
  /** Branch to compare with. Default: that of the pull request, else main. */
  against: z.optional(text),
  /** Compress the model, and judge the result. */
  compress: z.optional(z.record(text, z.unknown())),
  gates: z.array(text).check(z.minLength(1), z.maxLength(50)),
  /** How often the head is trained. */
  repeats: z.optional(z.int().check(z.gte(1), z.lte(20))),
  project: z.optional(text),
  /** What happens to gates that need a base if there is none. */
  without_base: z.optional(z.enum(['pass', 'fail'])),
});

/** What a file with faults says of its gates, whose own faults are told with the others. */
const Gates = z.object({
  gates: z.array(text),
  run: z.optional(z.unknown()),
  experiment: z.optional(z.unknown()),
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
  const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'EISDIR') throw error;
    throw new CliError(`There is no file ${path}. It may be as short as:\n${shortest}`, exitCodes.usage);
  });
  const refuse = (faults: readonly string[]) =>
    new CliError(
      `${path} cannot be used:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
      exitCodes.usage,
    );
  let value: unknown;
  try {
    value = parse(content) ?? {};
  } catch (error) {
    throw refuse([error instanceof Error ? error.message.trim() : String(error)]);
  }
  z.config(en());
  const parsed = CiFile.safeParse(value);
  if (!parsed.success) {
    const readable = Gates.safeParse(value);
    const others = readable.success ? parseGates(readable.data.gates, readable.data).faults : [];
    throw refuse([...parsed.error.issues.flatMap(faultsOf), ...others]);
  }
  const { gates: texts, compress: compression, ...rest } = parsed.data;
  const { gates, faults } = parseGates(texts, rest);
  const { compress, faults: others } = compression === undefined ? {} : parseCompression(compression);
  const all = [...faults, ...(others ?? []), ...faultsTogether({ ...rest, compress: compression }, gates)];
  if (all.length > 0) throw refuse(all);
  return { ...rest, path, gates, compress };
}

const shortest = 'model: model.onnx\ngates: ["bytes <= base", "latency <= 1.1x"]';

function faultsOf(issue: z.core.$ZodIssue): string[] {
  const at = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys') return [`${at === '' ? 'the file' : at}: ${issue.message}`];
  const known = Object.keys(issue.path.length === 0 ? CiFile.shape : Run.shape);
  return issue.keys.map((key) => {
    const near = nearestName(key, known);
    const hint = near === undefined ? `Known are ${known.join(', ')}.` : `Did you mean ${near}?`;
    return `${[...issue.path, key].join('.')}: unknown. ${hint}`;
  });
}

type Subject = Omit<z.infer<typeof CiFile>, 'gates'>;

/** Whether a file judges trainings. */
export const isOfRuns = ({ run, experiment }: { run?: unknown; experiment?: unknown }): boolean =>
  run !== undefined || experiment !== undefined;

function parseGates(
  texts: readonly string[],
  file: Parameters<typeof isOfRuns>[0],
): { gates: Gate[]; faults: string[] } {
  const gates: Gate[] = [];
  const faults: string[] = [];
  for (const gate of texts) {
    try {
      gates.push(parseGate(gate, isOfRuns(file) ? 'runs' : 'file'));
    } catch (error) {
      if (!(error instanceof GateError)) throw error;
      faults.push(error.message);
    }
  }
  return { gates, faults };
}

/** Return the faults of values that are good alone. */
function faultsTogether(file: Subject, gates: readonly Gate[]): string[] {
  const { run, experiment, model, base, data, repeats, against, compress } = file;
  const ofModel = gates.find(({ metric }) => metric === 'bytes' || metric === 'latency');
  const ofLabels = isOfRuns(file) ? undefined : gates.find(needsLabels);
  return [
    ...(isOfRuns(file) || model !== undefined ? [] : ['one of run, experiment and model is required.']),
    ...(run !== undefined && experiment !== undefined ? ['run and experiment: give one of both.'] : []),
    ...(isOfRuns(file) && base !== undefined
      ? ['base: a training is compared with those of the target branch.']
      : []),
    ...(run === undefined && repeats !== undefined ? ['repeats: needs run.'] : []),
    ...(repeats === undefined && run?.seed !== undefined ? ['run.seed: needs repeats.'] : []),
    ...(model === undefined && data !== undefined ? ['data: needs model.'] : []),
    ...(model === undefined && compress !== undefined ? ['compress: needs model.'] : []),
    ...(model === undefined && ofModel !== undefined
      ? [`gate ${JSON.stringify(ofModel.text)} needs model, the path of an ONNX file.`]
      : []),
    ...(ofLabels !== undefined && data === undefined
      ? [`gate ${JSON.stringify(ofLabels.text)} needs data, an npz file with an array "labels".`]
      : []),
    ...(against?.startsWith('-') === true ? ['against: must be the name of a branch.'] : []),
  ];
}
