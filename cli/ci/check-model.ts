import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Gate, needsBase } from '../../shared/gates/gate.ts';
import type { Measurement } from '../../shared/onnx/engine/measure/measurement.ts';
import { bytesText, factorText, millisecondsText, shareText } from '../../shared/onnx/receipt/amount-text.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { installRuntime, runEngine } from '../run-engine.ts';
import { withScratchFolder } from '../upload/scratch-folder.ts';
import type { CiPlan } from './ci-file.ts';
import { fileOfCommit, type History, refusePointer } from './history.ts';
import { type CiReport, ciGates } from './report.ts';

/** Judge an ONNX file of the folder, against the same file on the target branch or another one. */
export async function checkModel(context: CliContext, plan: CiPlan, history: History): Promise<Checked> {
  const { folder } = context;
  const model = plan.model ?? '';
  const path = resolve(folder, model);
  await requireFile(path, model);
  if (plan.base !== undefined) await requireFile(resolve(folder, plan.base), plan.base);
  return withScratchFolder(async (scratch) => {
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
      gates: ciGates(plan.gates, base !== undefined, () => measurement.gates),
      values: valuesOf(measurement),
      notes: [
        ...(base === undefined ? [why] : []),
        // The gates have rows of their own.
        ...measurement.summary.filter((line) => !line.startsWith('GATE ')),
        ...measurement.warnings,
      ],
    };
  });
}

/** What a check has found. */
export type Checked = Pick<CiReport, 'head' | 'base' | 'gates' | 'values' | 'notes'>;

async function requireFile(path: string, named: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) throw new CliError(`There is no file ${named}.`, exitCodes.usage);
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
  await installRuntime(context);
  const judged = gates.filter((gate) => base !== undefined || !needsBase(gate));
  const isTimed = judged.some(({ metric }) => metric === 'latency');
  const args = [
    ...['measure', path, '--json', `--seconds=${seconds ?? (isTimed ? 10 : 1)}`],
    ...(base === undefined ? [] : [`--base=${base}`]),
    ...(data === undefined ? [] : [`--data=${data}`]),
    ...(inputs === undefined ? [] : [`--inputs=${inputs}`]),
    ...judged.map(({ text }: Gate) => `--gate=${text}`),
  ];
  const child = runEngine(context, args);
  const printed = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      printed[stream] += text;
    });
  const end = () => void child.kill('SIGINT');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    if (code !== 0 && code !== exitCodes.gate) {
      // The system kills what takes too much memory: the request learns of it.
      const ended = signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.failure;
      const why = `The engine was ended${signal === null ? '' : ` by ${signal}`} without a word.`;
      throw new CliError(printed.stderr.trim() || why, code ?? ended);
    }
    return JSON.parse(printed.stdout) as Measurement;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end);
  }
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
