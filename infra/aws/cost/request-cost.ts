import type { Units } from './capacity-meter.ts';
import { prices } from './price-list.ts';

/** One request of an endpoint, as it was measured. */
export interface MeasuredRequest {
  name: string;
  status: number;
  /** On this machine, in a process that has answered before. */
  milliseconds: number;
  units: Units;
  memoryMiB: number;
}

/** US dollars for 1,000 requests. */
export interface RequestCost {
  /** Milliseconds that Lambda is taken to need. */
  duration: number;
  lambda: number;
  api: number;
  dynamoDb: number;
  total: number;
}

/** MiB at which a function has one whole processor. */
const wholeProcessor = 1769;
/** Milliseconds of network for each request of a function to DynamoDB, which is next door here. */
const networkMilliseconds = 5;

/**
 * Cost of 1,000 requests beyond every free allowance: a function has its share of a processor, and pays for all its
 * time.
 */
export function requestCost({ milliseconds, units, memoryMiB }: MeasuredRequest): RequestCost {
  const duration = Math.ceil(
    milliseconds / Math.min(1, memoryMiB / wholeProcessor) + 3 * networkMilliseconds,
  );
  const thousand = 1000;
  const lambda =
    thousand * (prices.lambda.request + (duration / 1000) * (memoryMiB / 1024) * prices.lambda.gibSecond);
  const api = thousand * prices.api.request;
  const dynamoDb =
    thousand * (units.reads * prices.dynamoDb.readUnit + units.writes * prices.dynamoDb.writeUnit);
  return { duration, lambda, api, dynamoDb, total: lambda + api + dynamoDb };
}
