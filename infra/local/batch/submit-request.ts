import * as z from 'zod';
import { RetryStrategy } from './jobs/retry-strategy.ts';

const text = z.string().refine((value) => !value.includes('\0'), 'may not hold a zero byte');
const unsupported = z.undefined('is not served by the local Batch server').optional();

const Environment = z.array(
  z.object({
    name: text
      .min(1)
      .refine((name) => !name.includes('='), 'may not hold an equals sign')
      .refine((name) => !name.startsWith('AWS_BATCH'), 'may not start with AWS_BATCH'),
    value: text.default(''),
  }),
);

const ResourceRequirements = z
  .array(
    z.object({
      type: z.enum(['VCPU', 'MEMORY', 'GPU']),
      value: z.string().regex(/^\d{1,7}(\.\d{1,3})?$/, 'must be a number'),
    }),
  )
  .refine((all) => new Set(all.map(({ type }) => type)).size === all.length, 'may name each type once');

const ContainerOverrides = z.object({
  command: z.array(text.min(1, 'may not be empty')).optional(),
  environment: Environment.optional(),
  resourceRequirements: ResourceRequirements.optional(),
});
export type ContainerOverrides = z.infer<typeof ContainerOverrides>;

const NodeOverrides = z.object({
  numNodes: z.int().min(1).max(1000).optional(),
  nodePropertyOverrides: z
    .array(
      z.object({
        targetNodes: z.string(),
        containerOverrides: ContainerOverrides.optional(),
        ecsPropertiesOverride: unsupported,
        eksPropertiesOverride: unsupported,
      }),
    )
    .optional(),
});

const tagKey = z.string().min(1).max(128);

/** The request of SubmitJob; parameters of AWS Batch that the local server does not serve are refused, not ignored. */
export const SubmitRequest = z.object({
  jobName: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/, 'should match valid pattern'),
  jobQueue: z.string().min(1),
  jobDefinition: z.string().min(1),
  containerOverrides: ContainerOverrides.optional(),
  nodeOverrides: NodeOverrides.optional(),
  dependsOn: z
    .array(z.object({ jobId: z.string(), type: unsupported }))
    .max(20)
    .optional(),
  retryStrategy: RetryStrategy.partial({ attempts: true }).optional(),
  timeout: z.object({ attemptDurationSeconds: z.int().optional() }).optional(),
  parameters: z.record(z.string(), text).optional(),
  tags: z
    .record(tagKey, z.string().max(256))
    .refine((tags) => Object.keys(tags).length <= 50, 'may be 50 at most')
    .optional(),
  propagateTags: z.boolean().optional(),
  arrayProperties: unsupported,
  /** Whose job it is: owners take turns. On AWS only queues with a scheduling policy take one. */
  shareIdentifier: z
    .string()
    .regex(/^[A-Za-z0-9]{1,255}$/, 'must be 1 to 255 letters and digits')
    .optional(),
  schedulingPriorityOverride: unsupported,
  ecsPropertiesOverride: unsupported,
  eksPropertiesOverride: unsupported,
  consumableResourcePropertiesOverride: unsupported,
});
export type SubmitRequest = z.infer<typeof SubmitRequest>;
