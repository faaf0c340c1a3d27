import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { optimizeModel } from '../../../shared/onnx/engine/optimize/optimize-model.ts';
import { parseRequest } from '../../../shared/onnx/methods/apply/parse-request.ts';
import type { Model } from '../../../shared/onnx/model/file/model.ts';
import { saveModel } from '../../../shared/onnx/model/file/save-model.ts';
import { makeNode } from '../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../shared/onnx/model/tensor/tensor.ts';
import { renderReceipt } from '../../../shared/onnx/receipt/render-receipt.ts';
import { transformer } from '../../support/onnx/quantizable-networks.ts';
import { seededFloats } from '../../support/onnx/seeded.ts';
import { smallModel } from '../../support/onnx/small-model.ts';
import { stageCommand, testFolder } from '../../support/onnx/stage-program.ts';
import { writeNpz } from '../../support/onnx/write-npz.ts';
import { everySample } from '../../support/samples.ts';
import { seededRandom } from '../../support/seeded-random.ts';

/** The time that a job has left, and what makes it pass. */
interface Clock {
  left?: () => number;
  said?: (line: string) => void;
  at?: (stage: string, fraction: number) => void;
}

/** A clock of a job with 1,000 seconds, on which each trial takes 450. */
function slowTrials(): Clock {
  let left = 1000;
  return {
    left: () => left,
    said(line) {
      if (line.includes(': loses ')) left -= 450;
    },
  };
}

/** Optimizes a model by the best method within a loss. */
async function auto(
  model: Model,
  max_loss: number,
  method: Readonly<Record<string, unknown>> = { operation: 'quantize', precision: 8 },
  sets: Readonly<Record<'calibration' | 'evaluation', Float32Array>> | undefined = undefined,
  row: readonly number[] = [],
  clock: Clock = {},
) {
  const [folder, work] = [await testFolder(), await testFolder()];
  saveModel(model, folder);
  const lines: string[] = [];
  const paths: Record<string, string> = {};
  for (const [name, values] of Object.entries(sets ?? {})) {
    paths[name] = join(folder, `${name}.npz`);
    const samples = values.length / row.reduce((product, dim) => product * dim, 1);
    await writeNpz(paths[name], { x: { type: 'float', dims: [samples, ...row], values } });
  }
  const optimized = await optimizeModel({
    request: parseRequest({
      ...method,
      strategy: 'auto',
      max_loss,
      measure: 'none',
    }),
    model: join(folder, 'model.onnx'),
    ...paths,
    folder: work,
    stageCommand: stageCommand(),
    say(line) {
      lines.push(line);
      clock.said?.(line);
    },
    progress: (stage, fraction) => clock.at?.(stage, fraction),
    secondsLeft: clock.left,
    signal: new AbortController().signal,
  });
  return { ...optimized, folder: join(work, 'result'), lines };
}

test('auto returns the smallest candidate that holds the target, and lists them all', async () => {
  const { receipt, files, folder } = await auto(transformer(17), 0.02);
  const { candidates } = receipt;
  const chosen = candidates.find(({ is_chosen }) => is_chosen);
  expect(chosen?.holds).toBe(true);
  expect(chosen?.loss).toBeLessThanOrEqual(0.02);
  expect(receipt.outputs[0]?.relative_l2_error).toBe(chosen?.loss);
  expect(readFileSync(join(folder, files[0] ?? '')).length).toBe(chosen?.file_bytes);
  const smallest = Math.min(...candidates.filter(({ holds }) => holds).map(({ file_bytes }) => file_bytes));
  expect(chosen?.file_bytes).toBe(smallest);
  const sizes = candidates.map(({ file_bytes }) => file_bytes);
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
  const losses = candidates.filter(({ is_on_front }) => is_on_front).map(({ loss }) => loss ?? 0);
  expect(losses).toEqual(losses.toSorted((a, b) => b - a));
  expect(renderReceipt(receipt)).toContain('Candidates');
});

test('a target that no candidate holds fails, and names the nearest', async () => {
  const { initializers } = transformer(17).graph;
  const model = smallModel({
    nodes: [makeNode('MatMul', ['x', 'q.w'], ['y'], { name: 'only' })],
    constants: [...initializers.values()].filter(({ name }) => name === 'q.w'),
    inputs: { x: [2, 16] },
    outputs: { y: [2, 16] },
  });
  await expect(auto(model, 1e-7)).rejects.toThrow(
    /^No method meets max_loss 1e-7. The nearest is float16, with a loss of .*\. Allow a larger max_loss/,
  );
});

