import { setTimeout } from 'node:timers/promises';
import {
  type CloudFormationClient,
  DescribeStackDriftDetectionStatusCommand,
  DescribeStackResourceDriftsCommand,
  DetectStackDriftCommand,
} from '@aws-sdk/client-cloudformation';
import { type CheckResult, good, note, problem } from '../deploy/checks/check-result.ts';

/**
 * Compare the tables and the bucket with what the deployed template states of them, such as recovery, deletion
 * protection and encryption. CloudFormation compares: its drift detection knows each property of the template.
 * @param pause milliseconds between two looks at the comparison, which takes some seconds
 */
export async function checkProtections(
  client: CloudFormationClient,
  StackName: string,
  pause = 2000,
): Promise<CheckResult[]> {
  const { StackDriftDetectionId } = await client.send(new DetectStackDriftCommand({ StackName }));
  for (let tries = 0; tries < maxTries; tries += 1) {
    const { DetectionStatus, DetectionStatusReason } = await client.send(
      new DescribeStackDriftDetectionStatusCommand({ StackDriftDetectionId }),
    );
    if (DetectionStatus === 'DETECTION_COMPLETE') return differences(client, StackName);
    if (DetectionStatus === 'DETECTION_FAILED')
      return [
        note(`the tables and the bucket could not be compared with ${StackName}: ${DetectionStatusReason}`),
      ];
    await setTimeout(pause);
  }
  return [note(`the comparison of the tables and the bucket with ${StackName} takes too long; try again`)];
}

const maxTries = 60;

async function differences(client: CloudFormationClient, StackName: string): Promise<CheckResult[]> {
  const found: CheckResult[] = [];
  let NextToken: string | undefined;
  do {
    const page = await client.send(
      new DescribeStackResourceDriftsCommand({
        StackName,
        StackResourceDriftStatusFilters: ['DELETED', 'MODIFIED'],
        ...(NextToken !== undefined && { NextToken }),
      }),
    );
    for (const {
      PhysicalResourceId: name,
      StackResourceDriftStatus,
      PropertyDifferences = [],
    } of page.StackResourceDrifts ?? []) {
      if (StackResourceDriftStatus === 'DELETED') found.push(problem(`${name} was deleted`));
      for (const { PropertyPath, ExpectedValue, ActualValue } of PropertyDifferences)
        found.push(
          problem(
            `${name}: ${PropertyPath?.slice(1)} is ${ActualValue}, but the deployment states ${ExpectedValue}`,
          ),
        );
    }
    NextToken = page.NextToken;
  } while (NextToken !== undefined);
  return found.length > 0
    ? found
    : [good('the tables and the bucket are protected as the deployment states')];
}
