import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { BatchClient } from '@aws-sdk/client-batch';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { pick } from '../../../support/random-choice.ts';
import { seededRandom } from '../../../support/seeded-random.ts';
import { type FaultKind, type Plan, type PlanInput, parsePlan, type ServiceName, services } from './plan.ts';
import { concludedJob, type ExternalCall, pointOf } from './points.ts';
import { connectionFault, faultReply } from './reply.ts';

/** A line of the trace: one external call. */
export interface TracedCall {
  role: string;
  pid: number;
  /** From 1, of its process. */
  call: number;
  service: string;
  operation: string;
  point?: string;
  /** Of a conclusion: the job. */
  job?: string;
  /** `lost`: carried out, without the process learning of it. */
  outcome: 'sent' | 'done' | 'refused' | 'fault' | 'lost';
}

type Next = (args: { input: unknown }) => Promise<{ response: unknown; output?: unknown }>;
interface Context {
  clientName?: string;
  commandName?: string;
}
interface Stack {
  add(
    middleware: (next: Next, context: Context) => Next,
    options: { step: 'deserialize'; priority: 'low'; name: string },
  ): void;
}
interface Sender {
  middlewareStack: Stack;
}
type Send = (this: Sender, ...args: unknown[]) => unknown;

/** Decides of each attempt of a call, as it goes over the wire, what becomes of it. */
export class Injector {
  #plan: Plan;
  #calls = 0;
  #random: () => number;
  readonly #armed = new WeakSet<Stack>();

  constructor(plan: PlanInput) {
    this.#plan = parsePlan(plan);
    this.#random = seededRandom(plan.faults?.seed ?? 0);
  }

  /** Begins anew with another plan. */
  use(plan: PlanInput): void {
    this.#plan = parsePlan(plan);
    this.#calls = 0;
    this.#random = seededRandom(plan.faults?.seed ?? 0);
  }

  /** Goes between every client of the SDK in this process and the network. */
  install(): void {
    // The class from which the clients of all services inherit.
    const base = Object.getPrototypeOf(DynamoDBClient.prototype) as { send: Send };
    if (base !== Object.getPrototypeOf(BatchClient.prototype))
      throw new Error('the clients have no base in common');
    const { send } = base;
    const arm = (stack: Stack) => this.#arm(stack);
    base.send = function (...args) {
      arm(this.middlewareStack);
      return send.apply(this, args);
    };
  }

  #arm(stack: Stack): void {
    if (this.#armed.has(stack)) return;
    this.#armed.add(stack);
    stack.add((next, context) => (args) => this.#attempt(next, context, args), {
      step: 'deserialize',
      // Innermost: after signing and retries, before the network.
      priority: 'low',
      name: 'faults',
    });
  }

  async #attempt(next: Next, context: Context, args: { input: unknown }) {
    this.#calls += 1;
    const number = this.#calls;
    const call: ExternalCall = {
      service: serviceOf(context.clientName),
      operation: context.commandName?.replace(/Command$/, '') ?? '',
      input: args.input,
    };
    const point = pointOf(call);
    const note = (outcome: TracedCall['outcome']) => this.#note(call, number, point, outcome);
    const kill = this.#killAt(number, point);
    if (kill?.when === 'before') this.#die(kill);
    const fault = kill === undefined ? this.#draw(call.service) : undefined;
    if (fault === 'throttled' || fault === 'error') {
      note('fault');
      return { response: faultReply(call.service as ServiceName, fault) };
    }
    if (fault === 'timeout') {
      note('fault');
      throw connectionFault(fault);
    }
    note('sent');
    const reply = await next(args);
    const { statusCode, body } = reply.response as { statusCode: number; body: unknown };
    const isDone = statusCode < 300;
    note(isDone ? (fault === 'lost' ? 'lost' : 'done') : 'refused');
    if (fault === 'lost') {
      // Read by nobody, it would hold its connection.
      if (body instanceof Readable) body.resume();
      throw connectionFault(fault);
    }
    if (kill?.when === 'after') this.#die(kill);
    return reply;
  }

  #draw(service: string): FaultKind | undefined {
    const { faults } = this.#plan;
    if (faults === undefined || !faults.services.includes(service as ServiceName)) return undefined;
    if (Date.now() < faults.from || Date.now() > faults.until) return undefined;
    return this.#random() < faults.rate ? pick(this.#random, faults.kinds) : undefined;
  }

  /** The kill of the plan, where this call is its mark. */
  #killAt(call: number, point: string | undefined): Plan['kill'] {
    const { kill, role } = this.#plan;
    if (kill === undefined || (kill.role !== undefined && kill.role !== role)) return undefined;
    const isMark = kill.at === call || (point !== undefined && kill.at === point);
    if (!isMark || (kill.note !== undefined && existsSync(kill.note))) return undefined;
    return kill;
  }

  /** Dies once: a mark that comes again, in a later attempt of the call, is passed over. */
  #die({ signal, note }: NonNullable<Plan['kill']>): void {
    this.#plan = { ...this.#plan, kill: undefined };
    if (note !== undefined) writeFileSync(note, '');
    process.kill(process.pid, signal);
  }

  #note(call: ExternalCall, number: number, point: string | undefined, outcome: TracedCall['outcome']): void {
    if (this.#plan.trace === undefined) return;
    const { service, operation } = call;
    const line: TracedCall = {
      role: this.#plan.role,
      pid: process.pid,
      call: number,
      service,
      operation,
      ...(point !== undefined && { point }),
      ...(point === 'concluded' && { job: concludedJob(call) }),
      outcome,
    };
    appendFileSync(this.#plan.trace, `${JSON.stringify(line)}\n`);
  }
}

const serviceOf = (clientName = ''): string =>
  services.find((name) => clientName.toLowerCase().startsWith(name)) ?? clientName;
