import { ModelError } from '../../model/model-error.ts';

/** The process of a stage ended by itself without an answer, as native code does that crashes. */
export class StageCrashError extends ModelError {}
