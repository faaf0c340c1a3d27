import { expect, test } from 'vitest';
import { ancestryOf } from '../../../functions/console/app/models/lineage/ancestry.ts';
import { ProblemError } from '../../../shared/client/problem-error.ts';

type Made = Parameters<typeof ancestryOf>[0];

const artifact = { kind: 'artifact', project_id: 'p', experiment_id: 'e', path: 'a.onnx' } as const;
const resultOf = (model_name: string) =>
  ({ kind: 'strategy', strategy_id: `of-${model_name}`, model_name }) as const;
const models: Record<string, Made> = {
  first: { model_name: 'first', origin: artifact },
  half: { model_name: 'half', origin: resultOf('first') },
  quarter: { model_name: 'quarter', origin: resultOf('half') },
  orphan: { model_name: 'orphan', origin: resultOf('gone') },
  loop: { model_name: 'loop', origin: resultOf('loop') },
};
const problem = (status: number) => new ProblemError(status, {}, `HTTP status ${status}`);
const known = (name: string): Made => {
  const found = models[name];
  if (found === undefined) throw problem(404);
  return found;
};
const of = (name: string) => ancestryOf(known(name), async (one) => known(one));

test('a model leads over the compressions that made it to its experiment', async () => {
  expect(await of('quarter')).toEqual({
    ancestors: [
      { model_name: 'first', strategy_id: 'of-first' },
      { model_name: 'half', strategy_id: 'of-half' },
    ],
    origin: artifact,
  });
  expect(await of('first')).toEqual({ ancestors: [], origin: artifact });
});

test('a deleted ancestor ends the search, and so does a circle', async () => {
  expect(await of('orphan')).toEqual({
    ancestors: [{ model_name: 'gone', strategy_id: 'of-gone' }],
    origin: undefined,
  });
  expect((await of('loop')).ancestors).toHaveLength(20);
});

test('another failure is not taken for a deleted model', async () => {
  const fails = () => Promise.reject(problem(503));
  await expect(ancestryOf(known('half'), fails)).rejects.toThrow();
});
