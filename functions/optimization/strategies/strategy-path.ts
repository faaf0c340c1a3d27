import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';

/** Path parameters of everything about one strategy. */
export const strategyPath = z.strictObject({
  strategy_id: Ulid.describe('Id of the strategy, from the response that created it.'),
});
