import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import type { InferenceSession, Tensor as RuntimeTensor } from 'onnxruntime-node';
import { ModelError } from '../../model/model-error.ts';
import { dataTypeName } from '../../model/tensor/data-type.ts';
import { type FeedType, feedTypes, numbersOf, runtimeTypes, type typedView } from './feed-type.ts';
import { hideFolders } from './hide-folders.ts';

/** An input or output tensor of a session. */
export interface FedTensor {
  type: FeedType;
  dims: readonly number[];
  values: ReturnType<typeof typedView>;
}

/** An input tensor of texts. */
export interface FedTexts {
  type: 'string';
  dims: readonly number[];
  values: readonly string[];
}

/** An output that is not a numeric tensor. */
export interface OtherValue {
  type: 'other';
}

/**
 * Load ONNX Runtime without telemetry. By default it reports its sessions to its vendor and keeps a device id in
 * the home folder. The variable must be set before loading.
 */
export async function silentRuntime() {
  process.env['ORT_DISABLE_TELEMETRY'] = '1';
  return await import('onnxruntime-node');
}

/** Version of ONNX Runtime. */
export async function runtimeVersion(): Promise<string> {
  const { env } = await silentRuntime();
  return env.versions.node ?? env.versions.common;
}

const longestReason = 600;

/** Clean a message of ONNX Runtime: remove positions in its sources and the model's folder. */
export function runtimeReason(cause: unknown, path: string): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return hideFolders(text, [dirname(path)])
    .replaceAll(/\/[\w./-]*onnxruntime[\w./-]*:\d+ [^\n]*?\n?(?=\S)/g, '')
    .replaceAll(/Unsupported data type: (\d+)/g, (_, code: string) => {
      const type = dataTypeName(Number(code)) ?? code;
      return `its inputs or outputs are of type ${type}, which ONNX Runtime does not pass to JavaScript.`;
    })
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, longestReason);
}

const known = new Map<string, FeedType>(feedTypes.map((type) => [runtimeTypes[type], type]));

/** Name of a session's model in error messages. */
export type SessionOf = 'model' | 'result';

/** Graph optimization level of ONNX Runtime. Each level includes the previous ones. */
export type GraphOptimization = 'disabled' | 'extended' | 'all';

/**
 * Threads of a session that is not timed. The outputs are the same to the bit, because a thread computes whole elements of a
 * product. Small operators gain nothing from more of them.
 */
export const untimedThreads = Math.min(4, availableParallelism());

/**
 * A session of ONNX Runtime, by default on one CPU thread. Use it only in expendable processes: native code can crash or run
 * forever.
 */
export class Session {
  readonly #of: SessionOf;
  readonly #path: string;
  readonly #session: InferenceSession;
  readonly #makeTensor: (tensor: FedTensor | FedTexts) => RuntimeTensor;

  private constructor(
    of: SessionOf,
    path: string,
    session: InferenceSession,
    makeTensor: (tensor: FedTensor | FedTexts) => RuntimeTensor,
  ) {
    this.#of = of;
    this.#path = path;
    this.#session = session;
    this.#makeTensor = makeTensor;
  }

  /** @throws ModelError if ONNX Runtime refuses the model */
  static async open(
    path: string,
    of: SessionOf,
    level: GraphOptimization = 'all',
    threads = 1,
  ): Promise<Session> {
    const { InferenceSession: sessions, Tensor } = await silentRuntime();
    try {
      const session = await sessions.create(path, {
        executionProviders: ['cpu'],
        intraOpNumThreads: threads,
        // A thread that waits leaves its processor to others, whose work is a job's too.
        extra: { session: { intra_op: { allow_spinning: '0' } } },
        interOpNumThreads: 1,
        executionMode: 'sequential',
        graphOptimizationLevel: level,
        logSeverityLevel: 3,
      });
      return new Session(of, path, session, ({ type, dims, values }) => {
        if (type === 'string') return new Tensor(type, [...values], dims);
        const tensor = new Tensor(runtimeTypes[type], values, dims);
        // The runtime's JavaScript makes a Float16Array of half precision. Its native part sees none of those
        // bytes.
        if (type === 'float16') Reflect.set(tensor, 'cpuData', values);
        return tensor;
      });
    } catch (cause) {
      throw new ModelError(`ONNX Runtime cannot load the ${of}: ${runtimeReason(cause, path)}`);
    }
  }

  /** Names of the tensor outputs. ONNX Runtime returns only these to JavaScript. */
  get outputNames(): readonly string[] {
    return this.#outputs(true);
  }

  /** Names of outputs that are sequences or maps, for example of scikit-learn classifiers. */
  get otherOutputs(): readonly string[] {
    return this.#outputs(false);
  }

  #outputs(areTensors: boolean): readonly string[] {
    return this.#session.outputMetadata
      .filter(({ isTensor }) => isTensor === areTensors)
      .map(({ name }) => name);
  }

  /** Convert tensors once for several runs. */
  prepare(feeds: ReadonlyMap<string, FedTensor | FedTexts>): Record<string, RuntimeTensor> {
    return Object.fromEntries([...feeds].map(([name, tensor]) => [name, this.#makeTensor(tensor)]));
  }

  /** Run and discard the outputs, for timing. */
  async runPrepared(feeds: Record<string, RuntimeTensor>): Promise<void> {
    await this.#run(feeds);
  }

  /** @throws ModelError if an operator fails on these values */
  async run(
    feeds: ReadonlyMap<string, FedTensor | FedTexts>,
    outputs = this.outputNames,
  ): Promise<Map<string, FedTensor | OtherValue>> {
    const results = await this.#run(this.prepare(feeds), outputs);
    return new Map(Object.entries(results).map(([name, value]) => [name, fedTensor(value)]));
  }

  async #run(
    feeds: Record<string, RuntimeTensor>,
    outputs = this.outputNames,
  ): Promise<InferenceSession.OnnxValueMapType> {
    try {
      return await this.#session.run(feeds, outputs);
    } catch (cause) {
      throw new ModelError(`ONNX Runtime cannot run the ${this.#of}: ${runtimeReason(cause, this.#path)}`);
    }
  }

  async release(): Promise<void> {
    await this.#session.release();
  }
}

function fedTensor(value: RuntimeTensor): FedTensor | OtherValue {
  const type = known.get(value.type);
  const { data } = value;
  if (type === undefined || Array.isArray(data)) return { type: 'other' };
  return { type, dims: value.dims, values: data };
}

/** Return the values of a tensor as numbers. */
export const tensorNumbers = ({ type, values }: FedTensor): ArrayLike<number> => numbersOf(type, values);
