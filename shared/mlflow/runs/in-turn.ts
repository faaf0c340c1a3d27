import { ServiceError } from '../../core/service-error.ts';

/** What is under way for each run, so that requests of one process do not contend. */
const underWay = new Map<string, Promise<unknown>>();

/** Rounds of retries, each of ten calls, before a client is asked to come again. */
const rounds = 5;

const isContention = (error: unknown): boolean =>
  error instanceof ServiceError &&
  error.kind === 'conflict' &&
  error.code === undefined &&
  error.cause !== undefined;

async function persist<T>(act: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await act();
    } catch (error) {
      if (!isContention(error)) throw error;
      if (round < rounds) continue;
      // Clients repeat a 429 and give up at a 409. A point that is stored already is not stored again.
      throw new ServiceError(
        'too-many-requests',
        'Many requests change this run at the same moment. Try again.',
        {
          retryAfterSeconds: 1,
        },
      );
    }
  }
}

/**
 * Make changes of one run one after the other: clients log asynchronously with ten threads. Functions elsewhere may
 * change it too, which is retried.
 * @throws ServiceError `too-many-requests` where others keep coming between
 */
export function inTurn<T>(run_id: string, act: () => Promise<T>): Promise<T> {
  const before = underWay.get(run_id) ?? Promise.resolve();
  const mine = before.then(() => persist(act));
  const settled = mine.then(
    () => {},
    () => {},
  );
  underWay.set(run_id, settled);
  void settled.then(() => {
    if (underWay.get(run_id) === settled) underWay.delete(run_id);
  });
  return mine;
}
