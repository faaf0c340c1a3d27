import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { optimizeModel } from '../../../shared/onnx/engine/optimize/optimize-model.ts';
import { parseRequest } from '../../../shared/onnx/methods/apply/parse-request.ts';
import { loadModel } from '../../../shared/onnx/model/file/load-model.ts';
import { saveModel } from '../../../shared/onnx/model/file/save-model.ts';
import { ModelError } from '../../../shared/onnx/model/model-error.ts';
import type { GraphProto } from '../../../shared/onnx/model/proto/onnx_pb.js';
import * as hostile from '../../support/onnx/hostile-models.ts';
import { mutated } from '../../support/onnx/mutate-bytes.ts';
import { smallNetwork } from '../../support/onnx/small-network.ts';
import { stageCommand, testFolder } from '../../support/onnx/stage-program.ts';
import { sampled } from '../../support/samples.ts';
import { runs } from '../../support/seeded-fast-check.ts';

const mutations = runs(32);
const firstSeed = Number(process.env['FUZZ_SEED'] ?? 0);
const memoryBytes = 700 * 2 ** 20;

async function optimize(bytes: Uint8Array, seconds = 120, prepare: (folder: string) => void = () => {}) {
  const folder = await testFolder();
  const [model, work] = [join(folder, 'model'), join(folder, 'work')];
  for (const one of [model, work]) mkdirSync(one);
  writeFileSync(join(model, 'model.onnx'), bytes);
  prepare(folder);
  return await optimizeModel({
    request: parseRequest({ operation: 'quantize', strategy: 'dynamic', precision: 8 }),
    model: join(model, 'model.onnx'),
    folder: work,
    stageCommand: stageCommand(),
    limits: { seconds, memoryBytes },
    say: () => {},
    progress: () => {},
    signal: new AbortController().signal,
  });
}

const faultOf = async (...args: Parameters<typeof optimize>): Promise<unknown> =>
  await optimize(...args).then(
    () => undefined,
    (error: unknown) => error,
  );

async function expectFault(
  graph: GraphProto,
  message: RegExp,
  seconds = 120,
  prepare?: (folder: string) => void,
) {
  const fault = await faultOf(hostile.modelBytes(graph), seconds, prepare);
  expect(fault).toBeInstanceOf(ModelError);
  expect(String(fault)).toMatch(message);
}

describe('what no JavaScript could catch ends the stage alone', () => {
  test('a native crash', async () => {
    await expectFault(hostile.nativeCrash(), /The process crashed while running the model .*SIGFPE/);
  });

  test('a Loop without end', async () => {
    await expectFault(hostile.endlessLoop(), /It took longer than 2 seconds, while /, 2);
  });

  test('a model that takes more memory than there is', async () => {
    await expectFault(hostile.memoryHog(2n ** 28n), /took more than the 700 MiB|Failed to allocate memory/);
    await expectFault(hostile.memoryHog(2n ** 40n), /Failed to allocate memory|memory/);
  });
});

test('a fault does not say where the model lies', async () => {
  const fault = await faultOf(hostile.modelBytes(hostile.cycle()));
  expect(fault).toBeInstanceOf(ModelError);
  expect(String(fault)).toMatch(
    /ONNX Runtime cannot load the (model|result): Load model from model\.onnx failed/,
  );
  expect(String(fault)).not.toContain(tmpdir());
});

describe('a file that lies is refused', () => {
  const secret = 'the secret of another';
  const outside = (folder: string): void => writeFileSync(join(folder, 'secret'), secret.repeat(20));

  test.each(
    sampled(
      [
        ['../secret', /must not leave the folder of the model/],
        ['model/../../secret', /must not leave the folder of the model/],
        ['/etc/hostname', /must be a file in the folder of the model/],
        ['', /must be a file in the folder of the model/],
        ['none.bin', /cannot be opened; it belongs beside the model/],
      ],
      2,
    ),
  )('data in %j', async (location, message) => {
    await expectFault(hostile.outsideWeight(location, [4, 8]), message, undefined, outside);
  });

  test('data behind a link, and in a pipe that never ends', async () => {
    await expectFault(hostile.outsideWeight('link', [4, 8]), /cannot be opened/, undefined, (folder) => {
      outside(folder);
      symlinkSync('../secret', join(folder, 'model/link'));
    });
    await expectFault(
      hostile.outsideWeight('pipe', [4, 8]),
      /must be a regular file/,
      undefined,
      (folder) => {
        execFileSync('mkfifo', [join(folder, 'model/pipe')]);
      },
    );
  });

  test('data that is shorter than the model says', async () => {
    await expectFault(
      hostile.outsideWeight('short', [4, 8]),
      /has 10 bytes; the model refers to 128 at 0/,
      undefined,
      (folder) => writeFileSync(join(folder, 'model/short'), 'ten bytes!'),
    );
  });

  test.each(
    sampled(
      [
        [[2 ** 31, 2 ** 31], /impossible dimensions/],
        [[2 ** 53 - 1], /impossible dimensions/],
        [[2 ** 20, 2 ** 20], /its shape needs/],
        [[-1, 8], /impossible dimensions/],
      ],
      2,
    ),
  )('a weight of %j', async (dims, message) => {
    await expectFault(hostile.claimedWeight(dims), message);
  });

  test.each([
    [[2 ** 20, 2 ** 18], /"fill" makes a constant of \[1048576, 262144\], 1099511627776 bytes; a constant/],
    [[-4, 8], /"fill" makes a constant of \[-4, 8\], which are impossible dimensions/],
  ])('a weight of %j that a node makes', async (dims, message) => {
    await expectFault(hostile.filledWeight(dims), message);
  });

  test('bodies nested too deep', async () => {
    await expectFault(hostile.deepNesting(18), /nested deeper than 16 levels/);
    await expectFault(hostile.deepNesting(500), /nested|not an ONNX model/);
  });

  test('what is no model', async () => {
    for (const text of sampled(['', '{"a": 1}', 'PK\x03\x04', '\x08\x08'.repeat(1000)], 2)) {
      expect(String(await faultOf(Buffer.from(text, 'latin1')))).toMatch(
        /ModelError: The file is not an ONNX model/,
      );
    }
  });
});

test(`${mutations} mutations of a valid model end in a result or a clear fault`, {
  timeout: 300_000 + mutations * 4000,
}, async () => {
  const folder = await testFolder();
  saveModel(smallNetwork(), folder);
  const whole = readFileSync(join(folder, 'model.onnx'));
  expect(loadModel(join(folder, 'model.onnx')).graph.nodes).toHaveLength(6);
  const outcomes = { result: 0, fault: 0 };
  for (let seed = firstSeed; seed < firstSeed + mutations; seed += 1) {
    const fault = await faultOf(mutated(whole, seed));
    if (fault === undefined) outcomes.result += 1;
    else {
      outcomes.fault += 1;
      expect(fault, `seed ${seed}`).toBeInstanceOf(ModelError);
      expect(String(fault).length, `seed ${seed}`).toBeGreaterThan(30);
      expect(String(fault).length, `seed ${seed}`).toBeLessThan(2000);
    }
  }
  expect(outcomes.fault).toBeGreaterThan(mutations / 4);
});
