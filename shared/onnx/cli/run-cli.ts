import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { optimizeModel } from '../engine/optimize/optimize-model.ts';
import { ModelError } from '../model/model-error.ts';
import { renderReceipt } from '../receipt/render-receipt.ts';
import { fileError } from './file-error.ts';
import { type Command, parseCommand } from './parse-flags.ts';
import { prepareCommand } from './prepare-command.ts';
import type { ProgressLine } from './progress-line.ts';
import { receiptText } from './receipt-text.ts';
import { usage } from './usage.ts';

/** Streams and signal of the command. */
export interface CommandContext {
  stageCommand: readonly string[];
  progress: ProgressLine;
  print(text: string): void;
  signal: AbortSignal;
}

async function optimize(command: Command, to: CommandContext): Promise<void> {
  const { result, inputs, memoryBytes, seconds, ...asked } = await prepareCommand(command);
  const folder = await result.workFolder();
  try {
    const { receipt, files } = await optimizeModel({
      ...asked,
      name: result.name,
      folder,
      stageCommand: to.stageCommand,
      limits: {
        ...(memoryBytes !== undefined && { memoryBytes }),
        ...(seconds !== undefined && { seconds }),
      },
      say: (line) => to.progress.say(line),
      progress: (stage, fraction, bytes) => to.progress.show(stage, fraction, bytes),
      signal: to.signal,
    });
    const [model = '', data] = files.map((name) => join(folder, 'result', name));
    const [json, page] = [join(folder, 'receipt.json'), join(folder, 'receipt.svg')];
    await writeFile(json, `${JSON.stringify(receipt, null, 2)}\n`);
    await writeFile(page, renderReceipt(receipt));
    // Others may have written there meanwhile.
    await result.refuseTaken(inputs, command.force);
    const written = await result.put({ model, data, receipt: json, page });
    to.progress.clear();
    to.print(`${receiptText(receipt)}Written: ${written.join(', ')}\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Run the command that prunes and quantizes without the service.
 *
 * @returns its exit code: 0 done, 1 for an error, which was printed, 130 when it was interrupted
 */
export async function runCli(argv: readonly string[], to: CommandContext): Promise<number> {
  try {
    const command = parseCommand(argv);
    if (command === null) to.print(usage());
    else await optimize(command, to);
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
