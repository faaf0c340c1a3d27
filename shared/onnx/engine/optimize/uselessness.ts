import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import { errorText, shareText } from '../../receipt/amount-text.ts';
import { usefulAgreement, uselessError } from '../../receipt/receipt.ts';

type Compared = Pick<StageAnswer<'compare'>, 'outputs' | 'agreement' | 'data'>;

/** Attempts that the first line of a receipt names; the others are its suggestions. */
const maxTried = 4;

/**
 * Why a result is of no use: how far it is from what the model answers on a given set. Made-up inputs show that of
 * nothing. Undefined where it is of use, or nothing is known.
 */
export function uselessness(compare: Compared | null): string | undefined {
  if (compare === null || compare.data.source === 'synthetic') return undefined;
  const { outputs, agreement, data } = compare;
  const worst = outputs.reduce<{ name: string; error: number }>(
    (most, { name, relative_l2_error: error }) =>
      (error ?? 0) > most.error ? { name, error: error ?? 0 } : most,
    { name: '', error: 0 },
  );
  const faults = [
    ...(worst.error > uselessError
      ? [
          `the output ${JSON.stringify(worst.name)} has a relative error of ${errorText(worst.error)} (above ${uselessError})`,
        ]
      : []),
    ...(agreement !== null && agreement.share < usefulAgreement
      ? [
          `it agrees with the model in ${shareText(agreement.share)} of the choices of ${JSON.stringify(agreement.output)} (below ${shareText(usefulAgreement)})`,
        ]
      : []),
  ];
  if (faults.length === 0) return undefined;
  return `THE RESULT IS OF NO USE: over ${data.samples} samples of the ${data.source} set ${faults.join(', and ')}.`;
}

/** The first line of a receipt whose result is of no use, with what to try. */
export function uselessLine(why: string, remedies: readonly string[]): string {
  if (remedies.length === 0) return why;
  const tried = remedies.slice(0, maxTried).map((one) => one.replace(/:.*$|\.$/s, ''));
  return `${why} Try ${tried.join('; ')}.`;
}
