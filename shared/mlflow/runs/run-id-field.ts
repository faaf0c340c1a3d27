import { text } from '../protocol/scalars.ts';

/** Id of a run; clients before 2.0 also send it as `run_uuid`. */
export const runIdField = { run_id: text.min(1) };
