import { allowedPrunings } from '../strategies/prune-request.ts';
import { allowedQuantizations } from '../strategies/quantize-request.ts';
import { commonFlags, forceFlag, operations, requestFlags } from './parse-flags.ts';

const line = (name: string, description: string): string => `  --${name.padEnd(14)} ${description}\n`;

/** The text of `--help`. */
export function usage(): string {
  const parts = operations.map((operation) => {
    const allowed = operation === 'prune' ? allowedPrunings : allowedQuantizations;
    const flags = [...requestFlags(operation)].map(([name, { description }]) => line(name, description));
    return `${operation} <model.onnx> --out <result.onnx>\n  ${allowed}\n${flags.join('')}`;
  });
  const places = Object.entries(commonFlags).map(([name, description]) => line(name, description));
  const force = line(forceFlag.name, forceFlag.description);
  const written =
    'Beside <result.onnx> lie its receipt, as .receipt.json and .receipt.svg, and where its tensors are not in it <result.onnx>.data.';
  return `Usage: npm run optimize -- <${operations.join(' | ')}> <model.onnx> --out <result.onnx> [flags]
  makes ONNX models smaller and faster; paths are those of the folder that you are in\n\n${parts.join('\n')}\nfor both\n${places.join('')}${force}\n${written}\n`;
}
