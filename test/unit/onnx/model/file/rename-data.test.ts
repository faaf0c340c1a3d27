import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { InferenceSession } from 'onnxruntime-node';
import { expect, onTestFinished, test } from 'vitest';
import { renameData } from '../../../../../shared/onnx/model/file/save-model.ts';
import { saveWithData } from '../../../../support/onnx/data-beside.ts';

test('a model whose data have another name is opened under it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rename-data-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  saveWithData(folder);
  const file = join(folder, 'model.onnx');
  renameSync(join(folder, 'model.onnx.data'), join(folder, 'small.onnx.data'));
  await expect(InferenceSession.create(file)).rejects.toThrow('model.onnx.data');
  const bytes = readFileSync(file);
  expect(Buffer.from(renameData(bytes, new Map())).equals(bytes)).toBe(true);
  writeFileSync(file, renameData(bytes, new Map([['model.onnx.data', 'small.onnx.data']])));
  const session = await InferenceSession.create(file);
  expect(session.inputNames).toEqual(['x']);
  await session.release();
});

/** A message of one field that has a length. */
const message = (number: number, content: Uint8Array | string): Uint8Array =>
  new BinaryWriter()
    .tag(number, WireType.LengthDelimited)
    .bytes(typeof content === 'string' ? Buffer.from(content) : content)
    .finish();

test('tensors of branches, functions and sparse tensors are found, and texts that are alike stay', () => {
  const tensor = (location: string) =>
    message(13, Buffer.concat([message(1, 'location'), message(2, location)]));
  const node = (attribute: Uint8Array) => message(1, message(5, attribute));
  const model = (location: string) =>
    Buffer.concat([
      message(7, node(message(6, node(message(5, tensor(location)))))),
      message(7, message(15, message(1, tensor(location)))),
      message(25, message(7, message(5, message(10, tensor(location))))),
      // The name of a graph, and an entry that is no location.
      message(7, message(2, 'a.data')),
      message(7, message(5, message(13, Buffer.concat([message(1, 'checksum'), message(2, 'a.data')])))),
    ]);
  const renamed = renameData(model('a.data'), new Map([['a.data', 'a name that is longer.data']]));
  expect(Buffer.from(renamed).equals(model('a name that is longer.data'))).toBe(true);
});
