import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoint as cancelPruning } from '../../../functions/optimization/compressions/prune/cancel-prune-strategy.endpoint.ts';
import { endpoint as prune } from '../../../functions/optimization/compressions/prune/create-prune-strategy.endpoint.ts';
import { endpoint as pruneMethods } from '../../../functions/optimization/compressions/prune/list-prune-methods.endpoint.ts';
import { endpoint as listPrunings } from '../../../functions/optimization/compressions/prune/list-prune-strategies.endpoint.ts';
import { endpoint as readPruning } from '../../../functions/optimization/compressions/prune/read-prune-strategy.endpoint.ts';
import { endpoint as quantize } from '../../../functions/optimization/compressions/quantize/create-quantize-strategy.endpoint.ts';
import { endpoint as quantizeMethods } from '../../../functions/optimization/compressions/quantize/list-quantize-methods.endpoint.ts';
import { type OptimizationService, optimizationService } from '../../support/optimization.ts';
import type { Answer } from '../../support/service.ts';

const namesOf = ({ json }: Answer): string[] => json.errors.map(({ name }: { name: string }) => name).sort();

let service: OptimizationService;
const endings: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  service = await optimizationService(
    { LIMIT_VCPUS: '6', LIMIT_UNFINISHED_JOBS: '2', LOG_LEVEL: 'error' },
    {},
    undefined,
    (end) => endings.push(end),
  );
});
afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

