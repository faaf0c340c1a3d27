import { describe, expect, test } from 'vitest';
import { likePattern } from '../../../shared/search/like-pattern.ts';
import { parseFilter } from '../../../shared/search/parse-filter.ts';
import fc, { runs } from '../../support/seeded-fast-check.ts';
import { row, vocabulary } from './rows.ts';

describe('a pattern', () => {
  test('matches as the regular expression that it means', () => {
    const letter = fc.constantFrom('a', 'b', '%', '_', '\n', '.');
    const text = fc.array(letter, { maxLength: 8 }).map((letters) => letters.join(''));
    const repeated = fc
      .tuple(text, fc.integer({ min: 1, max: 12 }))
      .map(([part, times]) => part.repeat(times));
    fc.assert(
      fc.property(fc.oneof(text, repeated), fc.oneof(text, repeated), (given, pattern) => {
        const meaning = (letter: string) => ({ '%': '.*', _: '.' })[letter] ?? RegExp.escape(letter);
        const expression = [...pattern.replaceAll(/%+/g, '%')].map(meaning).join('');
        expect(likePattern(pattern).matches(given)).toBe(new RegExp(`^${expression}$`, 's').test(given));
      }),
      { numRuns: runs(300) },
    );
  });

  test.each([
    [`%${'a'.repeat(40)}%`, `${'b'.repeat(39)}${'a'.repeat(40)}`, true],
    [`%${'ab'.repeat(40)}%`, `${'ab'.repeat(39)}aab${'ab'.repeat(38)}`, false],
    [`%${'ab'.repeat(40)}%`, `${'ab'.repeat(39)}a${'ab'.repeat(40)}`, true],
    [`%${'a_'.repeat(40)}b%`, `${'a'.repeat(90)}b`, true],
    [`%${'a_'.repeat(40)}b%`, `${'a'.repeat(79)}b`, false],
    [`%${'_'.repeat(33)}%`, 'a'.repeat(32), false],
    ['%a%_a%', 'aba', true],
    ['a%a', 'a', false],
    ['_%_', 'a', false],
  ])('%s of %s: %s', (pattern, text, isMatch) => {
    expect(likePattern(pattern).matches(text)).toBe(isMatch);
  });

  test.each([
    ['%b'.concat('a'.repeat(997), '%'), 8000],
    ['%'.concat('a'.repeat(997), 'b%'), 8000],
    ['%a'.repeat(499).concat('b'), 8000],
    [`%a_${'a'.repeat(990)}b%`, 8000 * 32],
  ])('reads a long text in steps of its length, not of the product: %.20s', (pattern, most) => {
    const filter = parseFilter(`name LIKE '${pattern}'`, vocabulary);

    expect(filter.matches(row('1', { name: 'a'.repeat(8000) }))).toBe(false);

    expect(filter.steps()).toBeLessThan(most + 100);
  });
});
