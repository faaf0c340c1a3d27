import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { findServedVersion, findServing } from '../../../shared/data/models/serving.ts';
import { packBytes } from '../../../shared/serving/protocol/datatypes.ts';
import { ModelSessions } from '../../../shared/serving/sessions/model-sessions.ts';
import { SessionEndedError } from '../../../shared/serving/sessions/session-errors.ts';
import { everySample, sampled } from '../../support/samples.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { sendFile, serveFolder, textModels } from './served-folder.ts';
import { ask, protocol } from './served-model.ts';
import { objectsOf, sessionLimits } from './session-limits.ts';

let service: TestService;
let as: TestUser;
/** Texts, and what sentence-transformers and transformers answer. */
let texts: string[];
let expected: { vectors: Record<string, number[][]>; scores: number[]; labels: string[][] };
beforeAll(async () => {
  service = await testService();
  as = await service.user('developer');
  const made = JSON.parse(await readFile(join(textModels, 'expected.json'), 'utf8'));
  texts = made.strings;
  const { reranker: scores, ner: labels, ...vectors } = made.expected;
  expected = { vectors, scores, labels };
});

const difference = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((value, at) => Math.abs(value - (b[at] ?? Number.NaN))));

test.each(sampled(['minilm', 'roberta-cls'], 2))(
  '%s answers texts with the vectors of sentence-transformers',
  async (folder) => {
    await serveFolder(service, as, folder, folder);

    const plain = await ask(service, folder, { texts }, { as });
    const input = { name: 'text', datatype: 'BYTES', shape: [texts.length], data: texts };
    const tensors = await ask(service, folder, { inputs: [input] }, { as });

    expect(plain.status, plain.text).toBe(200);
    const { embeddings } = plain.json;
    expect(difference(embeddings.flat(), (expected.vectors[folder] ?? []).flat())).toBeLessThan(1e-4);
    const [output] = tensors.json.outputs;
    expect(output).toMatchObject({ name: 'embedding', datatype: 'FP32', shape: [texts.length, 16] });
    expect(difference(output.data, embeddings.flat())).toBeLessThan(1e-6);
  },
);

test('a classifier answers with the labels of its own files', async () => {
  await serveFolder(service, as, 'sentiment', 'sentiment');

  const plain = await ask(service, 'sentiment', { texts }, { as });
  const described = await protocol(service, 'models/sentiment', { as });

  const wanted = (expected.vectors['sentiment'] ?? []).map((row) => row.indexOf(Math.max(...row)));
  const labels = wanted.map((index) => ['negative', 'neutral', 'positive'][index]);
  expect(plain.json.labels.map(({ label }: { label: string }) => label)).toEqual(labels);
  const scores = plain.json.labels.map(({ score }: { score: number }) => score);
  expect(
    difference(
      scores,
      (expected.vectors['sentiment'] ?? []).map((row) => Math.max(...row)),
    ),
  ).toBeLessThan(1e-4);
  expect(described.json.parameters.texts).toMatchObject({ task: 'classification', max_tokens: 64 });
});

test('a cross-encoder scores pairs, and another model the classes of tokens', async () => {
  await serveFolder(service, as, 'reranker', 'reranker');
  await serveFolder(service, as, 'ner', 'ner');
  const wanted = expected.scores;
  const pairs = wanted.flatMap((_, at) => (texts[at + 1] === undefined ? [] : [[texts[at], texts[at + 1]]]));

  const scored = await ask(service, 'reranker', { texts: pairs }, { as });
  const named = await ask(service, 'ner', { texts: texts.slice(5, 25) }, { as });

  expect(scored.status, scored.text).toBe(200);
  expect(difference(scored.json.scores, wanted)).toBeLessThan(1e-4);
  const labels = named.json.tokens.map((row: { label: string }[]) => row.map(({ label }) => label));
  expect(labels).toEqual(expected.labels);
});

test('texts that are too long are cut and named, and bad ones are refused with all faults', async () => {
  await serveFolder(service, as, 'bounded', 'minilm');
  const refusal = async (body: object) => (await ask(service, 'bounded', body, { as })).json.error;

  const cut = await ask(service, 'bounded', { texts: ['short', 'long '.repeat(900)] }, { as });

  expect(cut.json).toMatchObject({ cut: [1] });
  expect(cut.json.embeddings).toHaveLength(2);
  expect(await refusal({ texts: [] })).toContain('texts: must be a list of texts');
  expect(await refusal({ texts: ['one', 2] })).toContain('texts[1]: must be a text');
  expect(await refusal({ texts: [['one', 'two'], 'three'] })).toContain('texts[1]: must be a pair');
  expect(await refusal({ texts: ['one'], pairs: ['two'] })).toContain(
    'pairs: is no field beside texts; a pair is',
  );
  expect(await refusal({ texts: ['a\u0000b'] })).toContain('must be a string without U+0000');
  expect(await refusal({ texts: ['x'.repeat(2 ** 15 + 1)] })).toContain('at most 32768 are allowed');
  expect(await refusal({ texts: Array(257).fill('x') })).toContain('at most 256 (max_batch)');
});

