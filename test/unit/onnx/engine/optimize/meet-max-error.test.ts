import { expect, test } from 'vitest';
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
  const place = { optimization, stages: { run }, out: `${await testFolder()}/out`, observed: null, feed: {} };
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
