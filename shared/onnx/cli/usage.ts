import { allowedPrunings } from '../strategies/prune-request.ts';
import { allowedQuantizations } from '../strategies/quantize-request.ts';
import { measureFlags, measureGateHelp } from './measure-command.ts';
import { commonFlags, forceFlag, gateFlag, operations, requestFlags } from './parse-flags.ts';

const line = (name: string, description: string): string => `  --${name.padEnd(14)} ${description}\n`;

/** Return the text of `--help`. */
export function usage(): string {
  const parts = operations.map((operation) => {
    const allowed = operation === 'prune' ? allowedPrunings : allowedQuantizations;
    const flags = [...requestFlags(operation)].map(([name, { description }]) => line(name, description));
    return `${operation} <model.onnx> --out <result.onnx>\n  ${allowed}\n${flags.join('')}`;
  });
  const places = Object.entries(commonFlags).map(([name, description]) => line(name, description));
  const force = [forceFlag, gateFlag].map(({ name, description }) => line(name, description)).join('');
  const measured = Object.entries(measureFlags).map(([name, [, description]]) => line(name, description));
  const measure = `measure <model.onnx> [--base <other.onnx>] [--data <set.npz>] [--gate <condition>…]\n  measures size, accuracy and time of an ONNX file, usually in alternation with another one\n${line('gate', measureGateHelp)}${measured.join('')}`;
  const written =
    'Next to <result.onnx>, the command writes the receipt (.receipt.json and .receipt.svg) and the external data, if any (<result.onnx>.data).';
  return `Usage: npm run optimize -- <${operations.join(' | ')}> <model.onnx> --out <result.onnx> [flags]
       npm run optimize -- measure <model.onnx> [flags]
  makes ONNX models smaller and faster; paths are those of the folder that you are in\n\n${parts.join('\n')}\nfor both\n${places.join('')}${force}\n${written}\n\n${measure}`;
}
