import { ulid } from 'ulid';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { endpoint as deleteModel } from '../../../functions/optimization/models/delete-model.endpoint.ts';
import { type ObjectWriter, objectWriter } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { findModel } from '../../../shared/data/models/model.ts';
import { onnxFixture } from '../../support/model.ts';
import { seededBytes } from '../../support/seeded-bytes.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { send, sha256, type Ticket } from '../projects/upload-file.ts';
import { modelBench } from './model-bench.ts';

const randomBytes = seededBytes(2);

const mebibyte = 1024 ** 2;
const pair = onnxFixture('pair.onnx');
const w1 = onnxFixture('w1.bin');
const w2 = onnxFixture('w2.bin');

let service: TestService;
let owner: TestUser;
let objects: ObjectWriter;
let bench: ReturnType<typeof modelBench>;

beforeAll(async () => {
  service = await testService({ LOG_LEVEL: 'error' });
  owner = await service.user('developer');
  objects = objectWriter(s3(service.environment), service.environment['BUCKET'] ?? '');
});

beforeEach(() => {
  bench = modelBench(service, owner, `m${ulid().toLowerCase()}`);
});

describe('external data', () => {
  const data = (name: string) => ({ file: 'data', name });

  test('comes with the model, whose digest is over all of it', async () => {
    await bench.upload(w2, data('w2.bin'));
    await bench.upload(pair);
    const lacking = await bench.accept();
    expect([lacking.status, lacking.json.detail]).toEqual([
      409,
      expect.stringContaining('w1.bin is missing'),
    ]);
    await bench.upload(w1, data('w1.bin'));
    const { status, json } = await bench.accept();
    expect(status).toBe(200);
    expect(json.inspection.external_files).toEqual(['w1.bin', 'w2.bin']);
    expect(json.bytes).toBe(pair.length + w1.length + w2.length);
    const lines = [`${sha256(pair)} model.onnx\n`, `${sha256(w1)} w1.bin\n`, `${sha256(w2)} w2.bin\n`];
    expect(json.digest).toBe(sha256(Buffer.from(lines.sort().join(''))));
  });

  test('must have the bytes that the model reads', async () => {
    await bench.upload(pair);
    await bench.upload(w1, data('w1.bin'));
    await bench.upload(w2.subarray(1), data('w2.bin'));
    const { status, json } = await bench.accept();
    expect([status, json.detail]).toEqual([
      409,
      expect.stringContaining('w2.bin has 127 bytes but the model reads 128'),
    ]);
    await bench.upload(w2, data('w2.bin'));
    expect((await bench.accept()).status).toBe(200);
  });
});

describe('an upload in parts', () => {
  const big = Buffer.concat([w1, randomBytes(17 * mebibyte)]);
  const asPart = { file: 'data', name: 'w1.bin', multipart: 'true' };
  type Part = Ticket & { part_number: number; size: number };
  const slice = ({ part_number, size }: Part) => {
    const first = (part_number - 1) * 16 * mebibyte;
    return big.subarray(first, first + size);
  };

  test('begins anew where storage has given up what had arrived', async () => {
    const first = await bench.announce(big, asPart);
    const [part] = first.json.parts as Part[];
    const { pathname, searchParams } = new URL(part!.url);
    expect(await send(part!, slice(part!))).toBe(200);
    const object = decodeURIComponent(pathname.split('/').slice(2).join('/'));
    await objects.abortParts(object, searchParams.get('uploadId') ?? '');
    const parts = (await bench.announce(big, asPart)).json.parts as Part[];
    expect(parts).toHaveLength(2);
    for (const one of parts) expect(await send(one, slice(one))).toBe(200);
    expect((await bench.announce(big, asPart)).json.parts).toEqual([]);
    await bench.upload(pair);
    await bench.upload(w2, { file: 'data', name: 'w2.bin' });
    // All of it has arrived.
    const accepted = await bench.accept();
    expect(accepted.json.detail ?? '').not.toContain('parts of w1.bin');
  });

  test('is joined when it is accepted, once all parts are there in their sizes', async () => {
    await bench.upload(pair);
    await bench.upload(w2, { file: 'data', name: 'w2.bin' });
    const { json } = await bench.announce(big, asPart);
    expect(json.upload).toBeNull();
    const parts: Part[] = json.parts;
    expect(parts.map(({ part_number, size }) => [part_number, size])).toEqual([
      [1, 16 * mebibyte],
      [2, big.length - 16 * mebibyte],
    ]);
    const other = slice(parts[1]!);
    expect(await send(parts[0]!, other, { 'content-length': String(other.length) })).toBe(403);
    expect(await send(parts[0]!, slice(parts[0]!))).toBe(200);
    const early = await bench.accept();
    expect([early.status, early.json.detail]).toEqual([
      409,
      expect.stringContaining('1 of 2 parts of w1.bin (2)'),
    ]);
    // Asked again it is the same upload: what was sent stays sent, and only the rest is asked for.
    const again = await bench.announce(big, asPart);
    expect(again.json.parts).toMatchObject([{ part_number: 2, offset: 16 * mebibyte }]);
    expect(await send(again.json.parts[0], slice(parts[1]!))).toBe(200);
    expect((await bench.announce(big, asPart)).json.parts).toEqual([]);
    const accepted = await bench.accept();
    expect(accepted.status).toBe(200);
    const file = (await findModel(service.records, bench.path.model_name))?.files.find(
      ({ name }) => name === 'w1.bin',
    );
    // Storage cannot tell the SHA-256 of what came in parts.
    expect(file).toMatchObject({ size: big.length, sha256: sha256(big), verified: false });
    const head = await objects.head(file!.object);
    expect(head?.size).toBe(big.length);
    expect(await send(parts[0]!, slice(parts[0]!))).toBe(404);
  });

  test('is recognised where it was joined and the answer was lost', async () => {
    await bench.upload(pair);
    await bench.upload(w2, { file: 'data', name: 'w2.bin' });
    const { json } = await bench.announce(big, asPart);
    for (const part of json.parts) expect(await send(part, slice(part))).toBe(200);
    const pending = (await findModel(service.records, bench.path.model_name))?.pending.find(
      ({ parts }) => parts !== null,
    );
    const wanted = json.parts.map(({ part_number, size }: Part) => ({ part_number, size }));
    expect(await objects.completeParts(pending!.object, pending!.parts!.upload_id, wanted)).toEqual([]);
    expect((await bench.announce(big, asPart)).json.parts).toEqual([]);
    expect((await bench.accept()).status).toBe(200);
  });

  test('ends with the model', async () => {
    const { json } = await bench.announce(big, asPart);
    const { status } = await service.call(deleteModel, { path: bench.path, as: owner });
    expect(status).toBe(200);
    expect(await send(json.parts[1], slice(json.parts[1]))).toBe(404);
  });
});