describe('a request is refused', () => {
  test.each([
    [{ strategy: 'structured_l3', compression: '2' }, ['strategy']],
    [{ strategy: 'n_m_2_4', compression: '4' }, ['compression']],
    [
      { compression: '0', seed: '-1', inputs: '1xqx8', outputs: '[1' },
      ['compression', 'inputs', 'outputs', 'seed'],
    ],
    [{ exclude: 'Conv,,Gemm', max_error: '0' }, ['exclude', 'max_error']],
    [{ inputs: '1x1x8x8,1x1x8x8' }, ['inputs']],
    [{ inputs: '1x3x8x8', outputs: '1x9' }, ['inputs', 'outputs']],
    [{ inputs: '1x64' }, ['inputs']],
    [{ outputs: '' }, ['outputs']],
    [{ inputs: 'Auto' }, ['inputs']],
    [{ precision: '8' }, ['precision']],
    [{ timeout: '99999' }, ['timeout']],
    [{ vcpus: '8' }, ['vcpus']],
    [{ vcpus: '3' }, ['vcpus']],
  ])('for pruning with %o', async (query, names) => {
    const answer = await service.prune(query);
    expect(answer.status, answer.text).toBe(400);
    expect(namesOf(answer)).toEqual(names);
  });

  test.each([
    [{ strategy: 'float16', leaf_node: 'true' }, ['leaf_node', 'precision']],
    [
      { strategy: 'weight_only', precision: '4', quant_type: 'int8', per_channel: 'true' },
      ['per_channel', 'quant_type'],
    ],
    [{ strategy: 'static_minmax', precision: '16' }, ['precision']],
    [{ include: 'Gemm' }, ['include']],
    [{ strategy: 'quip' }, ['strategy']],
    [{ inputs: '1x1x8x8' }, ['inputs']],
  ])('for quantization with %o', async (query, names) => {
    const answer = await service.quantize(query);
    expect(answer.status, answer.text).toBe(400);
    expect(namesOf(answer)).toEqual(names);
  });

  test('with all that is allowed', async () => {
    const answer = await service.quantize({ strategy: 'weight_only', precision: '16' });
    expect(answer.json.detail).toContain('precision: must be 4 or 8 with weight_only');
    expect(answer.json.detail).toContain('Allowed are: dynamic with precision 8 and int8 or uint8;');
    const { json } = await service.prune({ strategy: 'x' });
    expect(json.detail).toContain('2 with n_m_2_4');
  });

  test('with everything that is wrong, in one answer', async () => {
    const wrong =
      'model_nam=m&strategy=statik&precision=9&quant_type=int3&per_chanel=true&vcpus=1000&seed=-1';
    const answer = await service.call(quantize, { query: `${wrong}&max_error=0`, as: service.developer });
    expect(answer.status).toBe(400);
    expect(namesOf(answer)).toEqual(
      [
        'model_name',
        'model_nam',
        'strategy',
        'precision',
        'quant_type',
        'per_chanel',
        'vcpus',
        'seed',
        'max_error',
      ].sort(),
    );
    const messages = Object.fromEntries(
      answer.json.errors.map(({ name, message }: Record<string, string>) => [name, message]),
    );
    expect(messages).toMatchObject({
      model_name: 'is required',
      precision: 'must be one of 4, 8, 16',
      quant_type: 'must be one of int8, uint8, int4, uint4, float16',
      max_error: 'must be a number above 0, at most 1000000',
    });
    const pruning = {
      strategy: 'n_m_2_4',
      compression: '4',
      inputs: 'q',
      vcpus: '3',
      result_nam: 'x',
      exclude: ',',
    };
    expect(namesOf(await service.prune(pruning))).toEqual([
      'compression',
      'exclude',
      'inputs',
      'result_nam',
      'vcpus',
    ]);
  });

  test('with what only the model and the deployment tell, in one answer', async () => {
    const wrong = { inputs: '1x1x8x8,1x1x8x8', outputs: '', timeout: '99999', result_name: 'digits.onnx' };
    const answer = await service.prune({ ...wrong, outputs: '1,2x3' });
    expect(answer.status, answer.text).toBe(400);
    expect(namesOf(answer)).toEqual(['inputs', 'outputs', 'result_name', 'timeout']);
    const taken = await service.prune({ result_name: 'digits.onnx' });
    expect(taken.status).toBe(409);
    expect(namesOf(taken)).toEqual(['result_name']);
  });

  test('for what is missing, and for a model that is not there', async () => {
    const nothing = await service.call(quantize, { as: service.developer });
    expect(namesOf(nothing)).toEqual(['model_name', 'precision', 'strategy']);
    expect((await service.prune({ model_name: 'absent.onnx' })).status).toBe(404);
  });

  test('for the model or strategy of somebody else', async () => {
    const other = await service.user('developer');
    expect((await service.prune({}, other)).status).toBe(403);
    const { json } = await service.prune();
    const path = { strategy_id: json.strategy_id };
    expect((await service.call(cancelPruning, { path, as: other })).status).toBe(403);
    expect((await service.call(readPruning, { path, as: other })).status).toBe(200);
    await service.untilCompression('prune', json.strategy_id);
  });
});

