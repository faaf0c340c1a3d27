import { resolve } from 'node:path';
import type { endpoint as downloadPruned } from '../../functions/optimization/strategies/download-pruned-model.endpoint.ts';
import { saveDownload } from '../../shared/client/node/save-download.ts';
import { bytesText } from '../../shared/core/bytes-text.ts';
import { receiptText } from '../../shared/onnx/cli/receipt-text.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import type { Session } from '../login/connect.ts';
import { LiveLine } from '../output/live-line.ts';
import type { Operation, Strategy } from './follow-strategy.ts';

/** The name of the ONNX file among the files of a result. */
const onnxName = 'model.onnx';

/** Downloads the result of a strategy as `to`, and its external data beside it. @throws CliError where there is none */
export async function saveResult(
  { folder, printer }: CliContext,
  { client }: Session,
  { operation, strategy, to }: { operation: Operation; strategy: Strategy; to: string },
): Promise<void> {
  const { strategy_id, result } = strategy;
  if (result.length === 0) throw new CliError('The strategy has no result.');
  const target = resolve(folder, to);
  const line = new LiveLine(printer);
  const route = `GET /optimization/${operation}/strategies/{strategy_id}/model` as const;
  try {
    for (const { name, size, sha256 } of result) {
      const isModel = name === onnxName;
      // The model refers to its external data by name.
      const path = isModel ? target : resolve(target, '..', name);
      const onProgress = (bytes: number) => line.set(`${bytesText(bytes)} of ${bytesText(size)}`);
      const request = { path: { strategy_id }, ...(!isModel && { query: { file: name } }) };
      await saveDownload<typeof downloadPruned>(client, route, request, { path, size, sha256, onProgress });
      line.above(() => printer.say(`${path}  ${bytesText(size)}`));
    }
  } finally {
    line.end();
  }
}

/** Prints the receipt of a strategy, or why it has none, and takes the exit code of that. */
export function showStrategy({ printer, process }: CliContext, strategy: Strategy, isJson: boolean): void {
  const { status, status_reason, receipt, result_name } = strategy;
  if (isJson) printer.json(strategy);
  else if (receipt !== null)
    for (const line of receiptText(receipt).trimEnd().split('\n')) printer.line(line);
  if (status === 'SUCCEEDED') {
    const registered = result_name === null ? '' : `; the result is the model ${result_name}`;
    printer.say(`${status}${registered}`);
    return;
  }
  printer.say(status_reason === null ? status : `${status}: ${status_reason}`);
  process.exitCode = exitCodes.failure;
}
