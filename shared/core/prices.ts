import * as z from 'zod';

const dollars = z.number().nonnegative();

/** Prices of compute in a deployment, in US dollars per hour, including its disk and IP address. */
export const pricesSchema = () =>
  z.object({
    /** Prices of a container on Fargate: a base price, plus a price for each vCPU and each GiB. */
    fargate: z.object({ base: dollars, vcpu: dollars, gib: dollars }),
    /** Prices of a request to a served model, and of a GiB of its function for a second. */
    serving: z.object({ request: dollars, gibSecond: dollars }).optional(),
    /** Price of Spot as a share of that on demand. Absent without Spot. */
    spot: z.object({ fargate: dollars, nodes: dollars }).optional(),
    /** Prices of cluster nodes by their vCPUs, MiB of memory and GPUs. */
    nodes: z.array(z.object({ vcpus: z.number(), memory: z.number(), gpus: z.number(), price: dollars })),
  });
export type Prices = z.infer<ReturnType<typeof pricesSchema>>;
