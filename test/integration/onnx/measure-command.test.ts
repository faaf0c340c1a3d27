import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { ProgressLine } from '../../../shared/onnx/cli/progress-line.ts';
import { runCli } from '../../../shared/onnx/cli/run-cli.ts';
import { Measurement } from '../../../shared/onnx/engine/measure/measurement.ts';
import type { Model } from '../../../shared/onnx/model/file/model.ts';
import { saveModel } from '../../../shared/onnx/model/file/save-model.ts';
import { makeNode } from '../../../shared/onnx/model/graph/graph.ts';
import { valueInfoOf } from '../../../shared/onnx/model/graph/value-info.ts';
import { makeTensor } from '../../../shared/onnx/model/tensor/tensor.ts';
import { smallModel } from '../../support/onnx/small-model.ts';
import { smallNetwork } from '../../support/onnx/small-network.ts';
import { stageCommand, testFolder } from '../../support/onnx/stage-program.ts';
import { writeNpz } from '../../support/onnx/write-npz.ts';
import { everySample } from '../../support/samples.ts';

/** Runs a command line of words in a folder. */
async function command(...words: string[]) {
  let [shown, printed] = ['', ''];
  const terminal = new Writable({
    write(chunk: Buffer, _encoding, done) {
      shown += chunk.toString();
      done();
    },
  });
  const code = await runCli(words, {
    stageCommand: stageCommand(),
    progress: new ProgressLine(terminal),
    print: (text) => {
      printed += text;
    },
    signal: new AbortController().signal,
  });
  return { code, shown, printed };
}

/** A classifier that chooses the larger of two numbers, the second of them so many times. */
const chooser = (factor: number, input = 'x', output = 'y'): Model =>
  smallModel({
    nodes: [makeNode('Mul', [input, 'factors'], [output])],
    constants: [makeTensor('factors', 'float', [2], Float32Array.of(1, factor))],
    inputs: { [input]: ['N', 2] },
    outputs: { [output]: ['N', 2] },
  });

/** A folder with models, by name, and a set of 10 samples, of which the second number is the larger one in 5. */
async function measurable(models: Readonly<Record<string, Model>>, { hasLabels = true } = {}) {
  const folder = await testFolder();
  const paths = Object.entries(models).map(([name, model]) => {
    const own = join(folder, name);
    mkdirSync(own);
    return [name, join(own, saveModel(model, own)[0] ?? '')] as const;
  });
  const set = join(folder, 'set.npz');
  const rows = Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? [1, 0.5] : [1, 1.5]));
  await writeNpz(set, {
    x: { type: 'float', dims: [10, 2], values: Float32Array.from(rows.flat()) },
    ...(hasLabels && {
      labels: {
        ...({ type: 'int64', dims: [10] } as const),
        values: BigInt64Array.from(rows, (_, at) => BigInt(at % 2)),
      },
    }),
  });
  return { ...Object.fromEntries(paths), set } as Record<string, string> & { set: string };
}
const fast = ['--seconds', '0.1'];

