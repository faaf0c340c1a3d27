import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Gate, gateExitCode } from '../../gates/gate.ts';
import { gateGrammar } from '../../gates/parse-gate.ts';
import { measureModels, requireJudgeable } from '../engine/measure/measure-models.ts';
import type { Measurement } from '../engine/measure/measurement.ts';
import { ModelError } from '../model/model-error.ts';
import type { CommandContext } from './command-context.ts';
import { type InputFile, inputFile, inspectFile } from './input-file.ts';
import { measurementMarkdown, measurementText } from './measurement-text.ts';
import { collectFaults, positive, requestedShapes } from './prepare-command.ts';
import { type FlagKind, readArguments } from './read-arguments.ts';
import { takeGates } from './take-gates.ts';

/** Flags of `measure`. */
export const measureFlags = {
  base: ['text', 'ONNX file to compare with.'],
  data: [
    'text',
    'npz file with an array of samples per input, named as the input; an array "labels" enables accuracy.',
  ],
  inputs: ['text', 'Shapes of the generated inputs, without a data set, such as 1x3x224x224.'],
  seconds: ['text', 'Seconds for timing (default: 10); at least ten rounds.'],
  memory: ['text', 'Maximum memory of a stage in MiB.'],
  json: ['boolean', 'Print one JSON document.'],
  markdown: ['boolean', 'Print a Markdown table, for example for a pull request.'],
} as const satisfies Readonly<Record<string, readonly [FlagKind, string]>>;

/** Description of `--gate` for the help text. */
export const measureGateHelp = `Exit with ${gateExitCode} if a condition fails: ${gateGrammar}. Without conditions: if the file is useless.`;

const usualSeconds = 10;

interface Prepared {
  file: InputFile;
  base: InputFile | undefined;
  data: InputFile | undefined;
  shapes: ReadonlyMap<string, readonly (number | null)[]> | undefined;
  gates: readonly Gate[];
  isGated: boolean;
  seconds: number;
  memoryBytes: number | undefined;
  format: 'json' | 'markdown' | 'text';
}

/** @throws ModelError that names everything that is wrong */
async function prepare(args: readonly string[]): Promise<Prepared> {
  const { gates = [], rest, ...gated } = takeGates(args);
  const kinds = new Map(Object.entries(measureFlags).map(([name, [kind]]) => [name, kind]));
  const { texts, switches, positionals, hasUnknown, ...read } = readArguments(rest, kinds, 'measure');
  const faults = [...gated.faults, ...read.faults];
  const attempt = collectFaults(faults);
  const given = (name: keyof typeof measureFlags): string | undefined => texts.get(name)?.[0];
  const [model, ...others] = positionals;
  if ((model === undefined || others.length > 0) && !hasUnknown)
    faults.push('Give the path of one ONNX file, and the other one with --base.');
  if (switches.get('json') && switches.get('markdown')) faults.push('Give --json or --markdown, not both.');
  const named = (name: 'base' | 'data') => {
    const path = given(name);
    return path === undefined ? undefined : inputFile(path, `--${name}`);
  };
  const file = await attempt(() => (model === undefined ? undefined : inputFile(model)));
  const base = await attempt(() => named('base'));
  const data = await attempt(() => named('data'));
  await attempt(() => requireJudgeable(gates, { base: given('base'), data: given('data') }));
  const seconds = await attempt(() => positive('seconds', given('seconds')));
  const memory = await attempt(() => positive('memory', given('memory')));
  const shapesText = given('inputs');
  const shapes = await attempt(async () =>
    file === undefined || shapesText === undefined
      ? undefined
      : requestedShapes(shapesText, await inspectFile(file.path)),
  );
  if (faults.length > 0 || file === undefined) throw new ModelError(faults.join(' '));
  return {
    ...{ file, base, data, shapes, gates },
    isGated: args.some((word) => word.startsWith('--gate')),
    seconds: seconds ?? usualSeconds,
    memoryBytes: memory && memory * 2 ** 20,
    format: switches.get('json') ? 'json' : switches.get('markdown') ? 'markdown' : 'text',
  };
}

function shown(measurement: Measurement, format: Prepared['format']): string {
  if (format === 'json') return `${JSON.stringify(measurement, null, 2)}\n`;
  return format === 'markdown' ? measurementMarkdown(measurement) : measurementText(measurement);
}

/**
 * Measure a file and print the measurement.
 *
 * @returns the exit code: 0, or the exit code of a failed gate
 * @throws ModelError
 */
export async function measureCommand(args: readonly string[], to: CommandContext): Promise<number> {
  const { file, base, data, memoryBytes, format, ...asked } = await prepare(args);
  const folder = await mkdtemp(join(tmpdir(), 'measure-'));
  try {
    const measurement = await measureModels({
      ...asked,
      file: file.path,
      base: base?.path,
      data: data?.path,
      folder,
      stageCommand: to.stageCommand,
      limits: { ...(memoryBytes !== undefined && { memoryBytes }) },
      seed: 0,
      say: (line) => to.progress.say(line),
      progress: (stage, fraction, bytes) => to.progress.show(stage, fraction, bytes),
      signal: to.signal,
    });
    to.progress.clear();
    to.print(shown(measurement, format));
    return measurement.passed ? 0 : gateExitCode;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
