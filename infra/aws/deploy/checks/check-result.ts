/** Result of a check. A `note` is information; a `problem` prevents a deployment. */
export interface CheckResult {
  outcome: 'good' | 'note' | 'problem';
  what: string;
}

export const good = (what: string): CheckResult => ({ outcome: 'good', what });
export const note = (what: string): CheckResult => ({ outcome: 'note', what });
export const problem = (what: string): CheckResult => ({ outcome: 'problem', what });
