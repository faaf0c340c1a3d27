import type { z } from 'zod';
import type { jobFields } from './job.ts';

type JobFields = z.infer<z.ZodObject<ReturnType<typeof jobFields>>>;
/** What is asked for, and by whom. */
type Asked = Pick<
  JobFields,
  'user_id' | 'created_at' | 'vcpus' | 'memory' | 'gpus' | 'nodes' | 'timeout' | 'limit_share' | 'limits'
>;

/** The fields of a job that was accepted just now, of which AWS Batch knows nothing yet. */
export const newJob = (asked: Asked): JobFields => ({
  ...asked,
  status: 'CREATED',
  status_rank: 0,
  status_reason: 'Accepted; on its way to the job queue.',
  attempt: 0,
  batch_attempt: 0,
  attempts: [],
  batch_job_id: null,
  depends_on: null,
  started_at: null,
  stopped_at: null,
  cancel_requested_at: null,
  cancelled_by: null,
  checked_at: asked.created_at,
  exit_code: null,
  signal: null,
  line_ticket: null,
  begun_at: null,
  version: 1,
});