// One story: the list has what the tests before it made.
describe('the strategies of a user', { shuffle: false }, () => {
  test('strategies beyond what a user or the deployment may have wait in line, and ended ones free their place', async () => {
    const admin = await service.user('admin');
    const asked = [await service.prune({ exclude: 'wait' }), await service.prune({ exclude: 'wait' })];
    expect(asked.map(({ status }) => status)).toEqual([200, 200]);
    const third = await service.prune();
    expect(third).toMatchObject({
      status: 200,
      json: { status: 'CREATED', status_reason: '2 of your jobs run; this is first in line.' },
    });
    const large = await service.prune({ vcpus: '4', memory: '8192' }, admin);
    expect(large.json.status_reason).toBe(
      'Waits until 4 of the 6 vCPUs of this deployment are free; this is first in line.',
    );
    const listed = await service.call(listPrunings, { as: admin });
    expect(listed.json.slice(0, 2)).toMatchObject([{ place_in_line: 1 }, { place_in_line: 1 }]);
    for (const { json } of asked) {
      const path = { strategy_id: json.strategy_id };
      await service.call(cancelPruning, { path, as: service.developer });
      await service.untilCompression('prune', json.strategy_id);
    }
    const { json } = await service.prune({ vcpus: '4', memory: '8192' });
    expect(await service.untilCompression('prune', json.strategy_id)).toMatchObject({
      status: 'SUCCEEDED',
      vcpus: 4,
    });
  });

  test('an Idempotency-Key makes one strategy', async () => {
    const query = {
      model_name: 'digits.onnx',
      inputs: '1,1,8,8',
      outputs: '1x10',
      strategy: 'random',
      seed: '99',
    };
    const call = { query, as: service.developer, headers: { 'Idempotency-Key': 'once' } };
    const first = await service.call(prune, call);
    expect(first.json, first.text).toMatchObject({ compression: 1, seed: 99 });
    const second = await service.call(prune, call);
    expect(second.json.strategy_id).toBe(first.json.strategy_id);
    const other = await service.call(prune, { ...call, query: { ...query, seed: '98' } });
    expect(other.status).toBe(422);
    const { json: all } = await service.call(listPrunings, { as: service.developer });
    expect(all.filter(({ seed }: { seed: number }) => seed === 99)).toHaveLength(1);
    await service.untilCompression('prune', first.json.strategy_id);
  });

  test('a mask that does not parse is named with all else that is wrong', async () => {
    const query = { model_name: 'digits', inputs: '1', outputs: '1', strategy: 'random', seed: 'x' };
    const answer = await service.call(prune, { query, headers: { 'X-Fields': '{a' }, as: service.developer });
    expect(answer.status).toBe(400);
    expect(answer.json.errors.map((fault: { name: string }) => fault.name)).toEqual(['seed', 'X-Fields']);
  });

  test('X-Fields leaves only what was asked for', async () => {
    const answer = await service.call(quantize, {
      query: { model_name: 'digits.onnx', strategy: 'float16', precision: '16' },
      as: service.developer,
      headers: { 'X-Fields': 'strategy_id,quant_type,missing' },
    });
    expect(answer.json).toEqual({ strategy_id: expect.any(String), quant_type: 'float16' });
    await service.untilCompression('quantize', answer.json.strategy_id);
  });

  test('lists are newest first, and page by page', async () => {
    const { json: all } = await service.call(listPrunings, { as: service.developer });
    const ids = all.map(({ strategy_id }: { strategy_id: string }) => strategy_id);
    expect(ids.length).toBeGreaterThan(3);
    expect(ids).toEqual(ids.toSorted().toReversed());
    const first = await service.call(listPrunings, { query: { limit: '2' }, as: service.developer });
    const link = /<\?(.*)>/.exec(first.headers['link'] ?? '')?.[1] ?? '';
    const second = await service.call(listPrunings, { query: link, as: service.developer });
    const paged = [...first.json, ...second.json].map(({ strategy_id }) => strategy_id);
    expect(paged).toEqual(ids.slice(0, 4));
  });
});

test('the methods are published as JSON Schema', async () => {
  const { json: prunings } = await service.call(pruneMethods, { as: service.developer });
  const twoOfFour = prunings.anyOf.find(
    ({ properties }: Answer['json']) => properties.strategy.const === 'n_m_2_4',
  );
  expect(twoOfFour.properties).toMatchObject({ compression: { const: 2 } });
  for (const { description, properties } of prunings.anyOf) {
    expect(description).toMatch(/\w+\.$/);
    expect(properties).not.toHaveProperty('operation');
  }
  const { json: quantizations } = await service.call(quantizeMethods, { as: service.developer });
  const combinations = quantizations.anyOf.map(
    ({ properties: { strategy, precision, quant_type } }: Answer['json']) => [
      strategy.const,
      precision.const,
      quant_type.default,
    ],
  );
  expect(combinations).toEqual(
    expect.arrayContaining([
      ['dynamic', 8, 'int8'],
      ['static_minmax', 8, 'uint8'],
      ['static_percentile', 8, 'uint8'],
      ['static_entropy', 8, 'uint8'],
      ['weight_only', 4, 'int4'],
      ['weight_only', 8, 'int8'],
      ['float16', 16, 'float16'],
    ]),
  );
});
