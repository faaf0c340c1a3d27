import { receiptText } from '../../../shared/onnx/cli/receipt-text.ts';
import { exitCodes } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import type { Compression } from './follow-compression.ts';

/**
 * Print the receipt of a compression, or why it has none. Set the exit code from the result, and from the gate with
 * `--gate`.
 */
export function showCompression(
  { printer, process }: CliContext,
  compression: Compression,
  { json: isJson = false, gate: isGated = false }: { json?: boolean; gate?: boolean },
): void {
  const { status, status_reason, receipt, result_name } = compression;
  if (isJson) printer.json(compression);
  else if (receipt !== null)
    for (const line of receiptText(receipt).trimEnd().split('\n')) printer.line(line);
  if (status === 'SUCCEEDED') {
    const registered = result_name === null ? '' : `; the result is the model ${result_name}`;
    printer.say(`${status}${registered}`);
    if (isGated && receipt?.is_useless === true) process.exitCode = exitCodes.gate;
    return;
  }
  printer.say(status_reason === null ? status : `${status}: ${status_reason}`);
  process.exitCode = exitCodes.failure;
}
