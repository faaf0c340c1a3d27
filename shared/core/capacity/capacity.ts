import * as z from 'zod';
import { capacities } from './capacities.ts';

export const Capacity = z.enum(capacities, 'must be spot, spot-then-on-demand or on-demand');
export type Capacity = z.infer<typeof Capacity>;

/** Where one submission of a job runs. */
export const CapacityType = z.enum(['spot', 'on-demand']);
export type CapacityType = z.infer<typeof CapacityType>;

/** US dollars for an attempt that reaches its timeout. */
export const CostEstimates = z.object({ spot: z.number(), 'on-demand': z.number() });
export type CostEstimates = z.infer<typeof CostEstimates>;
