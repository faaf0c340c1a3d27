import type { Difference } from './difference.ts';

/** A difference from the baseline, coloured by whether it is better. */
export const DifferenceText = ({ difference }: { difference: Difference | undefined }) =>
  difference === undefined ? null : (
    <small
      class={`difference${difference.isBetter === undefined ? '' : difference.isBetter ? ' better' : ' worse'}`}
    >
      {difference.text}
    </small>
  );
