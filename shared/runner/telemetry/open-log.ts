import { appendLog } from '../../data/jobs/job-log.ts';
import { jobIdOf } from '../../jobs/subject.ts';
import { noMask, type SecretMask } from '../host/secret-mask.ts';
import type { HeldJob } from '../job/hold-job.ts';
import { JobWatch } from './job-watch.ts';
import { LogShipper } from './log-shipper.ts';

/** Open the log of this node of a job. The job is stopped when its lease is lost or the log reaches its limit. */
export function openLog(
  { record, node, lease, records, settings, stop, now }: HeldJob,
  mask: SecretMask = noMask,
): LogShipper {
  const job_id = jobIdOf(record);
  const maxBytes = settings.limits.logBytes;
  const watch = new JobWatch(records, job_id, node, now);
  return new LogShipper({
    sink: { append: (sequence, lines) => appendLog(records, job_id, node, lease, sequence, lines, now()) },
    now,
    mask,
    isWatched: () => watch.isWatched(),
    maxBytes,
    onLost: () => stop.because({ kind: 'superseded' }),
    onLimit: () =>
      stop.because({ kind: 'limit', message: `The log reached its limit of ${maxBytes} bytes.` }),
  });
}
