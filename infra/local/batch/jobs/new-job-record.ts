import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { BatchClientError } from '../batch-client-error.ts';
import type { Catalogue, Definition } from '../catalogue.ts';
import { checkPlacement } from '../placement.ts';
import { type Container, type JobRecord, type Node, RetryStrategy } from './job-record.ts';

/**
 * Make the job of a submission, in state SUBMITTED.
 * @throws BatchClientError for a request that AWS Batch would refuse
 */
export function newJobRecord(request: SubmitRequest, context: NewJobContext): JobRecord {
  const { catalogue, minimumTimeoutSeconds } = context;
  const queue = catalogue.queue(request.jobQueue);
  const definition = catalogue.definition(request.jobDefinition);
  const multinode = definition.type === 'multinode';
  if (multinode ? request.containerOverrides : request.nodeOverrides) {
    const wrong = multinode ? 'containerOverrides' : 'nodeOverrides';
    throw new BatchClientError(`${wrong} must not be provided for ${definition.type} jobs`);
  }
  const timeoutSeconds = request.timeout?.attemptDurationSeconds ?? definition.timeoutSeconds;
  if (timeoutSeconds !== undefined && timeoutSeconds < minimumTimeoutSeconds) {
    throw new BatchClientError(`attemptDurationSeconds must be at least ${minimumTimeoutSeconds} seconds`);
  }
  const dependsOn = [...new Set(request.dependsOn?.map(({ jobId }) => jobId))];
  const unknown = dependsOn.find((id) => !context.jobExists(id));
  if (unknown !== undefined) throw new BatchClientError(`Job dependency ${unknown} does not exist`);
  const layout = layOut(request, definition);
  // The first container is that of the definition. No node may use it.
  const used = layout.containers.filter((_, index) => layout.nodes.some((one) => one.container === index));
  checkPlacement(definition, queue, used);
  return {
    version: 1,
    sequence: context.sequence,
    id: randomUUID(),
    name: request.jobName,
    queue: queue.name,
    definition: definition.name,
    ...(request.shareIdentifier !== undefined && { share: request.shareIdentifier }),
    multinode,
    ...(definition.platform !== undefined && { platform: definition.platform }),
    status: 'SUBMITTED',
    createdAt: context.now,
    dependsOn,
    retryStrategy: retryStrategyOf(request, definition),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    tags: request.tags ?? {},
    parameters: request.parameters ?? {},
    ...layout,
    cancelled: false,
    terminated: false,
    events: [],
  };
}

const unsupported = z.undefined('is not served by the local Batch server').optional();

const text = z.string().refine((value) => !value.includes('\0'), 'may not hold a zero byte');

const tagKey = z.string().min(1).max(128);

const Environment = z.array(
  z.object({
    name: text
      .min(1)
      .refine((name) => !name.includes('='), 'may not hold an equals sign')
      .refine((name) => !name.startsWith('AWS_BATCH'), 'may not start with AWS_BATCH'),
    value: text.default(''),
  }),
);

const ResourceRequirements = z
  .array(
    z.object({
      type: z.enum(['VCPU', 'MEMORY', 'GPU']),
      value: z.string().regex(/^\d{1,7}(\.\d{1,3})?$/, 'must be a number'),
    }),
  )
  .refine((all) => new Set(all.map(({ type }) => type)).size === all.length, 'may name each type once');

const ContainerOverrides = z.object({
  command: z.array(text.min(1, 'may not be empty')).optional(),
  environment: Environment.optional(),
  resourceRequirements: ResourceRequirements.optional(),
});
type ContainerOverrides = z.infer<typeof ContainerOverrides>;

const NodeOverrides = z.object({
  numNodes: z.int().min(1).max(1000).optional(),
  nodePropertyOverrides: z
    .array(
      z.object({
        targetNodes: z.string(),
        containerOverrides: ContainerOverrides.optional(),
        ecsPropertiesOverride: unsupported,
        eksPropertiesOverride: unsupported,
      }),
    )
    .optional(),
});

/**
 * The request of SubmitJob. Parameters of AWS Batch that the local server does not support are refused, not
 * ignored.
 */
export const SubmitRequest = z.object({
  jobName: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/, 'should match valid pattern'),
  jobQueue: z.string().min(1),
  jobDefinition: z.string().min(1),
  containerOverrides: ContainerOverrides.optional(),
  nodeOverrides: NodeOverrides.optional(),
  dependsOn: z
    .array(z.object({ jobId: z.string(), type: unsupported }))
    .max(20)
    .optional(),
  retryStrategy: RetryStrategy.partial({ attempts: true }).optional(),
  timeout: z.object({ attemptDurationSeconds: z.int().optional() }).optional(),
  parameters: z.record(z.string(), text).optional(),
  tags: z
    .record(tagKey, z.string().max(256))
    .refine((tags) => Object.keys(tags).length <= 50, 'may be 50 at most')
    .optional(),
  propagateTags: z.boolean().optional(),
  arrayProperties: unsupported,
  /** Owner of the job. Owners take turns. On AWS only queues with a scheduling policy accept an owner. */
  shareIdentifier: z
    .string()
    .regex(/^[A-Za-z0-9]{1,255}$/, 'must be 1 to 255 letters and digits')
    .optional(),
  schedulingPriorityOverride: unsupported,
  ecsPropertiesOverride: unsupported,
  eksPropertiesOverride: unsupported,
  consumableResourcePropertiesOverride: unsupported,
});
export type SubmitRequest = z.infer<typeof SubmitRequest>;

