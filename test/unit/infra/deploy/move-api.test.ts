import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { keptTemplate, movesLeft } from '../../../../infra/aws/deploy/move-api.ts';
import { DeployedTemplate } from '../../../../infra/aws/deploy/read-deployment.ts';
import { apiContext } from '../../../../infra/aws/options/api-context.ts';
import { movingApi } from '../../../../infra/aws/stacks/api/moving-api.ts';

/** The API's stack of a release whose methods were resources. */
const separate = DeployedTemplate.parse({
  Parameters: { BootstrapVersion: { Type: 'String', Default: '/cdk-bootstrap/version' } },
  Rules: { CheckBootstrapVersion: { Assertions: [] } },
  Resources: {
    Api: { Type: 'AWS::ApiGateway::RestApi', Properties: { Name: 'mps', BinaryMediaTypes: ['*/*'] } },
    Path: {
      Type: 'AWS::ApiGateway::Resource',
      Properties: {
        RestApiId: { Ref: 'Api' },
        ParentId: { 'Fn::GetAtt': ['Api', 'RootResourceId'] },
        PathPart: 'x',
      },
    },
    Get: {
      Type: 'AWS::ApiGateway::Method',
      Properties: {
        RestApiId: { Ref: 'Api' },
        ResourceId: { Ref: 'Path' },
        HttpMethod: 'GET',
        AuthorizationType: 'NONE',
      },
    },
    Throttled: {
      Type: 'AWS::ApiGateway::GatewayResponse',
      Properties: { RestApiId: { Ref: 'Api' }, ResponseType: 'THROTTLED' },
    },
    Deployment: { Type: 'AWS::ApiGateway::Deployment', Properties: { RestApiId: { Ref: 'Api' } } },
  },
});

/** One whose methods are in its document. */
const document = DeployedTemplate.parse({
  Resources: { Api: { Type: 'AWS::ApiGateway::RestApi', Properties: { Body: {}, Mode: 'overwrite' } } },
});

test('methods are kept before they leave the stack, and no step is skipped or done twice', () => {
  expect(movesLeft(separate)).toEqual(['keep', 'merge']);
  expect(movesLeft(keptTemplate(separate))).toEqual(['merge']);
  expect(movesLeft(document)).toEqual([]);
});

test('where one method would be deleted with its resource, all are kept first', () => {
  const { Resources, ...others } = keptTemplate(separate);
  const { DeletionPolicy: _, ...Get } = Resources['Get']!;

  expect(movesLeft({ ...others, Resources: { ...Resources, Get } })).toEqual(['keep', 'merge']);
});

test('the stack in which methods are kept differs from the deployed one in nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mps-kept-'));
  try {
    const file = join(folder, 'kept.template.json');
    await writeFile(file, JSON.stringify(keptTemplate(separate)));
    const app = new App({ outdir: join(folder, 'out'), context: { [apiContext.template]: file } });

    movingApi(app, 'mps-api', {});

    const { Resources } = app.synth().getStackByName('mps-api').template;
    const policies = Object.entries<{ DeletionPolicy?: string }>(Resources).map(
      ([id, { DeletionPolicy }]) => [id, DeletionPolicy],
    );
    expect(Object.fromEntries(policies)).toEqual({
      Api: undefined,
      Path: 'Retain',
      Get: 'Retain',
      Throttled: 'Retain',
      Deployment: undefined,
    });
    for (const [id, { Properties }] of Object.entries(separate.Resources)) {
      expect(Resources[id].Properties).toMatchObject(Properties ?? {});
    }
    // CloudFormation does nothing for a new deletion policy alone.
    expect(Resources.Api.Properties.Description).toBeDefined();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('an API that does not move has the usual stack', () => {
  expect(movingApi(new Stack(), 'mps-api', {})).toBeUndefined();
});
