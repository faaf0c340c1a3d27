import { expect } from 'vitest';

/**
 * Return the items of a list that must not be empty, for a loop of assertions.
 * @example for (const table of nonEmpty(service.of('AWS::DynamoDB::Table'))) expect(table).toMatchObject({});
 */
export function nonEmpty<Item>(items: Iterable<Item> | undefined): readonly Item[] {
  const list = [...(items ?? [])];
  expect(list, 'items to check').not.toHaveLength(0);
  return list;
}
