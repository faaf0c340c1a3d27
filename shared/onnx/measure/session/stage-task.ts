import * as z from 'zod';
import { dataSources } from '../../receipt/data-used.ts';
import { measures } from '../../strategies/measure.ts';

const count = z.int().nonnegative();
const dims = z.array(count);

/** An input of a model, and the values that are fed to it. */
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

/** Requested shapes by name, null for dimensions that are free. */
const RequestedShapes = z.object({ inputs: shapes, outputs: shapes });
export type RequestedShapes = z.output<typeof RequestedShapes>;

/** The source of the numbers that a session is fed. */
const Feed = z.object({
  inputs: z.array(FedInput),
  /** Path of an npz file; null for synthetic values. */
  set: z.string().nullable(),
  /** Shapes that the samples of a set must have. */
  asked: RequestedShapes.optional(),
  source: z.enum(dataSources),
  /** Whether the last of several synthetic samples is silence: zeros, as padding has them. */
  silence: z.boolean().optional(),
  /** Most samples that are taken. */
  samples: count,
  seed: count,
});
export type Feed = z.output<typeof Feed>;

const request = z.record(z.string(), z.unknown());

const tasks = {
  /** Checks a model's structure and counts what it is made of. */
  read: z.object({
    kind: z.literal('read'),
    model: z.string(),
    /** The request that will follow, if a model that cannot take it is to be refused at once. */
    request: request.optional(),
    shapes,
  }),
  /** Observes the activations whose ranges or statistics a request needs, into the new folder `out`. */
  calibrate: z.object({
    kind: z.literal('calibrate'),
    model: z.string(),
    request,
    feed: Feed,
    out: z.string(),
  }),
  /** Transforms a model into the empty folder `out`. */
  transform: z.object({
    kind: z.literal('transform'),
    model: z.string(),
    request,
    /** Names of nodes that stay as they are, in addition to those that the request excludes. */
    exclude: z.array(z.string()),
    /** Names of layers whose weights alone a static quantization takes. */
    float_inputs: z.array(z.string()).optional(),
    /** Folder of what was observed; null where nothing was. */
    observed: z.string().nullable(),
    out: z.string(),
    /** Of a pruning that auto tries: a factor that need not be a whole number. */
    compression: z.number().optional(),
    /** Name of the result in there. */
    name: z.string().optional(),
  }),
  /** Looks for sizes of open dimensions that the model runs with; `open` names the axes that may be chosen. */
  probe: z.object({
    kind: z.literal('probe'),
    model: z.string(),
    inputs: z.array(FedInput),
    open: z.record(z.string(), z.array(count)),
    seed: count,
  }),
  /** Writes a model with a later version of ONNX's operator set into the empty folder `out`. */
  raise: z.object({
    kind: z.literal('raise'),
    model: z.string(),
    to: count,
    out: z.string(),
    name: z.string().optional(),
  }),
  /** Opens a session of a model, which stages that follow in the same process use. */
  open: z.object({
    kind: z.literal('open'),
    model: z.string(),
    of: z.enum(['model', 'result']).optional(),
    /** Runs it once, too; `before` is the model that it was made of. */
    trial: z.object({ before: z.string(), feed: Feed }).optional(),
  }),
  /** Runs both models and compares their outputs; counts labels that are met where the samples have any. */
  compare: z.object({
    kind: z.literal('compare'),
    before: z.string(),
    after: z.string(),
    feed: Feed,
    /** Inputs of the result where they are not those of the model: of another type, or name. */
    after_inputs: z.array(FedInput).optional(),
    /** Seconds after which each model is given no further sample; without it all samples are compared. */
    seconds: z.number().optional(),
    /** What a result may lose: one that exceeds it is run only as far as to know that. */
    limit: z.object({ of: z.enum(['loss', 'error']), most: z.number() }).optional(),
  }),
  /** Times both models, for about so many seconds; two minutes without them. */
  time: z.object({
    kind: z.literal('time'),
    before: z.string(),
    after: z.string(),
    feed: Feed,
    seconds: z.number().optional(),
  }),
  /** Times a model in rounds, as a rule beside another one; `together` says whether both have room in memory. */
  race: z.object({
    kind: z.literal('race'),
    base: z.object({ path: z.string(), feed: Feed }).nullable(),
    file: z.object({ path: z.string(), feed: Feed }),
    together: z.boolean(),
    seconds: z.number(),
  }),
  /** Measures files, as they are and compressed. */
  size: z.object({
    kind: z.literal('size'),
    before: z.array(z.string()),
    after: z.array(z.string()),
    measure: z.enum(measures).optional(),
  }),
  /** Compares layers one by one, for models too large for a session. */
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

/** A line that a stage writes to its fourth descriptor. The last one is a result or an error. */
export const StageLine = z.union([
  z.object({ progress: z.number(), bytes: count.optional() }),
  z.object({ say: z.string() }),
  z.object({ answer: z.unknown(), peak_memory_bytes: count }),
  z.object({ fault: z.string(), stack: z.string().optional() }),
]);
export type StageLine = z.output<typeof StageLine>;
