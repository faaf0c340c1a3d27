import { describe, expect, test } from 'vitest';
import { Canaries } from '../../proofs/faults/secrets/canaries.ts';
import { proof } from '../../proofs/faults/secrets.proof.ts';
import { everySample } from '../../support/samples.ts';
import { shortForm } from '../../support/short-form.ts';

describe('a canary is found', () => {
  const canaries = new Canaries();
  const secret = canaries.make('a password');
  const inBase64 = (before: string) => Buffer.from(`${before}${secret}, and more`).toString('base64');

  test.each([
    ['as it is', `text ${secret} text`],
    ['in hexadecimal', Buffer.from(secret).toString('hex')],
    ...['', 'a', 'ab', 'abc'].map((before) => [`in Base64 after "${before}"`, inBase64(before)]),
  ])('%s', (_, text) => {
    expect(canaries.within(Buffer.from(text))).toEqual(['a password']);
  });

  test('nowhere else, nor where it may be', () => {
    expect(canaries.within(Buffer.from(secret.slice(0, -1)))).toEqual([]);
    expect(canaries.within(Buffer.from(secret), [secret])).toEqual([]);
  });
});

test.runIf(everySample)('no secret gets into logs, errors, DescribeJobs or files', async () => {
  const { missed, output } = await shortForm(proof);
  expect(missed, output).toEqual([]);
});
