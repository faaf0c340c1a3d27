/** A run as far as its state is shown. */
export interface Ended {
  status: string;
  /** How the run of a sweep ended. */
  outcome: string | null;
}

/** Return the state of a run to show. A trial that its sweep stopped early was not cancelled by anybody. */
export const shownStatus = ({ status, outcome }: Ended): string =>
  outcome === 'stopped early' ? outcome : status;
