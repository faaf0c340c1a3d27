import { expect, test } from 'vitest';
import type { PreprocessingName } from '../../../shared/data/models/preprocessing-names.ts';
import { labelsOf } from '../../../shared/serving/protocol/model-config.ts';
import { readTextSettings } from '../../../shared/serving/texts/read-text-settings.ts';

const input = { name: 'input_ids', type: 'int64', shape: ['b', 's'] };
const vectors = {
  inputs: [input],
  outputs: [{ name: 'last_hidden_state', type: 'float32', shape: ['b', 's', 8] }],
};
const logits = { inputs: [input], outputs: [{ name: 'logits', type: 'float32', shape: ['b', 1] }] };

const read = (files: Partial<Record<PreprocessingName, unknown>>, tensors = vectors) =>
  readTextSettings(
    new Map(
      Object.entries(files).map(([name, value]) => [
        name as PreprocessingName,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    ),
    tensors,
  );

test.each(['constructor', '__proto__', 'toString'])('a prompt named %s that is not there is none', (name) => {
  const prompts = { prompts: {}, default_prompt_name: name };

  expect(read({ 'config_sentence_transformers.json': prompts }).settings?.prompt).toBe('');
});

const long = 'x'.repeat(1e6);
test.each<[string, Partial<Record<PreprocessingName, unknown>>]>([
  [
    'prompt',
    { 'config_sentence_transformers.json': { prompts: { query: long }, default_prompt_name: 'query' } },
  ],
  ['padding', { 'tokenizer_config.json': { pad_token: long } }],
  ['label', { 'config.json': { id2label: { 0: long } } }],
  ['module', { 'modules.json': [{ type: `a.${long}` }] }],
  ['list of modules', { 'modules.json': Array(10_000).fill({ type: 'a.Dense' }) }],
])('a %s that is too long for a record is a fault of bounded length', (_, files) => {
  const { settings, fault } = read(files);

  expect(settings).toBeNull();
  expect(fault?.length).toBeLessThan(1_001);
});

test('labels may be a list, or numbers, as other writers have them', () => {
  expect(labelsOf('{"id2label": ["no", "yes"]}')).toEqual(['no', 'yes']);
  expect(labelsOf('{"id2label": {"0": 0, "1": 1}}')).toEqual(['0', '1']);
  expect(read({ 'config.json': { id2label: ['no', 'yes'] } }, logits).fault).toBeNull();
});

test('the scores of a cross-encoder have the activation of either file', () => {
  const activation_fn = 'torch.nn.modules.linear.Identity';
  const activation = (files: Parameters<typeof read>[0]) => read(files, logits).settings?.activation;

  expect(activation({ 'config.json': {} })).toBe('sigmoid');
  expect(activation({ 'config.json': { sentence_transformers: { activation_fn } } })).toBe('none');
  expect(activation({ 'config.json': { sbert_ce_default_activation_function: activation_fn } })).toBe('none');
  expect(activation({ 'config_sentence_transformers.json': { activation_fn } })).toBe('none');
});

test('a pooling whose file is missing or elsewhere is a fault, not the mean', () => {
  const modules = (path: string) => [{ type: 'sentence_transformers.models.Pooling', path }];
  const cls = { pooling_mode_cls_token: true };

  expect(read({ 'modules.json': modules('1_Pooling') }).fault).toContain('has a pooling in "1_Pooling"');
  expect(read({ 'modules.json': modules('pool'), '1_Pooling/config.json': cls }).fault).toContain('"pool"');
  expect(read({ 'modules.json': modules('1_Pooling'), '1_Pooling/config.json': cls }).settings?.pooling).toBe(
    'cls',
  );
});

test('a Dense is inside a graph that gives sentence_embedding for each text, and in no other', () => {
  const files = { 'modules.json': [{ type: 'sentence_transformers.models.Dense', path: '2_Dense' }] };
  const output = (name: string, ...shape: (string | number)[]) => ({
    inputs: [input],
    outputs: [{ name, type: 'float32', shape }],
  });

  expect(read(files, output('sentence_embedding', 'b', 8)).settings).toMatchObject({
    output: 'sentence_embedding',
    pooling: null,
  });
  for (const other of [output('sentence_embedding', 'b', 's', 8), output('last_hidden_state', 'b', 's', 8)])
    expect(read(files, other).fault).toContain('"Dense", which is not part of the ONNX file');
  const dropout = { 'modules.json': [{ type: 'sentence_transformers.models.Dropout' }] };
  expect(read(dropout, output('sentence_embedding', 'b', 8)).fault ?? '').not.toContain('Dropout');
  const unknown = { 'modules.json': [{ type: 'sentence_transformers.models.LSTM' }] };
  expect(read(unknown, output('sentence_embedding', 'b', 8)).fault).toContain('"LSTM"');
});

test('what is no JSON says so', () => {
  expect(read({ 'config.json': '{"dropout": NaN}' }).fault).toContain('config.json is not JSON');
});
