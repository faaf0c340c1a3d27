import { createHash } from 'node:crypto';
import { ServiceError } from '../../core/service-error.ts';
import type { JobRuns } from '../protocol/context.ts';

/**
 * Keep which runs the program of one attempt has begun.
 * @param begun ids of the experiments that earlier attempts began
 * @param own id of the job's own experiment
 */
export function jobRuns(begun: readonly string[], own: string): JobRuns {
  const others = new Set(begun);
  /** Experiments that requests have begun and the program has not written to, by the digest of the request. */
  const unused = new Map<string, string>();
  let isOwnTaken = false;
  return {
    takeOwn() {
      if (isOwnTaken) return false;
      isOwnTaken = true;
      return true;
    },

    releaseOwn() {
      isOwnTaken = false;
    },

    begin(id) {
      if (others.size >= maxOthers)
        throw new ServiceError(
          'conflict',
          `A job may record at most ${maxOthers} runs in addition to its own.`,
        );
      others.add(id);
    },

    begun: () => [...others],

    use(id) {
      if (id === own) isOwnTaken = true;
      for (const [digest, experiment_id] of unused) if (experiment_id === id) unused.delete(digest);
    },

    answered(request, id) {
      unused.set(digestOf(request), id);
    },

    repeated: (request) => unused.get(digestOf(request)),
  };
}

/** Maximum number of other experiments that a job may record, in all its attempts. */
const maxOthers = 1_000;

const digestOf = (request: string): string => createHash('sha256').update(request).digest('hex');
