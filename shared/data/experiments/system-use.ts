import * as z from 'zod';

const meanAndPeak = z.object({ mean: z.number(), peak: z.number() });

/** What the command of a training used, in its last attempt. */
export const SystemUse = z.object({
  seconds: z.number().describe('Seconds for which it was sampled.'),
  cpu: meanAndPeak.describe('vCPUs in use; the peak is that of ten seconds.'),
  memory: meanAndPeak.describe('MiB in use.'),
  network: z
    .object({ received: z.number(), sent: z.number() })
    .nullable()
    .describe('Megabytes of the machine or container while it ran; null if the system does not count them.'),
  gpus: z.array(
    z.object({
      index: z.number().int(),
      name: z.string(),
      driver: z.string(),
      memory: z.number().describe('MiB that it has.'),
      use: meanAndPeak.describe('Percent.'),
      memory_used: meanAndPeak.describe('MiB.'),
    }),
  ),
  contended: z
    .number()
    .optional()
    .describe(
      'Share of the time in which other work of the machine left it fewer vCPUs than its size has; absent where nothing tells.',
    ),
  seconds_with: z
    .record(z.string(), z.number())
    .describe('Seconds that the same work takes at most with fewer vCPUs, by their number.'),
});
export type SystemUse = z.infer<typeof SystemUse>;
