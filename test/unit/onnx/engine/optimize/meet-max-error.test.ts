import { expect, test } from 'vitest';
import { SearchTime } from '../../../../../shared/onnx/engine/auto/search-time.ts';
import { meetMaxError } from '../../../../../shared/onnx/engine/optimize/meet-max-error.ts';
import type { TrialContext } from '../../../../../shared/onnx/engine/optimize/run-trial.ts';
import { incomparable } from '../../../../../shared/onnx/measure/verify/incomparable.ts';
import { testFolder } from '../../../../support/onnx/stage-program.ts';

/** A place where every runTrial ends with this reason for having no error, and counts the stages. */
async function placeOf(why: string) {
  const stages: string[] = [];
  const output = { name: 'y', relative_l2_error: null, largest_difference: null, values: 2, why };
  const run = async (name: string) => {
    stages.push(name);
    return name === 'transform' ? { files: ['m'], layers: [] } : { outputs: [output] };
  };
  const optimization = { request: { operation: 'quantize' }, say: () => {} };
  const out = `${await testFolder()}/out`;
  const place = { optimization, stages: { run }, time: new SearchTime(), out, observed: null, feed: {} };
  return { place: place as unknown as TrialContext, stages };
}

test.each([incomparable.noNumbers, incomparable.noValues])(
  'max_error fails where an output %s',
  async (why) => {
    const { place, stages } = await placeOf(why);
    await expect(meetMaxError(place, 0.5)).rejects.toThrow(
      `max_error 0.5 cannot be judged: the output "y" ${why}`,
    );
    expect(stages).toEqual(['transform', 'compare']);
    await expect(meetMaxError(place, null)).resolves.toMatchObject({ excluded: [] });
  },
);

test('max_error passes over an output that is no tensor', async () => {
  const { place } = await placeOf(incomparable.noTensor);
  await expect(meetMaxError(place, 0.5)).resolves.toMatchObject({ excluded: [] });
});

/** Eight layers, of which the first three cause an error. A trial takes 100 seconds, or 10 for the error of one layer. */
async function slowTrials(seconds: number) {
  const layers = ['l0', 'l1', 'l2', 'l3', 'l4', 'l5', 'l6', 'l7'];
  let left = seconds;
  let changed = layers;
  const run = async (name: string, { kind, exclude }: { kind: string; exclude: string[] }) => {
    if (kind === 'transform') {
      changed = layers.filter((layer) => !exclude.includes(layer));
      return { files: ['m'], layers: changed.map((layer) => ({ layer, error: 0, parameters_before: 1 })) };
    }
    left -= name === 'sensitivity' ? 10 : 100;
    const relative_l2_error = changed.filter((layer) => layer < 'l3').length;
    return { outputs: [{ name: 'y', relative_l2_error, largest_difference: 0, values: 2 }] };
  };
  const optimization = { request: { operation: 'quantize', strategy: 'dynamic' }, say: () => {} };
  const time = new SearchTime(() => left);
  const out = `${await testFolder()}/out`;
  const place = { optimization, stages: { run }, time, out, observed: null, feed: {}, operators: {} };
  return place as unknown as TrialContext;
}

const ended = "The job's time ended the search before it tried to change more layers.";

test.each([
  { seconds: 2000, unchanged: 3, note: undefined },
  { seconds: 900, unchanged: 4, note: ended },
  { seconds: 500, unchanged: 7, note: ended },
])(
  'max_error leaves $unchanged layers unchanged in $seconds seconds',
  async ({ seconds, unchanged, note }) => {
    const { excluded, notes } = await meetMaxError(await slowTrials(seconds), 0.1);

    expect(excluded).toHaveLength(unchanged);
    expect(notes.find((line) => line.includes("job's time"))).toBe(note);
  },
);

test('max_error measures only the layers for which half of the time suffices', async () => {
  const { notes } = await meetMaxError(await slowTrials(240), 0.1);

  expect(notes.at(-1)).toBe(
    "The job's time ended the search before it tried the sensitivity of 2 layers; to change more layers.",
  );
});
