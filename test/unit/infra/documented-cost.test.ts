import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { trainingHour, trainingsCost } from '../../../infra/aws/cost/people.ts';
import { computePrices, shippingPrices } from '../../../infra/aws/cost/price-list.ts';
import { readOptions } from '../../../infra/aws/options/deployment-options.ts';

const readme = await readFile(join(import.meta.dirname, '../../../infra/README.md'), 'utf8');
const rows = readme.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
const options = readOptions({});

test('infra/README.md has the price of an hour of training that the price list gives', () => {
  const { watched, unwatched } = shippingPrices();

  const hour = rows.find(([, what]) => what?.startsWith('an hour of training on 1 vCPU'));
  const followed = rows.find(([, what]) => what?.startsWith('additional per hour in which a user follows'));

  expect(hour?.[2]).toBe(trainingHour(computePrices(options)).toFixed(3));
  expect(followed?.[2]).toContain(`up to ${(watched - unwatched).toFixed(3)} and`);
});

test.each([1, 10, 1000])('infra/README.md has what the trainings of %d people cost', (people) => {
  const row = rows.find(
    ([, name, requests]) => name === people.toLocaleString('en') && /^[\d,]+$/.test(requests ?? ''),
  );

  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  expect(row?.[5]).toBe(trainingsCost(people, options).toLocaleString('en', digits));
});
