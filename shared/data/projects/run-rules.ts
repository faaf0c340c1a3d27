import * as z from 'zod';
import { maxRules, RunRule } from '../../run-rules/run-rule.ts';

/** Rules of a project or a run, from a request or an archive. */
export const RunRules = z
  .array(RunRule, 'must be a list of rules')
  .max(maxRules, `must have at most ${maxRules} rules`);
