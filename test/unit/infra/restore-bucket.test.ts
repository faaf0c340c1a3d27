import { expect, test } from 'vitest';
import { stepsTo } from '../../../infra/aws/deploy/restore-bucket.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 2, 3, minute));

/** The history of an object, the latest first: minutes of its versions, negative ones of delete markers. */
const history = (...minutes: number[]) =>
  minutes.map((minute, index) => ({
    Key: 'projects/a',
    VersionId: `v${minute}`,
    ...(minute > 0 && { ETag: `e${minute}`, Size: 1 }),
    LastModified: at(Math.abs(minute)),
    IsLatest: index === 0,
    isMarker: minute < 0,
  }));

test('an object that an earlier call has copied is left', () => {
  const [copied, ...others] = history(9, 8, 2).map((one) => ({ ...one, ETag: one.VersionId, Size: 1 }));

  expect(stepsTo([{ ...copied!, ETag: 'v2' }, ...others], at(5))).toEqual({});
});

test.each<[string, number[], object]>([
  ['that is unchanged, nothing', [2, 1], {}],
  ['that came later, nothing', [9, 8], {}],
  ['that was deleted before, nothing, though it came back', [9, -3, 1], {}],
  ['that was deleted, the end of its delete markers', [-9, -8, 2, 1], { remove: ['v-9', 'v-8'] }],
  ['that was replaced, a copy of its version', [9, 8, 2, 1], { copy: 'v2' }],
  ['that was replaced and deleted, the same', [-9, 8, 5], { copy: 'v5' }],
])('an object %s', (_, minutes, expected) => {
  const { remove, copy } = stepsTo(history(...minutes), at(5));

  expect({
    ...(remove !== undefined && { remove: remove.map(({ VersionId }) => VersionId) }),
    ...(copy !== undefined && { copy: copy.VersionId }),
  }).toEqual(expected);
});