describe('npm run optimize -- measure', () => {
  test('says bytes, accuracy, agreement, error and time of a file beside another one', async () => {
    const { base = '', file = '', set } = await measurable({ base: chooser(1), file: chooser(0.5) });
    const measured = await command('measure', file, '--base', base, '--data', set, ...fast, '--json');
    expect(measured.code).toBe(0);
    const measurement = Measurement.parse(JSON.parse(measured.printed));
    expect(measurement).toMatchObject({
      base: { accuracy: 1 },
      file: { accuracy: 0.5 },
      accuracy: { difference: -0.5, samples: 10, output: 'y' },
      agreement: { share: 0.5, choices: 10 },
      is_useless: true,
      data: { source: 'evaluation', samples: 10 },
    });
    expect(measurement.accuracy?.difference_interval[0]).toBeLessThan(-0.5);
    expect(measurement.latency?.rounds).toBeGreaterThanOrEqual(10);
    expect(measurement.summary[0]).toMatch(/^THE RESULT IS USELESS: over 10 samples/);
    expect(measurement.summary[1]).toMatch(/times as fast as the base .*thread of .* \(\w+\)/);
  });

  test('ends with 4 where a gate does not hold, and with 0 where all do', async () => {
    const { base = '', file = '', set } = await measurable({ base: chooser(1), file: chooser(0.8) });
    const line = ['measure', file, '--base', base, '--data', set, ...fast];
    const held = await command(
      ...line,
      '--gate',
      'accuracy >= base - 0.5%',
      'bytes <= 1x',
      '--gate',
      'error <= 0.5',
    );
    expect([held.code, held.printed]).toEqual([
      0,
      expect.stringContaining('PASSED  accuracy >= base - 0.5%'),
    ]);
    const failed = await command(...line, '--gate', 'error <= 0.01', 'bytes <= 12MB', '--markdown');
    expect(failed.code).toBe(4);
    expect(failed.printed).toMatch(/^\*\*GATE FAILED: error &lt;= 0.01: /);
    expect(failed.printed).toContain('| bytes &lt;= 12MB | passed |');
  });

  test.runIf(everySample)('without a condition, a gate fails a file of no use', async () => {
    const { base = '', file = '', set } = await measurable({ base: chooser(1), file: chooser(0.5) });
    const line = ['measure', file, '--base', base, '--data', set, ...fast, '--gate'];
    expect((await command(...line)).code).toBe(4);
    // This condition says how much may be lost.
    expect((await command(...line, 'accuracy >= 40%')).code).toBe(0);
    expect((await command(...line, 'bytes <= 1MB')).code).toBe(4);
  });

  test.runIf(everySample)('takes a file alone, and made-up inputs where there is no set', async () => {
    const { file = '', set } = await measurable({ file: chooser(1) });
    const alone = await command('measure', file, ...fast, '--json');
    expect(Measurement.parse(JSON.parse(alone.printed))).toMatchObject({
      base: null,
      file: { accuracy: null },
      latency: { ratio: null },
      data: { source: 'synthetic' },
    });
    const labelled = await command('measure', file, '--data', set, ...fast, '--gate', 'accuracy >= 99%');
    expect([labelled.code, labelled.printed]).toEqual([0, expect.stringContaining('accuracy')]);
  });

  test.runIf(everySample)(
    'feeds files whose inputs have other names or types, and compares outputs by their order',
    async () => {
      const half = smallModel({
        nodes: [makeNode('Cast', ['x'], ['y'], { attributes: { to: 1 } })],
        constants: [],
        inputs: { x: ['N', 2] },
        outputs: { y: ['N', 2] },
      });
      half.graph.inputs.splice(0, 1, valueInfoOf({ name: 'x', type: 'float16', dims: ['N', 2] }));
      const models = { base: chooser(1), half, other: chooser(1, 'image', 'scores') };
      const { base = '', set, ...others } = await measurable(models);
      for (const file of Object.values(others)) {
        const { printed } = await command('measure', file, '--base', base, '--data', set, ...fast, '--json');
        expect(Measurement.parse(JSON.parse(printed))).toMatchObject({
          agreement: { share: 1 },
          outputs: [{ relative_l2_error: expect.closeTo(0, 3) }],
          file: { accuracy: 1 },
        });
      }
    },
  );

  test('refuses, all at once, what it cannot measure', async () => {
    const { file = '' } = await measurable({ file: chooser(1) });
    const refused = await command(
      'measure',
      file,
      '--gate',
      'accuracy >= base',
      'bytes < 3',
      '--base',
      'none.onnx',
    );
    expect(refused.code).toBe(1);
    for (const part of ['needs a set with an array "labels"', 'character 7', 'none.onnx cannot be read'])
      expect(refused.shown).toContain(part);
    const alone = await command('measure', file, '--gate', 'latency <= 0.8x');
    expect(alone.shown).toContain('refers to another file: give it with --base');
  });

  test('refuses a gate on accuracy where the set has no labels', async () => {
    const { file = '', set } = await measurable({ file: chooser(1) }, { hasLabels: false });
    const { code, shown } = await command(
      'measure',
      file,
      '--data',
      set,
      ...fast,
      '--gate',
      'accuracy >= 90%',
    );
    expect([code, shown]).toEqual([1, expect.stringContaining('the set has no array "labels"')]);
  });

  test.runIf(everySample)('refuses files that take different numbers of inputs', async () => {
    const two = smallModel({
      nodes: [makeNode('Add', ['x', 'z'], ['y'])],
      constants: [],
      inputs: { x: ['N', 2], z: ['N', 2] },
      outputs: { y: ['N', 2] },
    });
    const { file = '', base = '' } = await measurable({ file: two, base: chooser(1) });
    const { code, shown } = await command('measure', file, '--base', base, ...fast);
    expect([code, shown]).toEqual([1, expect.stringContaining('"x" (float), "z" (float)')]);
  });
});

describe('--gate of prune and quantize', () => {
  /** Prunes seven of eight weights of a network at random, which makes it useless. */
  async function pruned(...more: string[]) {
    const { network = '' } = await measurable({ network: smallNetwork() });
    const folder = await testFolder();
    const set = join(folder, 'pictures.npz');
    const values = Float32Array.from({ length: 4 * 192 }, (_, at) => Math.sin(at * 7));
    await writeNpz(set, { x: { type: 'float', dims: [4, 3, 8, 8], values } });
    const line = ['prune', network, '--strategy', 'random', '--compression', '8', '--calibration', set];
    return await command(...line, '--out', join(folder, 'small.onnx'), ...more);
  }

  test('ends with 4 where the result is of no use, which is its first line, with what to try', async () => {
    const { code, printed } = await pruned('--gate');
    expect(code).toBe(4);
    const [first = '', second = ''] = printed.split('\n');
    expect(first).toMatch(/^THE RESULT IS USELESS: over 4 samples of the calibration set .* Try /);
    expect(first).toContain('strategy=structured_reconstruct');
    expect(second).toMatch(/times as fast as the float model/);
    expect((await pruned()).code).toBe(0);
  });

  test.runIf(everySample)('with conditions, judges these as measure does', async () => {
    const { code, printed } = await pruned('--gate', 'error <= 9', 'bytes <= 1KB');
    expect(code).toBe(4);
    expect(printed).toContain('PASSED  error <= 9');
    expect(printed).toContain('FAILED  bytes <= 1KB');
  });

  test('needs a set to judge by', async () => {
    const { network = '' } = await measurable({ network: smallNetwork() });
    const { code, shown } = await command(
      ...['quantize', network, '--strategy', 'dynamic', '--out', 'x.onnx', '--gate'],
    );
    expect([code, shown]).toEqual([1, expect.stringContaining('--gate needs a data set')]);
  });

  test('needs none for the bytes', async () => {
    const { network = '' } = await measurable({ network: smallNetwork() });
    const line = ['quantize', network, '--strategy', 'dynamic', '--measure', 'none', '--force'];
    const run = (gate: string) => command(...line, '--out', join(dirname(network), 'x.onnx'), '--gate', gate);
    const [tight, wide] = [await run('bytes <= 0.0001x'), await run('bytes <= 2x')];

    expect([tight.code, wide.code]).toEqual([4, 0]);
    expect(tight.printed).toContain('bytes <= 0.0001x');
  });
});
