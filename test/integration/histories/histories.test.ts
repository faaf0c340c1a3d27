import { expect, test } from 'vitest';
import { proof } from '../../proofs/faults/histories.proof.ts';
import { shortForm } from '../../support/short-form.ts';

test('what concurrent clients are answered has a sequential order', async () => {
  const { missed, output } = await shortForm(proof);
  expect(missed, output).toEqual([]);
});
