import { expect, test } from 'vitest';
import { hubAddress } from '../../../shared/exports/hub-address.ts';

test.each([
  ['an-owner/a-model'],
  ['  hf://an-owner/a-model '],
  ['https://huggingface.co/an-owner/a-model'],
  ['https://huggingface.co/an-owner/a-model/?library=transformers#usage'],
  ['hf.co/an-owner/a-model'],
])('the model is read from %j', (text) => {
  expect(hubAddress(text)).toEqual({ hf: 'an-owner/a-model', revision: undefined });
});

test.each([
  ['a/b-v1.5.2@v1', 'a/b-v1.5.2', 'v1'],
  ['hf://a/b@refs/pr/1', 'a/b', 'refs/pr/1'],
  ['https://huggingface.co/a/b/tree/v1.0', 'a/b', 'v1.0'],
  ['https://huggingface.co/a/b/tree/refs%2Fpr%2F1', 'a/b', 'refs/pr/1'],
  ['https://huggingface.co/a/b/blob/main/onnx/model.onnx?download=true', 'a/b', 'main'],
  ['hf://bert-base-uncased@main', 'bert-base-uncased', 'main'],
])('the revision is read from %j', (text, hf, revision) => {
  expect(hubAddress(text)).toEqual({ hf, revision });
});

test.each([
  [''],
  ['hf://'],
  ['hf://a/b@'],
  ['a/b/c'],
  ['https://huggingface.co/'],
  ['https://huggingface.co/datasets/a/b'],
  ['https://huggingface.co/a/b/discussions/4'],
  ['https://huggingface.co.example.test/a/b'],
  ['https://github.com/a/b'],
])('%j is no model of the Hub', (text) => {
  expect(hubAddress(text)).toBeUndefined();
});
