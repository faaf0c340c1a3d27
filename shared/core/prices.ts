import * as z from 'zod';

const dollars = z.number().nonnegative();

/** What compute costs in a deployment, in US dollars an hour, with the disk and the address that go with it. */
export const pricesSchema = () =>
  z.object({
    /** A container on Fargate: so much in any case, and for each vCPU and GiB. */
    fargate: z.object({ base: dollars, vcpu: dollars, gib: dollars }),
    /** Nodes of a cluster, by what they hold: vCPUs, MiB and GPUs. */
    nodes: z.array(z.object({ vcpus: z.number(), memory: z.number(), gpus: z.number(), price: dollars })),
  });
export type Prices = z.infer<ReturnType<typeof pricesSchema>>;