interface NewJobContext {
  catalogue: Catalogue;
  minimumTimeoutSeconds: number;
  sequence: number;
  now: number;
  jobExists(id: string): boolean;
}

/** Return the containers of a job, and the container of each node. */
function layOut(request: SubmitRequest, definition: Definition): Pick<JobRecord, 'containers' | 'nodes'> {
  const { parameters = {}, nodeOverrides } = request;
  const base = (overrides?: ContainerOverrides) => containerOf(definition, overrides, parameters);
  if (definition.type === 'container')
    return { containers: [base(request.containerOverrides)], nodes: [node(0)] };
  const count = nodeOverrides?.numNodes ?? definition.numNodes ?? 1;
  const overrides = nodeOverrides?.nodePropertyOverrides ?? [];
  const ranges = overrides.map(({ targetNodes }) => new Set(nodesOf(targetNodes, count)));
  const rest = Array.from({ length: count - 1 }, (_, index) => index + 1);
  const containerOfNode = (index: number) => ranges.findIndex((range) => range.has(index)) + 1;
  return {
    containers: [base(), ...overrides.map(({ containerOverrides }) => base(containerOverrides))],
    nodes: [node(containerOfNode(0)), ...rest.map((index) => node(containerOfNode(index)))],
  };
}

function containerOf(
  definition: Definition,
  overrides: ContainerOverrides | undefined,
  parameters: Record<string, string>,
): Container {
  const { command = [], environment = [], resourceRequirements = [] } = overrides ?? {};
  const size = (type: string) => {
    const value = resourceRequirements.find((requirement) => requirement.type === type)?.value;
    return value === undefined ? undefined : Number(value);
  };
  const given = { command, environment };
  return {
    ...resolved(definition, given, parameters),
    given,
    vcpus: size('VCPU') ?? definition.vcpus,
    memory: size('MEMORY') ?? definition.memory,
    gpus: size('GPU') ?? 0,
    overridesLength: overrides === undefined ? 0 : JSON.stringify(overrides).length,
  };
}

/**
 * Return command and environment of a container: those of its definition, overridden by those of the submission.
 */
function resolved(
  definition: Pick<Definition, 'command' | 'environment'>,
  { command, environment }: NonNullable<Container['given']>,
  parameters: Record<string, string>,
): Pick<Container, 'command' | 'environment'> {
  const words = command.length > 0 ? command : definition.command;
  const variables = new Map(Object.entries(definition.environment));
  for (const { name, value } of environment) variables.set(name, value);
  return {
    command: words.map((word) => substitute(word, parameters)),
    environment: [...variables].map(([name, value]) => ({ name, value })),
  };
}

/** Replace `Ref::name` with that parameter, if it exists. */
function substitute(word: string, parameters: Record<string, string>): string {
  return word.replace(/Ref::([A-Za-z0-9_-]+)/g, (placeholder, name: string) =>
    Object.hasOwn(parameters, name) ? (parameters[name] ?? placeholder) : placeholder,
  );
}

function node(container: number): Node {
  return { container, status: 'SUBMITTED', attempts: [] };
}

/**
 * Return the node indexes of a `targetNodes` range (`a:b`, `a:`, `:b` or `a`, both ends included) of a job with
 * `count` nodes.
 * @throws BatchClientError if the range is invalid, or exceeds the nodes
 */
export function nodesOf(range: string, count: number): number[] {
  const match = /^(\d{0,5})(:?)(\d{0,5})$/.exec(range);
  const [, from = '', colon = '', to = ''] = match ?? [];
  const first = from === '' ? 0 : Number(from);
  const last = colon === '' ? first : to === '' ? count - 1 : Number(to);
  if (match === null || range === '' || first > last || last >= count) {
    throw new BatchClientError(`targetNodes ${JSON.stringify(range)} is not a range of ${count} nodes`);
  }
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function retryStrategyOf({ retryStrategy: given }: SubmitRequest, definition: Definition) {
  if (given === undefined) return definition.retryStrategy;
  if (given.attempts === undefined) {
    if (given.evaluateOnExit === undefined) return definition.retryStrategy;
    throw new BatchClientError('attempts must be given together with evaluateOnExit');
  }
  return { ...given, attempts: given.attempts };
}

/**
 * Apply the current definition to a job. The server may be a later version than the one that accepted the job,
 * with its program in another place. On AWS the job keeps the revision of its submission, including image and
 * variables.
 */
export function renewed(job: JobRecord, definition: Definition): JobRecord {
  const containers = job.containers.map((container): Container => {
    const given = container.given ?? {
      command: [],
      // Variables that the definition does not name came with the submission.
      environment: container.environment.filter(({ name }) => !Object.hasOwn(definition.environment, name)),
    };
    return { ...container, ...resolved(definition, given, job.parameters) };
  });
  return { ...job, containers };
}
