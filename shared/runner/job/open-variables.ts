import { openSealed, UnopenableError } from '../../core/encryption.ts';
import { jobPartition } from '../../data/jobs/job.ts';
import { jobVariablesPurpose, parseJobVariables, readJobVariables } from '../../data/jobs/job-variables.ts';
import { isReserved } from '../../data/projects/variable-rules.ts';
import { noMask, SecretMask } from '../host/secret-mask.ts';
import { JobError } from './job-error.ts';
import { retryFor, shortPatience } from './retry-for.ts';
import type { ProjectVariables, TrainingJob } from './training-job.ts';

const nothing = { values: {}, mask: noMask };

/** Read the job's copy of the variables with the key that this container was given. */
export async function openVariables({ record, records, container }: TrainingJob): Promise<ProjectVariables> {
  const { variablesKey } = container;
  if (variablesKey === undefined) return nothing;
  const { experiment_id } = record;
  const sealed = await retryFor(shortPatience, () => readJobVariables(records, jobPartition(experiment_id)));
  try {
    if (sealed === undefined) throw new UnopenableError('the copy is missing');
    const copied = parseJobVariables(openSealed(variablesKey, sealed, jobVariablesPurpose(experiment_id)));
    // An archive of an earlier release may hold reserved names, which would change how the sandbox starts.
    const variables = copied.filter(({ name }) => !isReserved(name));
    return {
      values: Object.fromEntries(variables.map(({ name, value }) => [name, value])),
      mask: new SecretMask(variables.flatMap(({ value, secret }) => (secret ? [value] : []))),
    };
  } catch (error) {
    if (!(error instanceof UnopenableError)) throw error;
    return { ...nothing, fault: new JobError('The variables of the project could not be read by this job.') };
  }
}