test('faults of plain texts and pictures name the fields of the request, each once', async () => {
  await serveFolder(service, as, 'plain', 'minilm');
  const refusal = async (body: object) => (await ask(service, 'plain', body, { as })).json.error;

  expect(await refusal({ texts: [null] })).toBe('texts[0]: must be a text');
  expect(await refusal({ texts: ['one', ['two', 'three']] })).toBe('texts[1]: must be a text');
  expect(await refusal({ texts: [['one']] })).toBe(
    'texts[0]: must be a pair: a list of two texts, as the first one is',
  );
  expect(await refusal({ texts: ['one', 'a\u0000b'] })).toMatch(
    /^texts\[1\]: must be a string without U\+0000/,
  );
  expect(await refusal({ texts: [['one', 'a\ud800b']] })).toMatch(
    /^texts\[0\]\[1\]: must be a string without U\+0000 and without lone surrogates; it is/,
  );
  expect(await refusal({ texts: Array(257).fill('x') })).toMatch(/^texts: has a first dimension of 257;/);
});

test('a model with a tokenizer still takes tensors, and one without says why it takes no texts', async () => {
  await serveFolder(service, as, 'both', 'minilm');
  await serveFolder(service, as, 'dense', 'minilm', {
    'modules.json': '[{"type": "sentence_transformers.models.Dense"}]',
  });
  const values = { input_ids: [2, 5, 3], attention_mask: [1, 1, 1], token_type_ids: [0, 0, 0] };
  const ids = Object.entries(values).map(([name, data]) => ({
    name,
    datatype: 'INT64',
    shape: [1, 3],
    data,
  }));

  const tensors = await ask(service, 'both', { inputs: ids }, { as });
  const refused = await ask(service, 'dense', { texts: ['one'] }, { as });

  expect(tensors.status, tensors.text).toBe(200);
  expect(tensors.json.outputs[0]).toMatchObject({ name: 'last_hidden_state', shape: [1, 3, 16] });
  expect(refused.status).toBe(400);
  expect(refused.json.error).toContain('modules.json has a "Dense", which is not part of the ONNX file');
});

test.runIf(everySample)(
  'two models with one ONNX file and different tokenizers answer each with its own',
  async () => {
    const tokenizer = JSON.parse(await readFile(join(textModels, 'minilm/tokenizer.json'), 'utf8'));
    const { lowercase } = tokenizer.normalizer;
    const other = { ...tokenizer, normalizer: { ...tokenizer.normalizer, lowercase: !lowercase } };
    await serveFolder(service, as, 'lower', 'minilm');
    await serveFolder(service, as, 'upper', 'minilm', { 'tokenizer.json': JSON.stringify(other) });

    const [one, two] = await Promise.all(
      ['lower', 'upper'].map((name) => ask(service, name, { texts: ['ABC def'] }, { as })),
    );

    expect(difference(one?.json.embeddings[0], two?.json.embeddings[0])).toBeGreaterThan(1e-3);
  },
);

test('a tokenizer that cannot be used is refused with its name, and changes nothing', async () => {
  const serving = await serveFolder(service, as, 'broken', 'minilm', {
    'tokenizer.json': '{"model": {"type": "Odd"}}',
  });
  const answer = await ask(service, 'broken', { texts: ['one'] }, { as });
  const late = await sendFile(
    service,
    as,
    'broken',
    { file: 'preprocessing', name: 'config.json' },
    Buffer.from('{}'),
  );
  const odd = await sendFile(
    service,
    as,
    'odd',
    { file: 'preprocessing', name: '../x.json' },
    Buffer.from('{}'),
  );
  const pickle = await serveFolder(service, as, 'pickle', 'minilm', { 'config.json': '\u0080\u0002pickle' });

  expect(serving.status).toBe(200);
  expect(answer.status).toBe(400);
  expect(answer.json.error).toContain('tokenizer.json cannot be used');
  expect(late.status).toBe(409);
  expect(odd.status).toBe(400);
  expect(pickle.json.detail).toContain('config.json is not JSON');
});

test.runIf(everySample)(
  'an expression of a tokenizer without end ends its own process at the deadline',
  async () => {
    const tokenizer = JSON.parse(await readFile(join(textModels, 'minilm/tokenizer.json'), 'utf8'));
    const pre_tokenizer = {
      type: 'Split',
      pattern: { Regex: '(a+)+$' },
      behavior: 'Isolated',
      invert: false,
    };
    const endless = JSON.stringify({ ...tokenizer, pre_tokenizer });
    await serveFolder(service, as, 'endless', 'minilm', { 'tokenizer.json': endless });
    const { model_id = '' } = (await findServing(service.records, 'endless')) ?? {};
    const version = await findServedVersion(service.records, model_id, 'original');
    if (version === undefined) throw new Error('not served');
    const sessions = new ModelSessions(sessionLimits({ timeLimit: 4_000 }));
    const run = (text: string) =>
      sessions.run(objectsOf(service), {
        version,
        memoryBytes: 700 * 2 ** 20,
        isWarm: false,
        inputs: [{ name: 'text', datatype: 'BYTES', shape: [1], bytes: packBytes([Buffer.from(text)]) }],
        outputs: ['embedding'],
        medium: 'texts',
      });

    const [stuck, behind] = await Promise.allSettled([run(`${'a'.repeat(60)}!`), run('b')]);
    sessions.end();

    expect(stuck).toMatchObject({ status: 'rejected', reason: expect.any(SessionEndedError) });
    expect(behind).toMatchObject({ status: 'fulfilled' });
  },
);
