import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { answerTexts, type TextModel } from '../../../shared/serving/texts/answer-texts.ts';
import { TextTokenizer } from '../../../shared/serving/texts/text-tokenizer.ts';

afterEach(() => void vi.restoreAllMocks());

const json = readFileSync(join(import.meta.dirname, '../../fixtures/texts/minilm/tokenizer.json'), 'utf8');

/** A model whose runs take so many milliseconds of a clock that stands between them. */
function slowModel(milliseconds: number) {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const rows: number[] = [];
  const model: TextModel = {
    settings: {
      task: 'embedding',
      max_tokens: 2_048,
      output: 'vector',
      pooling: null,
      normalize: false,
      activation: 'none',
      width: 1,
      prompt: '',
      lowercase: false,
      padding: { token: '[PAD]', id: 0 },
    },
    tokenizer: new TextTokenizer(JSON.parse(json), {}),
    labels: [],
    inputs: ['input_ids'],
    async run(_, [count]) {
      now += milliseconds;
      rows.push(count);
      return { shape: [count, 1], values: new Float32Array(count) };
    },
  };
  return { model, rows };
}

test('texts that take a large model too long are refused before they end its process', async () => {
  const { model, rows } = slowModel(5_000);

  await expect(answerTexts(model, Array(8).fill('a '.repeat(600)), undefined)).rejects.toThrow(
    '3 of 8 texts were answered after 12 s',
  );
  expect(rows).toEqual([1, 1, 1]);
});

test('one text is answered however long it takes', async () => {
  const { model } = slowModel(20_000);

  const [embedding] = await answerTexts(model, ['a '.repeat(600)], undefined);

  expect(embedding).toMatchObject({ name: 'embedding', shape: [1, 1] });
});
