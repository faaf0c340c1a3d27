import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endpoint as createModel } from '../../../../functions/optimization/models/create-model.endpoint.ts';
import { endpoint as putModel } from '../../../../functions/optimization/models/put-model.endpoint.ts';
import type { OptimizationKind } from '../../../../shared/data/jobs/job.ts';
import { type Compression, listCompressions } from '../../../../shared/data/models/compression.ts';
import { parseModel } from '../../../../shared/data/models/model.ts';
import { isCompression } from '../../../../shared/jobs/job-record.ts';
import type { Inventory } from '../../../support/inventory.ts';
import { must } from '../world/ask.ts';
import type { Service } from '../world/service.ts';
import type { Course, Ground } from './course.ts';

const fixture = readFile(join(import.meta.dirname, '../../../fixtures/onnx/digits.onnx'));
const model_name = 'digits.onnx';
const result_name = 'slim.onnx';
const neighbour_name = 'neighbour.onnx';

/** What is asked for, besides the model and the name of the result. */
const requested = {
  prune: { inputs: '1x1x8x8', outputs: '1x10', strategy: 'structured_l2', compression: '2' },
  quantize: { strategy: 'dynamic', precision: '8' },
} as const;

async function newModel({ environment }: Service, token: string, name: string): Promise<void> {
  const bytes = await fixture;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const path = { model_name: name };
  const asked = { path, query: { file: 'model', sha256, size: String(bytes.length) }, token };
  const { upload } = await must(createModel, environment, asked);
  const { 'content-length': _, ...headers } = upload.headers;
  const put = await fetch(upload.url, { method: upload.method, headers, body: new Uint8Array(bytes) });
  if (!put.ok) throw new Error(`the upload was refused: ${await put.text()}`);
  await must(putModel, environment, { path, token });
}

function lacking({ records, objects }: Inventory, compression: Compression): string[] {
  const { strategy_id, result, receipt_parts, registered } = compression;
  const own = records.filter(({ pk }) => pk === `JOB#${strategy_id}`).map(({ sk }) => sk);
  const receipts = own.filter((sk) => sk.startsWith('RECEIPT#'));
  const made = records.find(({ pk, sk }) => pk === 'MODELS' && sk === result_name);
  const files = made === undefined ? [] : parseModel(made).files;
  const stored = new Set(objects.map(({ key }) => key));
  const lost = [...result, ...files].filter(({ object }) => !stored.has(object));
  return [
    ...(result.length === 1 ? [] : [`its result has ${result.length} files`]),
    ...lost.map(({ object }) => `the object ${object}`),
    ...(receipts.length === receipt_parts && receipt_parts > 0 ? [] : ['its receipt']),
    ...(registered === true && files.length === 1 ? [] : [`the model ${result_name}`]),
    ...(own.some((sk) => sk.startsWith('LOG#')) ? [] : ['its log']),
  ];
}

/** A model that is pruned or quantized into another one. */
export async function compressionCourse(
  kind: OptimizationKind,
  { service, token, scenario, witness }: Ground,
): Promise<Course> {
  for (const name of [model_name, neighbour_name]) await newModel(service, token, name);
  return {
    create: {
      endpoint: kind,
      question: { query: { model_name, result_name, vcpus: '1', memory: '2048', ...requested[kind] }, token },
    },
    cancel: (record) => ({
      endpoint: kind === 'prune' ? 'cancelPrune' : 'cancelQuantize',
      question: { path: { strategy_id: isCompression(record) ? record.strategy_id : '' }, token },
    }),
    records: async () => (await listCompressions(service.records, kind, { after: undefined })).items,
    isUnderWay: ({ status, status_reason }) => status === 'RUNNING' && status_reason === null,
    lacking: (inventory, record) => (isCompression(record) ? lacking(inventory, record) : []),
    hostEnvironment: {
      OPERATION: kind,
      WITNESS: witness,
      WORK_SECONDS: scenario === 'cancelled' ? '3' : '0.05',
    },
    neighbours: [neighbour_name],
  };
}
