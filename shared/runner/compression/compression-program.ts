import type { ObjectWriter } from '../../aws/objects.ts';
import type { Logger } from '../../core/log.ts';
import { newId } from '../../core/new-id.ts';
import type { Settings } from '../../core/settings.ts';
import type { OptimizationKind } from '../../data/jobs/job.ts';
import { compressionKey, parseCompression } from '../../data/models/compression.ts';
import type { TableWriter } from '../../data/table/table.ts';
import { exitCodes } from '../job/batch-container.ts';
import { holdJob } from '../job/hold-job.ts';
import { stopOnSigterm } from '../job/job-stop.ts';
import { type Optimize, readCompressionContainer } from './compression-job.ts';
import { runCompression } from './run-compression.ts';

interface Context {
  records: TableWriter<'records'>;
  objects: ObjectWriter;
  settings: Settings;
  now(): Date;
  log: Logger;
}

interface Engine {
  optimize: Optimize;
  /** The program of a stage, next to the job's own. */
  stageProgram: string;
}

/** Run the container of a pruning or quantization: take the lease, run the compression, return the exit code. */
export async function runCompressionProgram(
  kind: OptimizationKind,
  variables: Readonly<Record<string, string | undefined>>,
  { records, objects, settings, now, log }: Context,
  { optimize, stageProgram }: Engine,
): Promise<number> {
  const container = readCompressionContainer(variables, stageProgram);
  const { strategy_id, batch_job_id, batch_attempt, node } = container;
  const stop = stopOnSigterm();
  const wanted = { subject: compressionKey(kind, strategy_id), parse: parseCompression };
  const me = { batch_job_id, batch_attempt, node, isBuild: false };
  const acquired = await holdJob(records, wanted, me, now);
  if ('refused' in acquired) {
    log.info('not-run', { strategy_id, reason: acquired.refused });
    return exitCodes.succeeded;
  }
  const held = { ...acquired, node, records, objects, settings, stop, log, now };
  return runCompression({ ...held, container, optimize, newId });
}
