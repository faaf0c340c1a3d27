import { expect, test } from 'vitest';
import { typeText } from '../../../../../functions/service/docs/type-text.ts';

test.each([
  [{ type: 'string', minLength: 1 }, 'string, not blank'],
  [{ type: 'string', minLength: 8 }, 'string ≥ 8 characters'],
  [{ type: 'string', minLength: 1, maxLength: 128 }, 'string 1–128 characters'],
  [{ type: 'string', maxLength: 64 }, 'string ≤ 64 characters'],
  [{ type: 'string', format: 'date-time' }, 'string (date-time)'],
  [{ type: 'integer', minimum: 1 }, 'integer ≥ 1'],
  [{ type: ['string', 'null'] }, 'string or null'],
  [{ enum: ['open', 'closed'] }, '"open" | "closed"'],
  [{ type: 'array', items: { $ref: '#/components/schemas/Project' } }, 'list of Project'],
  [{}, 'any JSON'],
])('%j is %s', (schema, text) => {
  expect(typeText(schema, {})).toBe(text);
});
