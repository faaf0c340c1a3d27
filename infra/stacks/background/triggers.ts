import { Duration, type Stack } from 'aws-cdk-lib';
import { type EventPattern, Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import { CfnEventInvokeConfig } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { BatchNames } from '../names.ts';
import type { ServiceFunction } from '../service-function.ts';

/** What starts a function: events of this pattern, or time. */
type Trigger = { pattern: EventPattern } | { every: Duration };

/** After so long an event that nobody could take in is a dead letter. */
const eventHours = 2;
const retries = 2;

/**
 * What starts the functions of `functions/events`, by name. Ticks of the reconciler only catch what events have missed,
 * since whoever reads an unfinished experiment compares it with Batch as well.
 */
export function triggersOf(stack: Stack, { trainQueue, clusterQueue }: BatchNames): Record<string, Trigger> {
  const queueArn = (resourceName: string) =>
    stack.formatArn({ service: 'batch', resource: 'job-queue', resourceName });
  return {
    jobStateChanged: {
      pattern: {
        source: ['aws.batch'],
        detailType: ['Batch Job State Change'],
        detail: { jobQueue: [queueArn(trainQueue), queueArn(clusterQueue)] },
      },
    },
    reconcile: { every: Duration.minutes(5) },
    purge: { every: Duration.hours(1) },
  };
}

/** Starts a function by its trigger. Events that do not reach it, and those that it fails on, become dead letters. */
export function addTrigger(fn: ServiceFunction, trigger: Trigger, deadLetters: IQueue): void {
  const { lambda } = fn;
  new Rule(fn, 'Rule', {
    ...('every' in trigger ? { schedule: Schedule.rate(trigger.every) } : { eventPattern: trigger.pattern }),
    targets: [
      new FunctionTarget(lambda, {
        deadLetterQueue: deadLetters,
        maxEventAge: Duration.hours(eventHours),
        retryAttempts: 10,
      }),
    ],
  });
  new CfnEventInvokeConfig(fn, 'OnFailure', {
    functionName: lambda.functionName,
    qualifier: '$LATEST',
    maximumEventAgeInSeconds: Duration.hours(eventHours).toSeconds(),
    maximumRetryAttempts: retries,
    destinationConfig: { onFailure: { destination: deadLetters.queueArn } },
  });
}
