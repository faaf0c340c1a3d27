import * as z from 'zod/mini';
import type { Agent } from './agent.ts';
import type { ToolAnswer } from './answer-text.ts';

/** A tool of `mps mcp`. Its input is an object, whose schema a client shows to its model. */
export interface Tool<Input = unknown> {
  name: string;
  description: string;
  input: z.ZodMiniType<Input>;
  /** Whether it begins what may cost money. It then takes `max_usd` and `idempotency_key`. */
  spends?: true;
  /** Whether it changes nothing. */
  isReadOnly?: true;
  call(input: Input, agent: Agent, signal: AbortSignal): Promise<ToolAnswer>;
}

/** Describe a tool, so its input has the type of its schema. */
export const tool = <Input>(described: Tool<Input>): Tool => described as Tool;

const described = <S extends z.ZodMiniType>(schema: S, description: string): S =>
  schema.check(z.describe(description)) as S;

/** Text of an input. The schema has its description. */
export const text = (description: string, max = 1000) =>
  described(z.string().check(z.minLength(1), z.maxLength(max)), description);
export const whole = (description: string, min: number, max: number) =>
  described(z.int().check(z.gte(min), z.lte(max)), description);
export const number = (description: string, min = -Number.MAX_VALUE, max = Number.MAX_VALUE) =>
  described(z.number().check(z.gte(min), z.lte(max)), description);
export const flag = (description: string) => described(z.boolean(), description);
export const choice = <const Names extends readonly string[]>(names: Names, description: string) =>
  described(z.enum(names), description);
export const list = (description: string, min: number, max: number) =>
  described(
    z.array(z.string().check(z.minLength(1), z.maxLength(1000))).check(z.minLength(min), z.maxLength(max)),
    description,
  );

/** Inputs that several tools share. */
export const projectInput = {
  project: z.optional(text('Name or ID of the project. Default: that of the folder.', 200)),
};
export const longInput = {
  long: z.optional(flag('Whether the answer may have 64 KB; usually it has at most 4 KB.')),
};
export const runInput = {
  run: text('ID of a run (an experiment), at least its last four characters, or latest.', 26),
};
/** What bounds and identifies a call that may cost money. */
export const spendInput = {
  max_usd: number(
    'US$ that this call may cost in all. The service stops the work at that, after its checkpoint.',
    0.000001,
    1_000_000,
  ),
  idempotency_key: described(
    z.string().check(z.regex(/^[!-~]{8,100}$/)),
    'A new text of 8 to 100 characters for each intent. A repetition with the same key and the same input begins nothing again and has the same answer.',
  ),
};
export const sizeInput = {
  vcpus: z.optional(number('vCPUs of each node.', 0.25, 1000)),
  memory: z.optional(whole('MiB of each node.', 1, 10_000_000)),
  gpus: z.optional(whole('GPUs of each node.', 0, 64)),
  nodes: z.optional(whole('Nodes; two or more form a cluster.', 1, 64)),
  timeout: z.optional(whole('Seconds after which the command is stopped.', 1, 10_000_000)),
};

/** Most bytes of an answer that the call asked to be long. */
const longBytes = 65_536;

export const bytesOf = ({ long }: { long?: boolean | undefined }): { maxBytes?: number } =>
  long === true ? { maxBytes: longBytes } : {};
