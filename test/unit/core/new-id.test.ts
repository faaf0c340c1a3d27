import { expect, test } from 'vitest';
import { Ulid } from '../../../shared/core/formats.ts';
import { newId } from '../../../shared/core/new-id.ts';

test('ids are ULIDs, sort by their time, and none comes twice', () => {
  const ids = Array.from({ length: 5_000 }, (_, index) => newId(1_700_000_000_000 + index));
  expect(ids.every((id) => Ulid.safeParse(id).success)).toBe(true);
  expect(ids.toSorted()).toEqual(ids);
  const randomParts = ids.map((id) => id.slice(10));
  expect(new Set(randomParts).size).toBe(ids.length);
  // Each of the 32 characters is drawn at each of the 16 places.
  for (let place = 0; place < 16; place += 1)
    expect(new Set(randomParts.map((text) => text[place])).size).toBe(32);
});
