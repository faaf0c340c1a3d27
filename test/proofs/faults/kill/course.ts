import type { JobRecord } from '../../../../shared/jobs/job-record.ts';
import type { Inventory } from '../../../support/inventory.ts';
import type { Question } from '../world/ask.ts';
import type { EndpointName } from '../world/endpoints.ts';
import type { Service } from '../world/service.ts';
import type { Scenario } from './job-strike.ts';

/**
 * What a job does: train in one container, log by MLflow's API meanwhile, or build an environment there first; train again from the checkpoints of an
 * experiment that failed; train on a cluster, whose environment is built by a job of its own; prune, or quantize, a model.
 */
export type JobKind = 'train' | 'tracked' | 'rerun' | 'build' | 'cluster' | 'prune' | 'quantize';

/** A request to a function, by the name of its endpoint: processes are told so. */
export interface NamedQuestion {
  endpoint: EndpointName;
  question: Question;
}

/** All by which the lives of jobs of one kind differ. */
export interface Course {
  /** What is asked to have it. */
  create: NamedQuestion;
  cancel(record: JobRecord): NamedQuestion;
  /** The records that the request has made. */
  records(): Promise<JobRecord[]>;
  /** Whether it has come to where somebody cancels it. */
  isUnderWay(record: JobRecord): boolean;
  /** What of a job that succeeded is not there. */
  lacking(inventory: Inventory, record: JobRecord): string[];
  /** What was acknowledged to its program and is not there, however the job ended. */
  lost?(record: JobRecord): Promise<string[]>;
  /** Variables that its containers get besides those of their job. */
  hostEnvironment: Readonly<Record<string, string>>;
  /** Ids or names that whatever belongs to a neighbour bears. */
  neighbours: readonly string[];
}

/** Where a course is taken. */
export interface Ground {
  service: Service;
  token: string;
  user_id: string;
  scenario: Scenario;
  /** A folder that jobs can pass through. */
  folder: string;
  /** File to which each run of the work adds a line. */
  witness: string;
  /** Whether its program is of a version that gives jobs no variables of their project. */
  isWithoutVariables?: boolean;
}
