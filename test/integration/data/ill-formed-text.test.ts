import { expect, test } from 'vitest';
import { testService } from '../../support/service.ts';

const half = 'cut in the middle of a \ud83d';
const whole = 'cut in the middle of a \ufffd';

test('text that was cut in the middle of a character is stored with U+FFFD in its place', async () => {
  const { records } = await testService();
  const key = { pk: 'JOB#1', sk: 'JOB' };
  const packed = Uint8Array.of(0xd8, 0);
  await records.write({
    put: { ...key, status_reason: half, attempts: [{ reason: half, [half]: 1 }], packed },
  });
  expect(await records.get(key)).toEqual({
    ...key,
    status_reason: whole,
    attempts: [{ reason: whole, [whole]: 1 }],
    packed,
  });
  await records.write({
    update: key,
    change: { set: { status_reason: `again ${half}` }, remove: ['packed'] },
  });
  expect(await records.get(key)).toMatchObject({ status_reason: `again ${whole}` });
});
