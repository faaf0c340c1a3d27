import { expect, test } from 'vitest';
import * as z from 'zod';
import { parsePart } from '../../../shared/http/body/parse-part.ts';

test('an unknown key within a parameter is reported at its place', () => {
  const schema = z.strictObject({
    size: z.strictObject({ memory: z.number() }),
    stop: z.strictObject({ rule: z.string() }, { error: 'is not known here; allowed is rule' }),
  });

  const { faults } = parsePart(schema, {
    values: { size: { memory: 1, memry: 2 }, stop: { rule: 'asha', rul: 1 }, sise: 1 },
    placeOf: () => 'body',
  });

  expect(faults).toEqual([
    { in: 'body', name: 'size.memry', message: 'is not known here' },
    { in: 'body', name: 'stop.rul', message: 'is not known here; allowed is rule' },
    { in: 'body', name: 'sise', message: 'is not a parameter of this operation; allowed are size, stop' },
  ]);
});
