import { inspect, isDeepStrictEqual } from 'node:util';
import type { User } from '../../../../shared/data/accounts/user.ts';
import { ask, type Question } from '../world/ask.ts';
import { endpoints } from '../world/endpoints.ts';
import type { Service } from '../world/service.ts';
import type { NamedQuestion } from './course.ts';

/** Where a story is told: a service of its own, with one developer. */
export interface StoryGround {
  service: Service;
  token: string;
  user: User;
}

/**
 * What a process is killed in: a request, a pass of what the schedule invokes so many seconds from now, or a run of the
 * worker of exports and imports.
 */
export type Deed = { request: NamedQuestion } | { passAfter: number } | { archives: true };

export interface Plot {
  deed: Deed;
  /** Statuses of the repetition besides success: of what cannot be done twice. */
  alsoAnswers?: readonly number[];
  /** What is wrong once the deed was repeated, in words; the stores are judged besides. */
  faults(): Promise<string[]>;
}

/** One deed whose process is killed at each of its writes, and which its client repeats. */
export interface Story {
  name: string;
  prepare(ground: StoryGround): Promise<Plot>;
}

export const json = { 'Content-Type': 'application/json' };

/** A request with a JSON body. */
export const asking = (
  endpoint: NamedQuestion['endpoint'],
  question: Omit<Question, 'body'>,
  body?: unknown,
): NamedQuestion => ({
  endpoint,
  question: {
    ...question,
    ...(body !== undefined && { headers: { ...json, ...question.headers }, body: JSON.stringify(body) }),
  },
});

/** A call of MLflow's API; its path is below `api/2.0/`. */
export const mlflowCall = (
  { token }: Pick<StoryGround, 'token'>,
  method: NonNullable<Question['method']>,
  mlflow_path: string,
  body?: unknown,
): NamedQuestion =>
  asking('mlflow', { method, path: { mlflow_path: `api/2.0/${mlflow_path}` }, token }, body);

/** Asks in this process. @throws where the answer is no success: a fault of the story itself */
export async function told(
  { service }: Pick<StoryGround, 'service'>,
  { endpoint, question }: NamedQuestion,
  // biome-ignore lint/suspicious/noExplicitAny: stories look into answers of any shape
): Promise<any> {
  const { status, json: answer } = await ask(endpoints[endpoint], service.environment, question);
  if (status >= 300) throw new Error(`${endpoint} answered ${status}: ${JSON.stringify(answer)}`);
  return answer;
}

/** As JSON has it: no undefined members, no prototypes. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? 'null');

/** A fault where the values differ. */
export const unless = (what: string, found: unknown, expected: unknown): string[] =>
  isDeepStrictEqual(plain(found), plain(expected))
    ? []
    : [`lost: ${what}: ${inspect(found, { depth: 5 })}, not ${inspect(expected, { depth: 5 })}`];
