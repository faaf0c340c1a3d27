import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';

/** Path parameters of everything about one strategy. */
export const strategyPath = z.strictObject({
  strategy_id: Ulid.describe('The strategy: the `strategy_id` that its creation answered.'),
});
