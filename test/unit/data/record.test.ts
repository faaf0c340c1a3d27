import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { UnreadableRecordError } from '../../../shared/data/table/item.ts';
import { recordType } from '../../../shared/data/table/record.ts';

const key = { pk: 'FRUITS', sk: 'apple' };
const fruit = recordType('fruit', () => z.object({ kind: z.string(), weight: z.number() }));

describe('record type', () => {
  test('keeps every attribute of its schema, also one named kind', () => {
    const item = fruit.item(key, { kind: 'pome', weight: 3 });
    expect(item).toEqual({ ...key, record_type: 'fruit', schema_version: 0, kind: 'pome', weight: 3 });
    expect(fruit.parse(item)).toEqual({ kind: 'pome', weight: 3 });
  });

  test.each(['pk', 'sk', 'record_type', 'schema_version'])(
    'refuses a schema with an attribute named %s',
    (name) => {
      expect(() => recordType('fruit', () => z.object({ [name]: z.string() })).schema).toThrow(
        `attributes named ${name}`,
      );
    },
  );

  test('brings older items up to date, and refuses newer and other ones by name', () => {
    const second = recordType('fruit', () => z.object({ grams: z.number() }), [
      ({ weight }) => ({ grams: Number(weight) * 1000 }),
    ]);
    expect(second.parse(fruit.item(key, { kind: 'pome', weight: 3 }))).toEqual({ grams: 3000 });
    expect(() => fruit.parse(second.item(key, { grams: 1 }))).toThrow(UnreadableRecordError);
    expect(() => fruit.parse({ ...key, record_type: 'tree', schema_version: 0 })).toThrow(
      'FRUITS/apple is a tree, not a fruit',
    );
    expect(() => fruit.parse({ ...key, record_type: 'fruit', schema_version: 0, weight: 'much' })).toThrow(
      'weight',
    );
  });
});
