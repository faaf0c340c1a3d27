import * as z from 'zod';

export const services = ['dynamodb', 's3', 'batch'] as const;
export type ServiceName = (typeof services)[number];

/** `lost`: the request is carried out and its reply never arrives. */
export const faultKinds = ['throttled', 'error', 'timeout', 'lost'] as const;
export type FaultKind = (typeof faultKinds)[number];

const When = z.enum(['before', 'after']);
export type When = z.infer<typeof When>;

const Kill = z.object({
  /** The n-th external call of the process, from 1; or the first one at a named point. */
  at: z.union([z.number().int(), z.string()]),
  when: When,
  /** SIGSTOP makes a process that seems dead and is not. */
  signal: z.enum(['SIGKILL', 'SIGSTOP']).default('SIGKILL'),
  /** Of the processes that share a plan, the one that is meant; any unless given. */
  role: z.string().optional(),
  /** File that is made with the kill: of the processes that share a plan one alone dies, once. */
  note: z.string().optional(),
});

const Faults = z.object({
  seed: z.number().int(),
  /** Share of the external calls that fail, from 0 to 1. */
  rate: z.number(),
  /** Epoch milliseconds before which nothing fails yet, and after which nothing does any more. */
  from: z.number().default(0),
  until: z.number().default(Number.MAX_SAFE_INTEGER),
  kinds: z.array(z.enum(faultKinds)).default([...faultKinds]),
  services: z.array(z.enum(services)).default([...services]),
});
export type Faults = z.input<typeof Faults>;

const Plan = z.object({
  kill: Kill.optional(),
  faults: Faults.optional(),
  /** File to which each external call is appended as a line of JSON. */
  trace: z.string().optional(),
  /** Name of the process in the trace. */
  role: z.string().default(''),
  /** Timers of ten seconds and more run so many times faster: heartbeats of a job that takes half a second. */
  hurry: z.number().default(1),
});
/** What is to go wrong in a process. */
export type Plan = z.output<typeof Plan>;
export type PlanInput = z.input<typeof Plan>;

export const parsePlan = (plan: PlanInput): Plan => Plan.parse(plan);

/** Variable that holds a process's plan, as JSON. Nothing but `inject.ts` reads it. */
export const planVariable = 'TEST_FAULT_PLAN';

export const writePlan = (plan: PlanInput): Record<string, string> => ({
  [planVariable]: JSON.stringify(plan),
});

/** The plan of this process; undefined where nothing is to go wrong. */
export function readPlan(environment: NodeJS.ProcessEnv): Plan | undefined {
  const text = environment[planVariable];
  if (text === undefined) return undefined;
  const plan = Plan.parse(JSON.parse(text));
  return { ...plan, role: `${plan.role}${placeOf(environment)}` };
}

/** Which of a job's containers a process is, where it has several: they all get the same plan. */
function placeOf({ PHASE, AWS_BATCH_JOB_NODE_INDEX: node = '0' }: NodeJS.ProcessEnv): string {
  if (PHASE === 'build') return ' build';
  return node === '0' ? '' : ` node-${node}`;
}
