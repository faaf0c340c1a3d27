import { readObjects } from '../../shared/aws/needs.ts';
import { within } from '../../shared/core/needs.ts';
import { hookEventPatterns } from '../../shared/data/hooks/hook.ts';
import { notices } from '../../shared/data/hooks/notice.ts';
import { servingPatterns, warmPartition } from '../../shared/data/models/serving.ts';
import { memberPatterns } from '../../shared/data/projects/member.ts';
import { projectPatterns } from '../../shared/data/projects/project.ts';
import { readRecords, writeRecords } from '../../shared/data/table/needs.ts';
import type { Context, Throttle } from '../../shared/http/definition/endpoint-context.ts';

/**
 * It reads served models with their files, who may ask them, and whether a hook asks for an event. It writes only their states and
 * counters, and notices that a version was taken out.
 */
export const servingNeeds = {
  records: within(readRecords, {
    partitions: [
      ...servingPatterns,
      warmPartition,
      ...projectPatterns,
      ...memberPatterns,
      ...hookEventPatterns,
    ],
  }),
  served: within(writeRecords, { partitions: [...servingPatterns, ...notices.partitions] }),
  objects: within(readObjects, { prefixes: ['models/', 'strategies/'] }),
};

export type ServingContext = Context<typeof servingNeeds, 'anyone', undefined>;

/** Far above the rate of the stage on AWS, which bounds it there. Callers without an account have a rate for each model. */
export const servingThrottle: Throttle = { perSecond: 2_000, burst: 4_000 };

/** ONNX Runtime crashes on the arm64 processors of Lambda (onnxruntime#10038), so this function runs on x86_64. */
export const servingRuntime = {
  processor: 'x86_64',
  native: ['onnxruntime-node', 'sharp'],
  programs: { 'session-program': 'shared/serving/sessions/session-program.ts' },
  start: 'functions/serving/start-serving.ts',
  servesModels: true,
} as const;
