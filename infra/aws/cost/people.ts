import type { Prices } from '../../../shared/core/prices.ts';
import { hourlyCost } from '../../../shared/jobs/cost.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';
import { number, requestCost, table } from './cost-report.ts';
import type { MeasuredRequest } from './measure.ts';
import { computePrices, shippingPrices } from './price-list.ts';

/**
 * What one person does in a month of 22 working days: five trainings of an hour on 1 vCPU a day, each followed in a
 * terminal, two hours a day with the console on running experiments, and a look at lists, comparisons and files.
 */
const month = {
  trainingHours: 110,
  /** Requests a month by operation. A follower asks every 4 s, the console's list every 15 s (`await-news.ts`). */
  requests: {
    readLiveExperiment: 110 * 900 + 22 * 2 * 900,
    listLiveExperiments: 22 * 2 * 240,
    readConsole: 22,
    readConsoleFile: 22 * 20,
    renewSession: 22 * 8,
    readProject: 22 * 40,
    listExperiments: 22 * 40,
    readExperiment: 22 * 40,
    readExperimentMetrics: 22 * 60,
    compareExperiments: 22 * 5,
    listArtifacts: 22 * 20,
    downloadArtifact: 22 * 10,
    putSource: 110,
    putConfig: 110,
    putEnvironment: 110,
    trainProject: 110,
  },
} as const;

/** Lambda's monthly allowances, which do not end with an account's first year. */
const free = { requests: 1_000_000, gibSeconds: 400_000 };

/** A month of so many people, in US dollars. */
interface MonthCost {
  people: number;
  requests: number;
  /** Requests: API Gateway, Lambda beyond what is free, and DynamoDB. */
  service: number;
  /** Of `service`: what follows running experiments, in terminals and in the console. */
  following: number;
  trainings: number;
}

/**
 * Compute what a deployment costs with 1, 10 and 1,000 people, by the measured requests of each operation.
 * @throws Error if an operation was not measured
 */
export function monthCosts(measured: readonly MeasuredRequest[], options: DeploymentOptions): MonthCost[] {
  const costs = Object.entries(month.requests).map(([name, count]) => {
    const request = measured.find((operation) => operation.name === name);
    if (request === undefined) throw new Error(`${name} was not measured`);
    return { name, count, memoryMiB: request.memoryMiB, ...requestCost(request) };
  });
  const sum = (of: (cost: (typeof costs)[number]) => number) =>
    costs.reduce((total, cost) => total + cost.count * of(cost), 0);
  const isLive = (name: string) => /^(read|list)Live/.test(name);
  return [1, 10, 1000].map((people) => {
    const requests = people * sum(() => 1);
    const gibSeconds = people * sum(({ duration, memoryMiB }) => (duration / 1000) * (memoryMiB / 1024));
    const isFree = requests <= free.requests && gibSeconds <= free.gibSeconds;
    // Beyond the allowances everything is charged here, which is a little too much.
    const lambda = isFree ? 0 : people * sum((cost) => cost.lambda / 1000);
    return {
      people,
      requests,
      service: lambda + people * sum(({ api, dynamoDb }) => (api + dynamoDb) / 1000),
      following:
        people *
        sum(({ name, api, dynamoDb, lambda: ofLambda }) =>
          isLive(name) ? (api + dynamoDb + (isFree ? 0 : ofLambda)) / 1000 : 0,
        ),
      trainings: trainingsCost(people, options),
    };
  });
}

/** Return the US dollars of the trainings of so many people in a month, all of them followed. */
export function trainingsCost(people: number, options: DeploymentOptions): number {
  const { unwatched, watched } = shippingPrices();
  const hour = trainingHour(computePrices(options)) + Math.max(0, watched - unwatched);
  return people * month.trainingHours * hour;
}

/** Return the US dollars of an hour of training on 1 vCPU with 2 GiB that nobody follows. */
export const trainingHour = (compute: Prices): number =>
  hourlyCost(compute, { isOnNodes: false, vcpus: 1, memory: 2048, gpus: 0, nodes: 1 }) ?? 0;

/** Report the monthly cost of a deployment with people who train and follow what they train. */
export function peopleReport(months: readonly MonthCost[]): string {
  const rows = months.map(({ people, requests, service, following, trainings }) => [
    `${number(people, 0)} ${people === 1 ? 'person' : 'people'}`,
    number(requests, 0),
    number(service, 2),
    number(following, 2),
    number(trainings, 2),
    number(service + trainings, 2),
  ]);
  return `${table(['a month', 'requests', 'service', 'of it following', 'trainings', 'US$'], rows)}
Each: five trainings of an hour on 1 vCPU a day, followed in a terminal, two hours of the console (\`infra/aws/cost/people.ts\`).`;
}
