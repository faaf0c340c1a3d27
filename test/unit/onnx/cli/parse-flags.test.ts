import { describe, expect, test } from 'vitest';
import { parseCommand } from '../../../../shared/onnx/cli/parse-flags.ts';
import { usage } from '../../../../shared/onnx/cli/usage.ts';

const parse = (line: string) => parseCommand(line.split(' ').filter((part) => part !== ''));

describe('a command line', () => {
  test('becomes a request, by the types of its parameters', () => {
    expect(
      parse(
        'quantize a.onnx --strategy static_minmax --precision 8 --leaf-node --no-per-channel --exclude head,Relu --max-error=0.02 --out b.onnx --calibration c.npz',
      ),
    ).toEqual({
      operation: 'quantize',
      model: 'a.onnx',
      request: {
        operation: 'quantize',
        strategy: 'static_minmax',
        precision: 8,
        leaf_node: true,
        per_channel: false,
        exclude: ['head', 'Relu'],
        max_error: 0.02,
      },
      place: { out: 'b.onnx', calibration: 'c.npz' },
    });
  });

  test('asks for help', () => {
    expect(parse('')).toBeNull();
    expect(parse('prune --help')).toBeNull();
  });

  test.each([
    ['shrink a.onnx', 'The first argument is one of prune, quantize.'],
    ['prune a.onnx --strategy random', 'Say by --out which file the result is written to.'],
    ['prune --out b.onnx', 'Give one model, as a path.'],
    ['prune a.onnx --precision 8 --out b.onnx', "Unknown option '--precision'"],
    ['prune a.onnx --compression two --out b.onnx', '--compression takes a number.'],
  ])('%s is refused', (line, message) => {
    expect(() => parse(line)).toThrow(message);
  });
});

test('every parameter of every method is explained', () => {
  const lines = usage()
    .split('\n')
    .filter((line) => line.startsWith('  --'));
  expect(lines.length).toBeGreaterThan(18);
  for (const line of lines) expect(line).toMatch(/^ {2}--[a-z-]+ +\S/);
});
