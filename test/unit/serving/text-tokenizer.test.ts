import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TextTokenizer } from '../../../shared/serving/texts/text-tokenizer.ts';

const folder = join(import.meta.dirname, '../../fixtures/texts');
const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const tokenizerOf = (model: string) => new TextTokenizer(read(`${model}/tokenizer.json`), {});

/** Strings of 27 scripts, with what the Rust library makes of them. */
const { strings, ids, pairs } = read('encodings.json');

test.each(Object.keys(ids))('the tokenizer of %s gives the tokens of the Rust library', (model) => {
  const tokenizer = tokenizerOf(model);

  const encoded = strings.map((text: string) => tokenizer.encode(text, undefined, 1e6).ids);
  const encodedPairs = pairs[model].map((_: unknown, at: number) => {
    const { ids: both, types } = tokenizer.encode(strings[2 * at], strings[2 * at + 1], 1e6);
    return [both, types];
  });

  expect(encoded).toEqual(ids[model]);
  expect(encodedPairs).toEqual(pairs[model]);
});

test('a text is cut between its special tokens, and of a pair the longer text first', () => {
  const tokenizer = tokenizerOf('minilm');
  const [text, short] = ['1 2 3 4 5 6 7 8', '9 9'];
  const own = tokenizer.encode(text!, undefined, 1e6).ids.slice(1, -1);

  const cut = tokenizer.encode(text!, undefined, 6);
  const pair = tokenizer.encode(text!, short, 9);
  const nothing = tokenizer.encode(text!, undefined, 1);

  expect(cut).toMatchObject({ ids: [2, ...own.slice(0, 4), 3], own: [1, 2, 3, 4], isCut: true });
  expect(pair.ids).toHaveLength(9);
  expect(pair.types).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 1]);
  expect(nothing.ids).toEqual([2, 3]);
});

test('what is no tokenizer, or has a map that is damaged, is an error with a reason', () => {
  const json = read('reranker/tokenizer.json');
  const damaged = structuredClone(json);
  damaged.normalizer.normalizers[0].precompiled_charsmap = 'AAAAAAAA';

  expect(() => new TextTokenizer({}, {})).toThrow('model');
  expect(() => new TextTokenizer(damaged, {})).toThrow('precompiled_charsmap');
  expect(() => new TextTokenizer({ ...json, post_processor: { type: 'Odd' } }, {})).toThrow('"Odd"');
});

/** Each text is one word; its normal form alone is known. */
test.each([
  ['the order of marks later than Unicode 9', { type: 'NFC' }, 'ກ\u0eb8\u0eba', 'ກ\u0eb8\u0eba'],
  ['a sign later than Unicode 9', { type: 'NFKC' }, '\u32ff\u3232', '\u32ff(有)'],
  ['accents', { type: 'StripAccents' }, 'e\u0301\u0aab\u0afa\u1cf2', 'e\u0aab\u0afa'],
  ['spaces at both ends', { type: 'Strip' }, '\u0085\ufeffa b\u2028\u0085', '\ufeffa b'],
  ['spaces at one end', { type: 'Strip', strip_right: false }, ' a ', 'a '],
  [
    'marks later than Unicode 8',
    { type: 'BertNormalizer', lowercase: true },
    'É\u{1e922}\u{1e949}',
    'e\u{1e922}\u{1e949}',
  ],
])('%s have the normal form of the Rust library', (_, normalizer, text, normal) => {
  const model = { type: 'WordPiece', unk_token: '?', vocab: { '?': 0, [normal]: 1 } };

  expect(new TextTokenizer({ normalizer, model }, {}).encode(text, undefined, 10).ids).toEqual([1]);
});
