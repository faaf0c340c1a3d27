import { realpath, stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import { failsAsUseless, type Gate, needsBase } from '../../shared/gates/gate.ts';
import type { Measurement } from '../../shared/onnx/engine/measure/measurement.ts';
import { bytesText, factorText, millisecondsText, shareText } from '../../shared/onnx/receipt/amount-text.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { findRepository } from '../run/source/git-repository.ts';
import { withScratchFolder } from '../upload/scratch-folder.ts';
import type { CiCompression } from './ci-compression.ts';
import type { CiPlan } from './ci-file.ts';
import { type Compressed, compressModel } from './compress-model.ts';
import { engineOutput } from './engine-output.ts';
import { fileOfCommit, type History, refusePointer } from './history.ts';
import { type CiGate, type CiReport, ciGates } from './report.ts';

/** Judge an ONNX file of the folder, against the same file on the target branch or another one. */
export async function checkModel(context: CliContext, plan: CiPlan, history: History): Promise<Checked> {
  const { folder } = context;
  const model = plan.model ?? '';
  const path = resolve(folder, model);
  await requireFile(folder, model);
  if (plan.base !== undefined) await requireFile(folder, plan.base);
  return withScratchFolder(async (scratch) => {
    const { compress } = plan;
    if (compress !== undefined) return checkCompressed(context, { ...plan, compress }, { path, scratch });
    const [before] = history.ancestors;
    const ofBranch =
      plan.base !== undefined || before === undefined
        ? undefined
        : await fileOfCommit(folder, before, model, scratch);
    const base = plan.base === undefined ? ofBranch : resolve(folder, plan.base);
    const measurement = await measureFile(context, plan, { path, base });
    const why = history.why ?? `The target branch has no ${model}. Name another file with "base".`;
    return {
      head: { name: model, link: null },
      base:
        base === undefined ? null : { name: plan.base ?? `${model} of ${before?.slice(0, 10)}`, link: null },
      gates: ciGates(
        plan.gates,
        () => base !== undefined,
        () => measurement.gates,
      ),
      values: valuesOf(measurement),
      curves: [],
      notes: [...(base === undefined ? [why] : []), ...notesOf(measurement)],
    };
  });
}

/** Compress the file and judge the result against it, or against another file. */
async function checkCompressed(
  context: CliContext,
  plan: CiPlan & { compress: CiCompression },
  { path, scratch }: { path: string; scratch: string },
): Promise<Checked> {
  const { model = '', base = model } = plan;
  const compressed = await compressModel(context, plan, { path, scratch });
  const measurement = await measureFile(context, plan, {
    path: compressed.path,
    base: resolve(context.folder, base),
  });
  return {
    head: { name: `${model} by ${compressed.how}`, link: null },
    base: { name: base, link: null },
    gates: [
      ...ciGates(
        plan.gates,
        () => true,
        () => measurement.gates,
      ),
      ...receiptGates(plan.gates, compressed),
    ],
    values: valuesOf(measurement),
    curves: [],
    notes: [...compressed.notes, ...notesOf(measurement)],
  };
}

// The gates have rows of their own.
const notesOf = ({ summary, warnings }: Measurement): string[] => [
  ...summary.filter((line) => !line.startsWith('GATE ')),
  ...warnings,
];

/** Return what a receipt says alone: a useless result fails unless a gate bounds its loss. */
export const receiptGates = (gates: readonly Gate[], { isUseless, notes }: Compressed): CiGate[] =>
  failsAsUseless(gates, isUseless)
    ? [
        {
          gate: 'the result is useful',
          verdict: 'failed',
          measured: notes[0] ?? '',
          allowed: '',
          note: 'A gate on accuracy, agreement or error judges the loss instead.',
        },
      ]
    : [];

/** What a check has found. */
export type Checked = Pick<CiReport, 'head' | 'base' | 'gates' | 'values' | 'curves' | 'notes'>;

async function requireFile(folder: string, named: string): Promise<void> {
  const path = resolve(await realpath(folder), named);
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) throw new CliError(`There is no file ${named}.`, exitCodes.usage);
  const top = (await findRepository(folder))?.top ?? folder;
  const leaves = (at: string, above: string) => relative(above, at).split(sep)[0] === '..';
  if (!leaves(path, top) && leaves(await realpath(path), await realpath(top)))
    throw new CliError(`${named} is a link that leads out of the repository.`, exitCodes.usage);
  await refusePointer(path, named).catch((error: Error) => {
    throw new CliError(error.message, exitCodes.usage);
  });
}

/**
 * Measure a file with the gates that can be judged.
 *
 * @throws CliError if it cannot be measured
 */
export async function measureFile(
  context: CliContext,
  { gates, data, inputs, seconds }: Pick<CiPlan, 'gates' | 'data' | 'inputs' | 'seconds'>,
  { path, base }: { path: string; base: string | undefined },
): Promise<Measurement> {
  const judged = gates.filter((gate) => base !== undefined || !needsBase(gate));
  const isTimed = judged.some(({ metric }) => metric === 'latency');
  const args = [
    ...['measure', path, '--json', `--seconds=${seconds ?? (isTimed ? 10 : 1)}`],
    ...(base === undefined ? [] : [`--base=${base}`]),
    ...(data === undefined ? [] : [`--data=${data}`]),
    ...(inputs === undefined ? [] : [`--inputs=${inputs}`]),
    ...judged.map(({ text }: Gate) => `--gate=${text}`),
  ];
  return JSON.parse(await engineOutput(context, args)) as Measurement;
}

/** Return the values of a measurement as rows of a report. */
export function valuesOf({ file, base, latency }: Measurement): CiReport['values'] {
  const row = (
    name: string,
    head: number | null,
    before: number | null | undefined,
    text: (value: number) => string,
    change: (before: number, head: number) => string,
  ): CiReport['values'] =>
    head === null
      ? []
      : [
          {
            name,
            head: text(head),
            base: typeof before === 'number' ? text(before) : '',
            change: typeof before === 'number' ? change(before, head) : '',
          },
        ];
  const points = (before: number, head: number) =>
    `${head > before ? '+' : ''}${Number(((head - before) * 100).toFixed(2))} points`;
  const ratio = latency?.ratio;
  const timed = (before: number, head: number) => {
    if (ratio === null || ratio === undefined) return factorText(before, head);
    const [least, most] = ratio.interval.map((value) => Number(value.toPrecision(3)));
    return `${Number(ratio.value.toPrecision(3))} × (${least} to ${most})`;
  };
  return [
    ...row('accuracy', file.accuracy, base?.accuracy, shareText, points),
    ...row('bytes', file.bytes, base?.bytes, bytesText, factorText),
    ...row('latency', file.p50_ms, base?.p50_ms, millisecondsText, timed),
  ];
}
