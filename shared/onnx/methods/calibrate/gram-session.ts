import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { Session } from '../../measure/session/session.ts';
import { Model } from '../../model/file/model.ts';
import { saveModel } from '../../model/file/save-model.ts';
import { Graph, makeNode } from '../../model/graph/graph.ts';
import { valueInfoOf } from '../../model/graph/value-info.ts';
import { GraphProtoSchema, ModelProtoSchema, OperatorSetIdProtoSchema } from '../../model/proto/onnx_pb.js';
import { ExternalData } from '../../model/tensor/external-data.ts';

/** Compute Gram matrices (XᵀX) with ONNX Runtime's vectorized kernels. */
export class GramSession {
  readonly #session: Session;

  private constructor(session: Session) {
    this.#session = session;
  }

  /** Open a session. `folder` must not exist. It exists only while the session opens. */
  static async open(folder: string): Promise<GramSession> {
    mkdirSync(folder);
    try {
      const [file = ''] = saveModel(gramModel(), folder);
      return new GramSession(await Session.open(join(folder, file), 'model'));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Return XᵀX (channels × channels) of a row-major float32 matrix X. */
  async gram(values: Float32Array, rows: number, channels: number): Promise<Float32Array> {
    const x = { type: 'float', dims: [rows, channels], values } as const;
    const y = (await this.#session.run(new Map([['x', x]]))).get('y');
    if (y?.type !== 'float' || !(y.values instanceof Float32Array))
      throw new Error('a product has no values');
    return y.values;
  }

  async release(): Promise<void> {
    await this.#session.release();
  }
}

/** Build a model with one node: y = xᵀ · x. */
function gramModel(): Model {
  const graph = create(GraphProtoSchema, {
    name: 'gram',
    node: [makeNode('Gemm', ['x', 'x'], ['y'], { attributes: { transA: 1 } })],
    input: [valueInfoOf({ name: 'x', type: 'float', dims: ['rows', 'channels'] })],
    output: [valueInfoOf({ name: 'y', type: 'float', dims: ['channels', 'channels'] })],
  });
  const proto = create(ModelProtoSchema, {
    irVersion: 7n,
    opsetImport: [create(OperatorSetIdProtoSchema, { domain: '', version: 13n })],
  });
  const external = new ExternalData('.');
  return new Model(proto, new Graph(graph, external), external);
}
