import type { endpoint as readHealth } from '../../functions/service/read-health.endpoint.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { UnexpectedAnswerError } from '../../shared/client/unexpected-answer-error.ts';
import { clientOf } from './client-of.ts';

/**
 * Make sure that a service is at an address, before anybody types a password for it.
 *
 * @throws UnreachableError where nothing answers
 * @throws UnexpectedAnswerError where something else does
 */
export async function requireService(url: string): Promise<void> {
  const other = new UnexpectedAnswerError(`${url} is no Model Project Service.`);
  try {
    const { service } = await clientOf(url).call<typeof readHealth>('GET /health');
    if (service !== 'model-project-service') throw other;
  } catch (error) {
    // A service that is there and cannot answer now says so by a problem of its own.
    throw error instanceof ProblemError && error.kind === '' ? other : error;
  }
}
