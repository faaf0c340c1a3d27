/** Result of a check. A `note` is information, a `problem` prevents a deployment. */
export interface Finding {
  outcome: 'good' | 'note' | 'problem';
  what: string;
}

export const good = (what: string): Finding => ({ outcome: 'good', what });
export const note = (what: string): Finding => ({ outcome: 'note', what });
export const problem = (what: string): Finding => ({ outcome: 'problem', what });