test.runIf(everySample)('a model that no candidate makes smaller is not to lose more', async () => {
  const model = smallModel({
    nodes: [makeNode('MatMul', ['x', 'w'], ['y'], { name: 'only' })],
    constants: [makeTensor('w', 'float', [2, 2], new Float32Array([1, 2, 3, 4]))],
    inputs: { x: [2, 2] },
    outputs: { y: [2, 2] },
  });
  await expect(auto(model, 1)).rejects.toThrow(
    /^No method within max_loss 1 makes the model smaller\. The nearest is .*\. A larger max_loss would not help\.$/,
  );
});

test('auto ends in time with its best result, and names what it did not try', async () => {
  const method = { operation: 'quantize', precision: 8 };
  const { receipt } = await auto(transformer(17), 0.02, method, undefined, [], slowTrials());
  const { candidates } = receipt;
  expect(candidates).toMatchObject([{ name: 'weight_only int8', holds: true, is_chosen: true }]);
  expect(receipt.notes).toContain("The job's time ended the search before it tried dynamic.");
});

test('a search without time for a method that meets the target fails as another, and says so', async () => {
  const method = { operation: 'quantize', precision: 4 };
  await expect(auto(transformer(17), 1e-7, method, undefined, [], slowTrials())).rejects.toThrow(
    /^No method meets max_loss 1e-7\. .*The job's time ended the search before it tried .*float16\.$/,
  );
});

test('a trial that would outlast the job is ended, and the result before it is kept', async () => {
  let left = 1000;
  let begun = 0;
  const clock: Clock = {
    left: () => left,
    at(stage, fraction) {
      if (stage === 'candidates' && fraction === 0) begun += 1;
      // The second candidate is made, and then its comparison has no time.
      if (begun === 3) left = 0;
    },
  };
  const method = { operation: 'quantize', precision: 8 };
  const { receipt } = await auto(transformer(17), 0.02, method, undefined, [], clock);
  expect(receipt.candidates).toHaveLength(1);
  expect(receipt.notes.join(' ')).toMatch(/ended the search before it tried dynamic\./);
});

test('what cannot be the smallest within the target is not tried, and the receipt says why', async () => {
  const method = { operation: 'quantize', precision: 4 };
  const loose = (await auto(transformer(17), 0.02, method)).receipt;
  expect(loose.notes.join(' ')).toMatch(
    /Not tried: float16, because no file of theirs is smaller than that of /,
  );
  const strict = (await auto(transformer(17), 1e-3, method)).receipt;
  expect(strict.notes.join(' ')).toMatch(
    /Not tried: weight_only_mse int4, because weight_only int8 already loses 0\.0\d+, and fewer bits lose more\./,
  );
  expect(strict.candidates.map(({ name }) => name).join()).not.toContain('int4');
  expect(strict.candidates.find(({ is_chosen }) => is_chosen)?.name).toBe('float16');
});

test('forms of four bits and mixtures that cannot hold the target are not tried, and the receipt says why', async () => {
  const random = seededRandom(9);
  const samples = (count: number) => seededFloats(random, count * 64, 1);
  const sets = { calibration: samples(16), evaluation: samples(16) };
  const method = { operation: 'quantize', precision: 4 };
  const { receipt } = await auto(transformer(17), 0.012, method, sets, [4, 16]);
  const notes = receipt.notes.join(' ');
  expect(notes).toMatch(
    /Not tried: awq int4; gptq uint4; weight_only_mse int4, because gptq int4 loses 0\.03\d+, more than 2 times max_loss\./,
  );
  expect(notes).toMatch(
    /Not tried: mixtures of gptq int4 with 8-bit blocks, because one of gptq int4, block_size 128 with 3 layers in such blocks loses 0\.01\d+, and with more than 3 the file would not be the smallest\./,
  );
  expect(receipt.candidates.find(({ is_chosen }) => is_chosen)).toMatchObject({
    name: 'gptq int4, block_size 128, 4 of 5 layers in 8-bit blocks',
    holds: true,
  });
});

