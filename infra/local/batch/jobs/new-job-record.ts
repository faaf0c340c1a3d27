import { randomUUID } from 'node:crypto';
import { BatchClientError } from '../batch-client-error.ts';
import type { Catalogue, Definition } from '../catalogue.ts';
import { nodesOf } from '../node-range.ts';
import { checkPlacement } from '../placement.ts';
import type { ContainerOverrides, SubmitRequest } from '../submit-request.ts';
import type { Container, JobRecord, Node } from './job-record.ts';

interface NewJobContext {
  catalogue: Catalogue;
  minimumTimeoutSeconds: number;
  sequence: number;
  now: number;
  jobExists(id: string): boolean;
}

/**
 * The job that a submission asks for, in state SUBMITTED.
 * @throws BatchClientError for what AWS Batch would refuse
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
  // The first container is that of the definition, which may belong to no node.
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

function retryStrategyOf({ retryStrategy: given }: SubmitRequest, definition: Definition) {
  if (given === undefined) return definition.retryStrategy;
  if (given.attempts === undefined) {
    if (given.evaluateOnExit === undefined) return definition.retryStrategy;
    throw new BatchClientError('attempts must be given together with evaluateOnExit');
  }
  return { ...given, attempts: given.attempts };
}

/** The containers there are and which node runs which. */
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

function node(container: number): Node {
  return { container, status: 'SUBMITTED', attempts: [] };
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

/** Command and environment of a container: those of its definition, but for what the submission gave. */
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

/**
 * A job as its definition is now: the server may be a later version than the one that took the job, with its program at
 * another place. On AWS the job keeps the revision of its submission, whose image and variables stay with it.
 */
export function renewed(job: JobRecord, definition: Definition): JobRecord {
  const containers = job.containers.map((container): Container => {
    const given = container.given ?? {
      command: [],
      // What the definition has no word of came with the submission.
      environment: container.environment.filter(({ name }) => !Object.hasOwn(definition.environment, name)),
    };
    return { ...container, ...resolved(definition, given, job.parameters) };
  });
  return { ...job, containers };
}

/** Replaces `Ref::name` by that parameter, where there is one. */
function substitute(word: string, parameters: Record<string, string>): string {
  return word.replace(/Ref::([A-Za-z0-9_-]+)/g, (placeholder, name: string) =>
    Object.hasOwn(parameters, name) ? (parameters[name] ?? placeholder) : placeholder,
  );
}
