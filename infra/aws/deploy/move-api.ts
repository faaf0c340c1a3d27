import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { apiContext } from '../options/api-context.ts';
import { type DeployedTemplate, deployedTemplate } from './read-deployment.ts';
import { runCdk } from './run-cdk.ts';

/**
 * Move the API of an earlier release, whose methods and paths are resources of its stack, into one document. First
 * the stack keeps them when they leave its template; then they leave it, and the document is merged with them. The
 * usual deployment after it lets the document alone decide. API, address and stage stay, and the stage goes on
 * serving its deployment throughout. Each step is derived from the deployed template, so that a move that was
 * interrupted goes on where it stopped, and none is skipped. Do nothing for an API that has moved, or none.
 * @param args further flags for `cdk deploy`
 * @returns exit code of the CDK, 0 where nothing was to do
 */
export async function moveApi(
  client: CloudFormationClient,
  stack: string,
  args: readonly string[],
  context: readonly string[],
): Promise<number> {
  const template = await deployedTemplate(client, stack);
  if (template === undefined) return 0;
  const steps = movesLeft(template);
  if (steps.length > 0) process.stderr.write(`Moving the API into one document: ${steps.join(', ')}\n`);
  const folder = await mkdtemp(join(tmpdir(), 'mps-api-'));
  const file = join(folder, 'kept.template.json');
  try {
    await writeFile(file, JSON.stringify(keptTemplate(template)));
    for (const step of steps) {
      // The document names functions, which are therefore deployed before it; the first step changes nothing else.
      const status =
        step === 'keep'
          ? runCdk(
              ['deploy', stack, '--exclusively', ...args],
              [...context, `${apiContext.template}=${file}`],
            )
          : runCdk(['deploy', stack, ...args], [...context, `${apiContext.mode}=merge`]);
      if (status !== 0) return status;
    }
    return 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Return the steps that an API's deployed template still has before it. */
export function movesLeft({ Resources }: DeployedTemplate): ('keep' | 'merge')[] {
  const leaving = Object.values(Resources).filter(({ Type }) => leavingTypes.includes(Type));
  if (leaving.length === 0) return [];
  return leaving.every(({ DeletionPolicy }) => DeletionPolicy === 'Retain') ? ['merge'] : ['keep', 'merge'];
}

const leavingTypes: readonly string[] = [
  'AWS::ApiGateway::Resource',
  'AWS::ApiGateway::Method',
  'AWS::ApiGateway::GatewayResponse',
];

/** Return the template whose methods, paths and responses stay in the API when they leave the stack. */
export function keptTemplate(template: DeployedTemplate): DeployedTemplate {
  // The CDK adds its own parameter and rule to each stack.
  const { Rules: _, Parameters: { BootstrapVersion: __, ...Parameters } = {}, ...others } = template;
  const Resources = Object.fromEntries(
    Object.entries(template.Resources).map(([id, resource]) => {
      if (leavingTypes.includes(resource.Type)) return [id, { ...resource, ...kept }];
      if (resource.Type !== 'AWS::ApiGateway::RestApi') return [id, resource];
      // CloudFormation takes a new deletion policy only together with a change of a resource.
      return [id, { ...resource, Properties: { ...resource.Properties, Description: movingDescription } }];
    }),
  );
  return { ...others, Parameters, Resources };
}

const kept = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };

const movingDescription = 'Its methods move into one document';
