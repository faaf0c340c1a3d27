import type { Caller } from '../definition/endpoint-context.ts';
import type { Exchange } from '../definition/exchange.ts';
import { isSameCaller } from './expected-callers.ts';
import { heldBack } from './held-back.ts';
import type { Result } from './proxy-event.ts';

type Services = Readonly<Record<string, unknown>>;

interface Answering {
  /** Finds out who the caller is, and throws for one who may not ask. */
  identify(exchange: Exchange): Promise<void>;
  /** The answer to a request whose caller is known. */
  answer(exchange: Exchange, services: Services): Promise<Result>;
}

/**
 * The answer to a request that is most likely of this caller. What it reads is read together with what tells who the
 * caller is. What it writes waits for that, and so does its answer: where the caller is another one, all is done anew.
 */
export async function answerAhead(
  exchange: Exchange,
  services: Services,
  expected: Caller,
  { identify, answer }: Answering,
): Promise<Result> {
  const confirmation = Promise.withResolvers<void>();
  // Both fail without a listener where nobody waits for them.
  confirmation.promise.catch(() => {});
  const identified = identify(exchange);
  const ahead = answer(
    { ...exchange, caller: expected, confirmed: confirmation.promise },
    heldBack(services, confirmation.promise),
  );
  ahead.catch(() => {});
  try {
    await identified;
  } catch (error) {
    confirmation.reject(error);
    throw error;
  }
  if (isSameCaller(exchange.caller, expected)) {
    confirmation.resolve();
    return ahead;
  }
  confirmation.reject(new Error('the request is of another caller'));
  return answer(exchange, services);
}
