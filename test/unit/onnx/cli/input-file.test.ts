import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inspectFile } from '../../../../shared/onnx/cli/input-file.ts';
import { field, initializer, message, modelOf } from '../model/inspect/wire.ts';

/** Inspect a model whose only constant is in a file. */
async function locationsOf(location: string): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'onnx-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const place = field(13, message(field(1, 'location'), field(2, location)));
  const path = join(folder, 'model.onnx');
  await writeFile(path, modelOf(initializer('w', field(1, 4), field(2, 1), field(14, 1), place)));
  const { external_files } = await inspectFile(path);
  return external_files;
}

test('external data of the command may have any name below the folder of the model', async () => {
  const names = ['größe (1).bin', '.parts/a & b/重み.data'];

  expect(await Promise.all(names.map(locationsOf))).toEqual(names.map((name) => [name]));
});

test.each(['../w.bin', 'a/../../w.bin', '/w.bin', 'a//w.bin', 'a\\w.bin', 'w\n.bin'])(
  'external data of the command cannot be at %j',
  async (location) => {
    await expect(locationsOf(location)).rejects.toThrow('in the folder of the model or below it');
  },
);
