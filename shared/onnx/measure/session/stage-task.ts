import * as z from 'zod';
import { dataSources } from '../../receipt/data-used.ts';
import { measures } from '../../strategies/measure.ts';

const count = z.int().nonnegative();
const dims = z.array(count);

/** An input of a model and its synthetic values. */
export const FedInput = z.object({
  name: z.string(),
  type: z.string(),
  /**
   * Dimensions that the model declares. A dimension is null if the model leaves it open. The list is null if the
   * model leaves the rank open.
   */
  declared: z.array(z.number().nullable()).nullable(),
  /** Dimensions of synthetic values; null if only a data set gives the dimensions. */
  dims: dims.nullable(),
  /** Kind of synthetic values: draws from a normal distribution, whole numbers below `below`, or all one. */
  values: z.enum(['normal', 'index', 'one']),
  below: count,
});
export type FedInput = z.output<typeof FedInput>;

const shapes = z.record(z.string(), z.array(z.int().nullable()));

/** Requested shapes by name; null for a free dimension. */
const RequestedShapes = z.object({ inputs: shapes, outputs: shapes });
export type RequestedShapes = z.output<typeof RequestedShapes>;

/** The input data of a session. */
const Feed = z.object({
  inputs: z.array(FedInput),
  /** Path of an npz file; null for synthetic values. */
  set: z.string().nullable(),
  /** Shapes that the samples of a set must have. */
  asked: RequestedShapes.optional(),
  source: z.enum(dataSources),
  /** Whether the last of several synthetic samples is zeros, like padding. */
  silence: z.boolean().optional(),
  /** Maximum number of samples. */
  samples: count,
  seed: count,
});
export type Feed = z.output<typeof Feed>;

const request = z.record(z.string(), z.unknown());

const tasks = {
  /** Check a model's structure and count its parts. */
  read: z.object({
    kind: z.literal('read'),
    model: z.string(),
    /** The planned request. The stage refuses a model that does not support it. */
    request: request.optional(),
    shapes,
  }),
  /** Observe the activation ranges or statistics that a request needs, into the new folder `out`. */
  calibrate: z.object({
    kind: z.literal('calibrate'),
    model: z.string(),
    request,
    feed: Feed,
    out: z.string(),
  }),
  /** Transform a model and write it to the empty folder `out`. */
  transform: z.object({
    kind: z.literal('transform'),
    model: z.string(),
    request,
    /** Names of nodes that stay unchanged, in addition to those that the request excludes. */
    exclude: z.array(z.string()),
    /** Names of layers with float inputs. A static quantization quantizes only their weights. */
    float_inputs: z.array(z.string()).optional(),
    /** Names of layers whose blocks have 8 bits. */
    eight_bits: z.array(z.string()).optional(),
    /** Folder of the calibration data; null without calibration. */
    observed: z.string().nullable(),
    out: z.string(),
    /** Compression factor of a pruning by `auto`, possibly a fraction. */
    compression: z.number().optional(),
    /** File name of the result in `out`. */
    name: z.string().optional(),
  }),
  /** Find sizes of open dimensions that the model runs with. `open` names the variable axes. */
  probe: z.object({
    kind: z.literal('probe'),
    model: z.string(),
    inputs: z.array(FedInput),
    open: z.record(z.string(), z.array(count)),
    seed: count,
  }),
  /** Upgrade a model's opset and write it to the empty folder `out`. */
  raise: z.object({
    kind: z.literal('raise'),
    model: z.string(),
    to: count,
    out: z.string(),
    name: z.string().optional(),
  }),
  /** Open a session of a model for later stages of this process. */
  open: z.object({
    kind: z.literal('open'),
    model: z.string(),
    of: z.enum(['model', 'result']).optional(),
    /** Also run it on these samples. `before` is the original model. */
    trial: z.object({ before: z.string(), feed: Feed }).optional(),
  }),
  /** Run both models and compare their outputs. Count correct labels if the samples have labels. */
  compare: z.object({
    kind: z.literal('compare'),
    before: z.string(),
    after: z.string(),
    feed: Feed,
    /** Inputs of the result, if their types or names differ from the model's. */
    after_inputs: z.array(FedInput).optional(),
    /** Seconds after which a model gets no further sample. By default all samples are compared. */
    seconds: z.number().optional(),
    /** Limit of the loss. A result that exceeds it stops early. */
    limit: z.object({ of: z.enum(['loss', 'error']), most: z.number() }).optional(),
  }),
  /** Time both models for about `seconds`; two minutes by default. */
  time: z.object({
    kind: z.literal('time'),
    before: z.string(),
    after: z.string(),
    feed: Feed,
    seconds: z.number().optional(),
  }),
  /** Time a model in rounds, usually against another one. `together` says whether both fit into memory. */
  race: z.object({
    kind: z.literal('race'),
    base: z.object({ path: z.string(), feed: Feed }).nullable(),
    file: z.object({ path: z.string(), feed: Feed }),
    together: z.boolean(),
    seconds: z.number(),
  }),
  /** Measure the sizes of files, uncompressed and compressed. */
  size: z.object({
    kind: z.literal('size'),
    before: z.array(z.string()),
    after: z.array(z.string()),
    measure: z.enum(measures).optional(),
  }),
  /** Compare layers one by one, for models too large for a session. */
  check: z.object({
    kind: z.literal('check'),
    before: z.string(),
    after: z.string(),
    seed: count,
    layers: z.array(z.string()),
    work: z.string(),
  }),
} as const;

export const StageTask = z.discriminatedUnion('kind', [
  tasks.read,
  tasks.calibrate,
  tasks.transform,
  tasks.probe,
  tasks.raise,
  tasks.open,
  tasks.compare,
  tasks.time,
  tasks.race,
  tasks.size,
  tasks.check,
]);
export type StageTask = z.output<typeof StageTask>;
export type StageKind = StageTask['kind'];
export type TaskOf<K extends StageKind> = Extract<StageTask, { kind: K }>;

/** A line that a stage writes to descriptor 3. The last line is a result or an error. */
export const StageLine = z.union([
  z.object({ progress: z.number(), bytes: count.optional() }),
  z.object({ say: z.string() }),
  z.object({ answer: z.unknown(), peak_memory_bytes: count }),
  z.object({ fault: z.string(), stack: z.string().optional() }),
]);
export type StageLine = z.output<typeof StageLine>;
