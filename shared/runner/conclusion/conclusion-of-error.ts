import type { Conclusion } from '../../jobs/conclusion.ts';
import { ModelError } from '../../onnx/model/model-error.ts';
import type { HeldJob } from '../job/hold-job.ts';
import { JobError } from '../job/job-error.ts';
import { conclusionOf } from './conclusion-of.ts';
import { findCancelled } from './find-cancelled.ts';

const stoppedBeforeCommand = {
  cause: 'stopped',
  exitCode: null,
  signal: null,
  killed: false,
  peakRssBytes: null,
} as const;

/**
 * The conclusion of a job that ended with an error: that of its stop, if it was stopped, because then the error is a
 * consequence. Errors of the service itself go to the log, and the user gets their name.
 * @returns undefined where nothing may be written: another container holds the lease, or Batch decides on another attempt
 */
export async function conclusionOfError(job: HeldJob, error: unknown): Promise<Conclusion | undefined> {
  const { stop, log } = job;
  if (stop.reason !== undefined) {
    const { timeout, memory } = job.record;
    const cancelled = await findCancelled(job);
    return conclusionOf(stoppedBeforeCommand, { stop: stop.reason, cancelled, timeout, memory });
  }
  if (error instanceof JobError || error instanceof ModelError)
    return { status: 'FAILED', reason: error.message };
  log.error('job-fault', { stack: error instanceof Error ? error.stack : String(error) });
  const name = error instanceof Error ? error.name : 'unknown';
  return {
    status: 'FAILED',
    reason: `The service could not go on with this job (${name}); its operator finds more in the log.`,
  };
}
