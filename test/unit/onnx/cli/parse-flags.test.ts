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
      options: { out: 'b.onnx', calibration: 'c.npz' },
      force: false,
      faults: [],
      faulty: new Set(),
    });
  });

  test('may name a list in parts, and replace by force', () => {
    expect(parse('prune a.onnx --exclude head,Relu --force --exclude tail --out b.onnx')).toMatchObject({
      request: { exclude: ['head', 'Relu', 'tail'] },
      force: true,
      faults: [],
    });
  });

  test('leaves a number below zero to the schema of its method', () => {
    expect(parse('prune a.onnx --compression -4 --out b.onnx')).toMatchObject({
      request: { compression: -4 },
      faults: [],
    });
  });

  test('needs a set for gates on a loss, and for those without a condition', () => {
    const faults = (gate: string) => parse(`quantize a.onnx --out b.onnx ${gate}`)?.faults;

    expect(faults('--gate=bytes<=0.4x')).toEqual([]);
    expect(faults('--gate=bytes<=0.4x --gate=latency<=1x')).toEqual([]);
    for (const gate of ['--gate', '--gate=bytes<=0.4x --gate=error<=0.1'])
      expect(faults(gate)).toEqual(['--gate needs a data set: give --evaluation or --calibration.']);
  });

  test('keeps the metadata of nodes if it is told so', () => {
    expect(parse('quantize a.onnx --keep-metadata --out b.onnx')?.request).toMatchObject({
      keep_metadata: true,
    });
  });

  test('asks for help', () => {
    expect(parse('')).toBeNull();
    expect(parse('prune --help')).toBeNull();
  });

  test('of no operation is refused', () => {
    expect(() => parse('shrink a.onnx')).toThrow(
      'The first argument must be one of prune, quantize, measure.',
    );
  });

  test.each([
    ['prune a.onnx --strategy random', ['Name the file for the result with --out.']],
    ['prune --out b.onnx', ['Give the path of one model.']],
    ['prune a.onnx b.onnx --out c.onnx', ['Give the path of one model.']],
    [
      'prune a.onnx --precision 8 --no-out --no-out -q --out b.onnx',
      ['--precision', '--no-out', '-q'].map((flag) => `${flag} is not a flag of prune; --help lists them.`),
    ],
    ['prune a.onnx --compression two --out b.onnx', ['--compression must be a number.']],
    ['prune a.onnx --compression= --out b.onnx', ['--compression must be a number.']],
    [
      'quantize a.onnx --precision 8 --leaf-node --precision 8 --no-leaf-node --out b --out c --out d',
      ['--precision is given twice.', '--leaf-node is given twice.', '--out is given twice.'],
    ],
    [
      'quantize a.onnx --leaf-node=yes --strategy --out',
      [
        '--strategy needs a value.',
        '--out needs a value.',
        '--leaf-node takes no value; write --leaf-node or --no-leaf-node.',
      ],
    ],
  ])('%s is refused for everything that is wrong with it', (line, faults) => {
    expect(parse(line)?.faults).toEqual(faults);
  });
});

test('every parameter of every method is explained', () => {
  const lines = usage()
    .split('\n')
    .filter((line) => line.startsWith('  --'));
  expect(lines.length).toBeGreaterThan(18);
  for (const line of lines) expect(line).toMatch(/^ {2}--[a-z-]+ +\S/);
});
