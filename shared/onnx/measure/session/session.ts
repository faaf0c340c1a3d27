import { dirname } from 'node:path';
import type { InferenceSession, Tensor as RuntimeTensor } from 'onnxruntime-node';
import { ModelError } from '../../model/model-error.ts';
import { type FeedType, feedTypes, numbersOf, runtimeTypes, type typedView } from './feed-type.ts';
import { hideFolders } from './hide-folders.ts';

/** A tensor that goes into a session or comes out of it. */
export interface FedTensor {
  type: FeedType;
  dims: readonly number[];
  values: ReturnType<typeof typedView>;
}

/** Kind of an output that is no tensor of numbers. */
export interface OtherValue {
  type: 'other';
}

/**
 * ONNX Runtime, which reports its sessions to its maker and keeps a device id in the home folder unless a variable
 * disables that before it is loaded.
 */
async function silentRuntime() {
  process.env['ORT_DISABLE_TELEMETRY'] = '1';
  return await import('onnxruntime-node');
}

/** Version of ONNX Runtime that sessions run in. */
export async function runtimeVersion(): Promise<string> {
  const { env } = await silentRuntime();
  return env.versions.node ?? env.versions.common;
}

const longestReason = 600;

/** Message of ONNX Runtime, without positions in its own sources and without the model's folder. */
function reason(cause: unknown, path: string): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return hideFolders(text, [dirname(path)])
    .replaceAll(/\/[\w./-]*onnxruntime[\w./-]*:\d+ [^\n]*?\n?(?=\S)/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, longestReason);
}

const known = new Map<string, FeedType>(feedTypes.map((type) => [runtimeTypes[type], type]));

/** The model of a session, as error messages name it. */
export type SessionOf = 'model' | 'result';

/** Which of its optimizations ONNX Runtime applies to a graph, in its own words: each has those before it. */
export type GraphOptimization = 'disabled' | 'extended' | 'all';

/**
 * A session of ONNX Runtime on one thread of the CPU. Only for processes that may die: native code can crash, and can
 * run without end.
 */
export class Session {
  readonly #of: SessionOf;
  readonly #path: string;
  readonly #session: InferenceSession;
  readonly #makeTensor: (tensor: FedTensor) => RuntimeTensor;

  private constructor(
    of: SessionOf,
    path: string,
    session: InferenceSession,
    makeTensor: (tensor: FedTensor) => RuntimeTensor,
  ) {
    this.#of = of;
    this.#path = path;
    this.#session = session;
    this.#makeTensor = makeTensor;
  }

  /** @throws ModelError where ONNX Runtime does not take the model */
  static async open(path: string, of: SessionOf, level: GraphOptimization = 'all'): Promise<Session> {
    const { InferenceSession: sessions, Tensor } = await silentRuntime();
    try {
      const session = await sessions.create(path, {
        executionProviders: ['cpu'],
        intraOpNumThreads: 1,
        interOpNumThreads: 1,
        executionMode: 'sequential',
        graphOptimizationLevel: level,
        logSeverityLevel: 3,
      });
      return new Session(of, path, session, ({ type, dims, values }) => {
        const tensor = new Tensor(runtimeTypes[type], values, dims);
        // Its JavaScript makes a Float16Array of half precision, of which its native part sees no byte.
        if (type === 'float16') Reflect.set(tensor, 'cpuData', values);
        return tensor;
      });
    } catch (cause) {
      throw new ModelError(`ONNX Runtime cannot load the ${of}: ${reason(cause, path)}`);
    }
  }

  /** Outputs that are tensors: the only ones that ONNX Runtime hands to JavaScript. */
  get outputNames(): readonly string[] {
    return this.#outputs(true);
  }

  /** Outputs that are sequences or maps, as classifiers of scikit-learn have them. */
  get otherOutputs(): readonly string[] {
    return this.#outputs(false);
  }

  #outputs(areTensors: boolean): readonly string[] {
    return this.#session.outputMetadata
      .filter(({ isTensor }) => isTensor === areTensors)
      .map(({ name }) => name);
  }

  /** Tensors as a session takes them, to be run several times. */
  prepare(feeds: ReadonlyMap<string, FedTensor>): Record<string, RuntimeTensor> {
    return Object.fromEntries([...feeds].map(([name, tensor]) => [name, this.#makeTensor(tensor)]));
  }

  /** Runs and drops what comes out, as timing does. */
  async runPrepared(feeds: Record<string, RuntimeTensor>): Promise<void> {
    await this.#run(feeds);
  }

  /** @throws ModelError where an operator fails on these values */
  async run(
    feeds: ReadonlyMap<string, FedTensor>,
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
      throw new ModelError(`ONNX Runtime cannot run the ${this.#of}: ${reason(cause, this.#path)}`);
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

/** The numbers in a tensor. */
export const tensorNumbers = ({ type, values }: FedTensor): ArrayLike<number> => numbersOf(type, values);
