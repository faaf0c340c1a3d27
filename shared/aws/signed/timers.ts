import type { Environment } from '../../core/needs.ts';
import { type Settings, serviceDomain } from '../../core/settings.ts';
import { requestSigner, sendSigned } from './request-signer.ts';

/** Timers of EventBridge Scheduler that start the function of schedules. */
export interface Timers {
  /**
   * Start the function once at a time, with this input. A timer of the same name and time is the same timer, so this may be repeated.
   * @throws if Scheduler refuses it or cannot be reached
   */
  set(name: string, at: string, input: object): Promise<void>;
}

/**
 * Return the timers of a deployment. `SCHEDULER_ENDPOINT` replaces the region's endpoint. Each is a schedule of its own that
 * goes off once and is then deleted, at a time in UTC: the cron expressions of Scheduler would skip a local time that does not
 * exist. Its one request is signed here, without the client of the SDK.
 */
export function schedulerTimers(
  environment: Environment,
  { group, role, target }: NonNullable<Settings['scheduleTimers']>,
  credentials: Parameters<typeof requestSigner>[2],
): Timers {
  const region = environment['AWS_REGION'] ?? 'us-east-1';
  const endpoint =
    environment['SCHEDULER_ENDPOINT'] ?? `https://scheduler.${region}.${serviceDomain(region)}`;
  const signed = requestSigner('scheduler', region, credentials);
  return {
    async set(name, at, input) {
      // Scheduler takes whole seconds, and may drop a time that has passed when it gets the request.
      const seconds = Math.ceil(Math.max(Date.parse(at), Date.now() + leastMilliseconds) / 1000);
      const url = new URL(`/schedules/${name}-${Math.ceil(Date.parse(at) / 1000)}`, endpoint);
      const body = JSON.stringify({
        GroupName: group,
        ScheduleExpression: `at(${new Date(seconds * 1000).toISOString().slice(0, 19)})`,
        ScheduleExpressionTimezone: 'UTC',
        FlexibleTimeWindow: { Mode: 'OFF' },
        ActionAfterCompletion: 'DELETE',
        Target: { Arn: target, RoleArn: role, Input: JSON.stringify(input) },
      });
      const post = await signed(url, { 'content-type': 'application/json' }, body);
      const answer = await sendSigned(post, patience);
      const text = await answer.text();
      if (!answer.ok && answer.status !== alreadySet)
        throw new Error(`EventBridge Scheduler answered ${answer.status}: ${text.slice(0, 500)}`);
    },
  };
}

/** Status of `ConflictException`: the schedule exists. */
const alreadySet = 409;
const leastMilliseconds = 10_000;
/** Milliseconds for an answer. */
const patience = 5_000;
