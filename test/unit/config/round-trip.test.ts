import { stringify as stringifyToml } from 'smol-toml';
import { expect, test } from 'vitest';
import { stringify as stringifyYaml } from 'yaml';
import { parseConfigFile } from '../../../shared/config/parse-config-file.ts';
import fc, { runs } from '../../support/seeded-fast-check.ts';

/** Any mapping or list that JSON can carry; -0 is 0 there. */
const documents = fc
  .oneof(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), fc.array(fc.jsonValue()))
  .map((value) => JSON.parse(JSON.stringify(value)));

/** Keys in quotes: a plain `<<` would be a merge, not a key. */
const quotedKeys = { defaultKeyType: 'QUOTE_DOUBLE' } as const;

const canonical = (name: string, text: string) =>
  JSON.parse(JSON.stringify(parseConfigFile(name, text).data));

test('any JSON document', () => {
  fc.assert(
    fc.property(documents, (value) => {
      expect(canonical('a.json', JSON.stringify(value))).toEqual(value);
    }),
  );
});

test('any document written as YAML', () => {
  fc.assert(
    fc.property(documents, (value) => {
      expect(canonical('a.yaml', stringifyYaml(value, quotedKeys))).toEqual(value);
    }),
  );
});

test('any JSON document is YAML too', () => {
  fc.assert(
    fc.property(documents, (value) => {
      expect(canonical('a.yaml', JSON.stringify(value, undefined, 1))).toEqual(value);
    }),
  );
});

test('any mapping that TOML can hold, written as TOML', () => {
  const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean());
  const { node } = fc.letrec((tie) => ({
    node: fc.oneof({ maxDepth: 4 }, leaf, fc.array(leaf), fc.dictionary(fc.string(), tie('node'))),
  }));
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), node, { minKeys: 1 }), (value) => {
      const written = JSON.parse(JSON.stringify(value));
      expect(canonical('a.toml', stringifyToml(written))).toEqual(written);
    }),
  );
});

test('no text makes a parser fail otherwise than by saying what is wrong', () => {
  const pieces = fc.constantFrom(
    'a',
    ': ',
    '- ',
    '\n',
    '  ',
    '{',
    '}',
    '[',
    ']',
    ',',
    '"',
    "'",
    '&a ',
    '*a',
    '<<',
    '!!x ',
    '|',
    '#',
    '---\n',
    '? ',
    '=',
    '1',
    '%',
    '\\',
    '\t',
    '\u0000',
    '2024-01-01',
    '\ud800',
  );
  fc.assert(
    fc.property(
      fc.constantFrom('a.yaml', 'a.json', 'a.toml'),
      fc.array(pieces, { maxLength: 25 }),
      (name, parts) => {
        const outcome = attempt(name, parts.join(''));
        expect(outcome).toMatch(/^(ConfigSyntaxError|[[{].*)$/s);
      },
    ),
    { numRuns: runs(3000) },
  );
});

function attempt(name: string, text: string): string {
  try {
    return JSON.stringify(parseConfigFile(name, text).data);
  } catch (error) {
    return error instanceof Error ? error.name : 'not an error';
  }
}