test('auto prunes as much as the target allows', async () => {
  const random = seededRandom(5);
  const [width, hidden] = [16, 32];
  // Half of the neurons take nothing.
  const first = Float32Array.from({ length: width * hidden }, (_, at) =>
    at % hidden < hidden / 2 ? random() - 0.5 : 0,
  );
  const second = Float32Array.from({ length: hidden * 4 }, () => random() - 0.5);
  const model = smallModel({
    nodes: [
      makeNode('MatMul', ['x', 'first'], ['h'], { name: 'first' }),
      makeNode('Tanh', ['h'], ['a'], { name: 'tanh' }),
      makeNode('MatMul', ['a', 'second'], ['y'], { name: 'second' }),
    ],
    constants: [
      makeTensor('first', 'float', [width, hidden], first),
      makeTensor('second', 'float', [hidden, 4], second),
    ],
    inputs: { x: [2, width] },
    outputs: { y: [2, 4] },
  });
  const { receipt } = await auto(model, 0.001, { operation: 'prune' });
  const chosen = receipt.candidates.find(({ is_chosen }) => is_chosen);
  expect(chosen).toMatchObject({ name: 'structured_l2, compression 2', holds: true });
  expect(receipt.pruning).toMatchObject({ strategy: 'structured_l2', compression: 2 });
  expect(receipt.candidates.map(({ holds }) => holds)).toContain(false);
  expect(receipt.file_bytes.after).toBe(chosen?.file_bytes);
});

/** Three convolutions: no weight that fits in blocks. */
function convolutions() {
  const random = seededRandom(7);
  const weight = (name: string, dims: readonly number[]) => {
    const count = dims.reduce((product, dim) => product * dim, 1);
    return makeTensor(name, 'float', dims, seededFloats(random, count, Math.sqrt(dims[0] ?? 1) / 8));
  };
  const model = smallModel({
    nodes: [
      makeNode('Conv', ['x', 'first'], ['a'], { name: 'first' }),
      makeNode('Relu', ['a'], ['b'], { name: 'relu' }),
      makeNode('Conv', ['b', 'second'], ['c'], { name: 'second' }),
      makeNode('Relu', ['c'], ['d'], { name: 'relu 2' }),
      makeNode('Conv', ['d', 'third'], ['y'], { name: 'third' }),
    ],
    constants: [
      weight('first', [16, 3, 3, 3]),
      weight('second', [32, 16, 3, 3]),
      weight('third', [4, 32, 3, 3]),
    ],
    inputs: { x: [1, 3, 10, 10] },
    outputs: { y: [1, 4, 4, 4] },
  });
  return { model, row: [3, 10, 10], samples: (count: number) => seededFloats(random, count * 300, 1) };
}

test.runIf(everySample)(
  'a method that the model refuses does not keep the later ones from being tried',
  async () => {
    const { model, row, samples } = convolutions();
    const sets = { calibration: samples(8), evaluation: samples(8) };
    const { receipt } = await auto(model, 0.05, { operation: 'quantize', precision: 4 }, sets, row);
    const chosen = receipt.candidates.find(({ is_chosen }) => is_chosen);
    expect(chosen?.name).toMatch(/^static_/);
    expect(receipt.notes.join(' ')).not.toContain('EEXIST');
  },
);

test.runIf(everySample)(
  'the target holds on the whole set, also where its last samples are of another kind',
  async () => {
    const { model, row, samples } = convolutions();
    const usual = samples(70);
    const late = samples(10).map((value) => value * 25);
    const sets = {
      calibration: usual.slice(0, 300 * 16),
      evaluation: Float32Array.from([...usual, ...late]),
    };
    const { receipt } = await auto(model, 0.05, { operation: 'quantize', precision: 8 }, sets, row);
    expect(receipt.compared_on).toMatchObject({ source: 'evaluation', samples: 80 });
    const { candidates } = receipt;
    expect(candidates.find(({ is_chosen }) => is_chosen)?.name).toBe('float16');
    expect(candidates.find(({ name }) => name === 'static_minmax')?.holds).toBe(false);
  },
);

test.runIf(everySample)(
  'for speed nothing is returned that is no faster than the model, and the processor is named',
  async () => {
    const model = smallModel({
      nodes: [makeNode('MatMul', ['x', 'w'], ['y'], { name: 'product' })],
      constants: [
        makeTensor(
          'w',
          'float',
          [4, 4],
          Float32Array.from({ length: 16 }, (_, at) => at / 8 - 1),
        ),
      ],
      inputs: { x: [1, 4] },
      outputs: { y: [1, 4] },
    });
    await expect(auto(model, 0.5, { operation: 'quantize', precision: 8, goal: 'latency' })).rejects.toThrow(
      /makes the model faster on this processor \(.+\((x64|arm64)\).*\), so the float form is the fastest/,
    );
  },
);
