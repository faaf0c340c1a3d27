import { describe, expect, test } from 'vitest';
import { isDeepJson, maxJsonDepth } from '../../../shared/http/body/json-depth.ts';

const nested = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`;

describe('JSON', () => {
  test.each([
    [nested(maxJsonDepth), false],
    [nested(maxJsonDepth + 1), true],
    [nested(1_000_000), true],
    [`${'{"a":'.repeat(101)}1${'}'.repeat(101)}`, true],
    [`[${Array(200).fill('[]').join(',')}]`, false],
    [JSON.stringify('['.repeat(200)), false],
    [JSON.stringify(`"\\${'['.repeat(200)}`), false],
    ['"', false],
  ])('%.20s is nested too deep: %s', (text, isDeep) => {
    expect(isDeepJson(text)).toBe(isDeep);
  });
});
