import type { AnyEndpoint } from '../../../../shared/http/definition/middleware.ts';
import { type Answer, ask, type Question } from '../world/ask.ts';
import type { Span } from './world.ts';

/** A request that a client may send, and what its answer says of the worlds; false for an answer that cannot be. */
export interface Request {
  what: string;
  send(): Promise<Answer>;
  note(answer: Answer, span: Span): boolean;
}

export type Ask = (endpoint: AnyEndpoint, question: Question) => Promise<Answer>;

export const asker =
  (environment: Readonly<Record<string, string | undefined>>): Ask =>
  (endpoint, question) =>
    ask(endpoint, environment, question);

/** The moments of a history, in the order in which they were: one clock for all of its clients. */
export class Clock {
  #moment = 0;

  next(): number {
    this.#moment += 1;
    return this.#moment;
  }
}

/** Sends a request and notes it. Answers what is wrong with its answer, where something is. */
export async function perform(clock: Clock, { what, send, note }: Request): Promise<string | undefined> {
  const from = clock.next();
  const answer = await send();
  const span = { from, to: clock.next() };
  return note(answer, span) ? undefined : `${what} answered ${answer.status} ${JSON.stringify(answer.json)}`;
}
