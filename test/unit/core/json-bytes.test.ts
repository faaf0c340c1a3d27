import { expect, test } from 'vitest';
import { JsonBytes } from '../../../shared/core/text/json-bytes.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const written = (value: number): string => {
  const json = new JsonBytes(1);
  json.number(value);
  return Buffer.from(json.bytes()).toString();
};

test('numbers are written as JSON has them', () => {
  const random = seededRandom(5);
  const some = Array.from({ length: 500 }, () =>
    Math.floor((random() - 0.5) * 10 ** Math.floor(random() * 17)),
  );
  for (const value of [
    0,
    -0,
    9,
    10,
    -10,
    99,
    100,
    2 ** 53 - 1,
    1 - 2 ** 53,
    2 ** 60,
    1e21,
    0.1,
    -5e-324,
    ...some,
  ])
    expect(written(value)).toBe(JSON.stringify(value));
});

test('bytes and texts follow each other, however many they are', () => {
  const json = new JsonBytes(4);
  json.ascii('{"a":');
  json.raw(Buffer.from('"é"'));
  json.ascii('}');
  expect(json.length).toBe(10);
  expect(JSON.parse(Buffer.from(json.bytes()).toString())).toEqual({ a: 'é' });
});
