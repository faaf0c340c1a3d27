import * as z from 'zod';

/** What the demo reads of an experiment that `mps show --json` prints. */
export const DemoExperiment = z.object({ experiment_id: z.string(), project_id: z.string() });
export type DemoExperiment = z.infer<typeof DemoExperiment>;
