import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { modelFolder } from '../../../cli/upload/model-folder.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-model-folder-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const write = async (...names: string[]) => {
  for (const name of names) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), '{}');
  }
};

test('a folder of a model has its ONNX file, the data of that, and its tokenizer with what is beside it', async () => {
  await write(
    'onnx/model.onnx',
    'onnx/model.onnx_data',
    'onnx/model.onnx_data_1',
    'onnx/model_quantized.onnx',
    'README.md',
  );
  await write('tokenizer.json', 'config.json', '1_Pooling/config.json', 'model.safetensors');

  const found = await modelFolder(folder, 'shown');

  expect(found?.map(({ role, name }) => `${role} ${name}`)).toEqual([
    'model model.onnx',
    'data model.onnx_data',
    'data model.onnx_data_1',
    'preprocessing tokenizer.json',
    'preprocessing config.json',
    'preprocessing 1_Pooling/config.json',
  ]);
});

test('a folder without one ONNX file is refused with what is there, and a file is no folder', async () => {
  await write('a.onnx', 'b.onnx');

  await expect(modelFolder(folder, 'shown')).rejects.toThrow('shown has several ONNX files: a.onnx, b.onnx.');
  expect(await modelFolder(join(folder, 'a.onnx'), 'shown')).toBeUndefined();
});
