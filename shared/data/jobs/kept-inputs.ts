import * as z from 'zod';
import { Capacity } from '../../core/capacity/capacity.ts';
import { FileId, Sha256 } from '../../core/formats.ts';
import { EnvironmentType } from '../projects/environment.ts';
import { TrainingKind } from './job.ts';

/** Inputs that all experiments of a sweep or a schedule share; those that trials change are the values of before. */
export const KeptInputs = z.object({
  kind: TrainingKind,
  vcpus: z.number(),
  memory: z.number().int(),
  gpus: z.number().int(),
  nodes: z.number().int(),
  timeout: z.number().int(),
  /** Absent in sweeps and schedules of releases that did not record it. */
  capacity: Capacity.optional(),
  config_id: FileId,
  config_version: z.number().int(),
  config_sha256: Sha256,
  ...inputFields(),
});

/** Return the fields of the inputs that do not depend on a configuration. */
export function inputFields() {
  return {
    source_sha256: Sha256.nullable(),
    source_size: z.number().int(),
    dataset: FileId.nullable(),
    dataset_sha256: Sha256.nullable(),
    /** Whether the data set is unpacked for the job. */
    dataset_is_archive: z.boolean(),
    /** Copy of the environment at the creation of the record. */
    environment: z.object({
      entry_point_command: z.string(),
      env_type: EnvironmentType,
      dependencies: z.string(),
      version: z.number().int(),
    }),
  };
}
