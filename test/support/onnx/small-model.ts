import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { InferenceSession, Tensor as RunTensor } from 'onnxruntime-node';
import { loadModel } from '../../../shared/onnx/model/file/load-model.ts';
import { Model } from '../../../shared/onnx/model/file/model.ts';
import { saveModel } from '../../../shared/onnx/model/file/save-model.ts';
import { Graph } from '../../../shared/onnx/model/graph/graph.ts';
import { type Dim, valueInfoOf } from '../../../shared/onnx/model/graph/value-info.ts';
import {
  GraphProtoSchema,
  ModelProtoSchema,
  type NodeProto,
} from '../../../shared/onnx/model/proto/onnx_pb.js';
import { ExternalData } from '../../../shared/onnx/model/tensor/external-data.ts';
import type { Tensor } from '../../../shared/onnx/model/tensor/tensor.ts';

/** What a small model of float inputs and outputs is made of. */
export interface SmallModel {
  nodes: readonly NodeProto[];
  constants: readonly Tensor[];
  inputs: Readonly<Record<string, readonly Dim[]>>;
  outputs: Readonly<Record<string, readonly Dim[]>>;
  opset?: number;
  domains?: Readonly<Record<string, number>>;
}

/** Puts a small model together. */
export function smallModel({
  nodes,
  constants,
  inputs,
  outputs,
  opset = 17,
  domains = {},
}: SmallModel): Model {
  const external = new ExternalData('.');
  const infos = (values: Readonly<Record<string, readonly Dim[]>>) =>
    Object.entries(values).map(([name, dims]) => valueInfoOf({ name, type: 'float', dims }));
  const graph = new Graph(
    create(GraphProtoSchema, {
      name: 'small',
      node: [...nodes],
      input: infos(inputs),
      output: infos(outputs),
    }),
    external,
  );
  for (const tensor of constants) graph.put(tensor);
  const opsets = Object.entries({ '': opset, ...domains });
  const proto = create(ModelProtoSchema, {
    irVersion: 8n,
    opsetImport: opsets.map(([domain, version]) => ({ domain, version: BigInt(version) })),
  });
  return new Model(proto, graph, external);
}

function inFolder<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'onnx-test-'));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The bytes of a model as they are saved, without external data. */
export const savedBytes = (model: Model): Uint8Array =>
  inFolder((folder) => {
    saveModel(model, folder);
    return new Uint8Array(readFileSync(join(folder, 'model.onnx')));
  });

/** The same model, read anew from its saved form. */
export const copyOf = (model: Model): Model =>
  inFolder((folder) => {
    saveModel(model, folder);
    return loadModel(join(folder, 'model.onnx'));
  });

/** Runs a model in ONNX Runtime without optimizations; float inputs by name, float outputs by name. */
export async function runSmall(
  model: Model,
  feeds: Readonly<Record<string, { dims: readonly number[]; data: Float32Array }>>,
): Promise<Record<string, { dims: readonly number[]; data: Float32Array }>> {
  const session = await InferenceSession.create(savedBytes(model), {
    intraOpNumThreads: 1,
    graphOptimizationLevel: 'disabled',
    logSeverityLevel: 3,
  });
  try {
    const inputs = Object.entries(feeds).map(([name, { dims, data }]): [string, RunTensor] => [
      name,
      new RunTensor('float32', data, dims),
    ]);
    const results = await session.run(Object.fromEntries(inputs));
    return Object.fromEntries(
      Object.entries(results).map(([name, { dims, data }]) => [
        name,
        { dims, data: Float32Array.from(data as Float32Array) },
      ]),
    );
  } finally {
    await session.release();
  }
}

/** Relative L2 distance ‖a − b‖ / ‖b‖. */
export function relativeError(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [apart, whole] = [0, 0];
  for (let at = 0; at < b.length; at += 1) {
    apart += ((a[at] ?? 0) - (b[at] ?? 0)) ** 2;
    whole += (b[at] ?? 0) ** 2;
  }
  return whole === 0 ? Math.sqrt(apart) : Math.sqrt(apart / whole);
}
