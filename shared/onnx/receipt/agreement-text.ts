import { shareText } from './amount-text.ts';
import type { Receipt } from './receipt.ts';

/** Say how far a result answers as its model does. */
export function agreementText(agreement: NonNullable<Receipt['agreement']>): string {
  const { kind, share, choices, output, mean_cosine } = agreement;
  if (kind === 'ranks')
    return `the order of ${choices} scores of ${output} with Spearman ${share.toFixed(4)}`;
  if (kind === 'classes') return `${shareText(share)} of ${choices} choices of ${output}`;
  const cosine = mean_cosine === null ? '' : `, mean cosine ${mean_cosine.toFixed(4)}`;
  return `${shareText(share)} of ${choices} nearest neighbours by ${output}${cosine}`;
}
