import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Gate, type GateVerdict, gateExitCode } from '../../gates/gate.ts';
import { judgeGate } from '../../gates/judge-gate.ts';
import { type MeasureTask, measureModels, requireJudgeable } from '../engine/measure/measure-models.ts';
import { optimizeModel } from '../engine/optimize/optimize-model.ts';
import { ModelError } from '../model/model-error.ts';
import { isLarger, type Receipt } from '../receipt/receipt.ts';
import { renderReceipt } from '../receipt/render-receipt.ts';
import type { CommandContext } from './command-context.ts';
import { fileError } from './file-error.ts';
import { measureCommand } from './measure-command.ts';
import { gateLine } from './measurement-text.ts';
import { type Command, parseCommand } from './parse-flags.ts';
import { prepareCommand } from './prepare-command.ts';
import { receiptText } from './receipt-text.ts';
import { usage } from './usage.ts';

/** Seconds of timing for the gates of a result. */
const gateSeconds = 10;

/** Whether a result passes `--gate`. Measure its conditions and print their verdicts. */
async function holdsGates(
  gates: readonly Gate[],
  receipt: Receipt,
  task: Omit<MeasureTask, 'gates' | 'isGated' | 'seconds' | 'seed'>,
  to: CommandContext,
): Promise<boolean> {
  if (gates.length === 0) return !receipt.is_useless;
  const print = (verdicts: readonly GateVerdict[]): void => {
    for (const verdict of verdicts) to.print(`${gateLine(verdict)}\n`);
  };
  if (task.data === undefined && gates.every(({ metric }) => metric === 'bytes')) {
    const { before: base, after: file } = receipt.file_bytes;
    const facts = { accuracy: null, agreement: null, error: null, bytes: { file, base }, latency: null };
    const verdicts = gates.map((gate) => judgeGate(gate, facts));
    print(verdicts);
    return verdicts.every(({ holds }) => holds);
  }
  const seconds = gates.some(({ metric }) => metric === 'latency') ? gateSeconds : 0;
  // Generated inputs do not tell whether a result is useless.
  const isGated = task.data !== undefined;
  const measurement = await measureModels({ ...task, gates, isGated, seconds, seed: 0 });
  to.progress.clear();
  print(measurement.gates);
  return measurement.passed;
}

/** @returns the exit code */
async function optimize(command: Command, to: CommandContext): Promise<number> {
  if (command.gates !== undefined && command.faults.length === 0)
    requireJudgeable(command.gates, {
      base: command.model,
      data: command.options.evaluation ?? command.options.calibration,
    });
  const { result, inputs, memoryBytes, seconds, ...asked } = await prepareCommand(command);
  const folder = await result.workFolder();
  try {
    const place = {
      folder,
      stageCommand: to.stageCommand,
      limits: {
        ...(memoryBytes !== undefined && { memoryBytes }),
        ...(seconds !== undefined && { seconds }),
      },
      say: (line: string) => to.progress.say(line),
      progress: (stage: string, fraction: number, bytes?: number) => to.progress.show(stage, fraction, bytes),
      signal: to.signal,
    };
    const { receipt, files } = await optimizeModel({ ...asked, ...place, name: result.name });
    const [model = '', data] = files.map((name) => join(folder, 'result', name));
    const [json, page] = [join(folder, 'receipt.json'), join(folder, 'receipt.svg')];
    await writeFile(json, `${JSON.stringify(receipt, null, 2)}\n`);
    await writeFile(page, renderReceipt(receipt));
    // Another process may have created these files during the work.
    await result.refuseTaken(inputs, command.force);
    const written = await result.put({ model, data, receipt: json, page });
    to.progress.clear();
    to.print(`${receiptText(receipt)}Written: ${written.join(', ')}\n`);
    // A request that bounds the bytes itself may allow a larger file.
    if (isLarger(receipt) && !command.gates?.some(({ metric }) => metric === 'bytes')) return gateExitCode;
    if (command.gates === undefined) return 0;
    const { model: base, evaluation, calibration, shapes } = asked;
    const measured = { ...place, file: result.model, base, data: evaluation ?? calibration, shapes };
    return (await holdsGates(command.gates, receipt, measured, to)) ? 0 : gateExitCode;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Run the command that prunes, quantizes and measures without the service.
 *
 * @returns the exit code: 0 for success, 1 for an error, which was printed, 4 for a failed gate or a result that is
 *   larger than its model, 130 for an
 *   interruption
 */
export async function runCli(argv: readonly string[], to: CommandContext): Promise<number> {
  try {
    const [first, ...rest] = argv;
    const isHelp = argv.includes('--help') || argv.includes('-h');
    if (first === 'measure' && !isHelp) return await measureCommand(rest, to);
    const command = parseCommand(argv);
    if (command !== null) return await optimize(command, to);
    to.print(usage());
    return 0;
  } catch (error) {
    to.progress.clear();
    if (to.signal.aborted) return 130;
    const fault = fileError('A file cannot be used', error);
    if (!(fault instanceof ModelError)) throw error;
    to.progress.say(fault.message);
    return 1;
  }
}
