import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anyMethod } from '../../../../infra/service/routes.ts';
import { gatewayOf } from '../../../../infra/tools/sam/container-bridge.ts';
import { localTemplate, SynthesizedTemplate } from '../../../../infra/tools/sam/local-template.ts';

const operation = { 'x-amazon-apigateway-integration': { type: 'aws_proxy', httpMethod: 'POST', uri: 'x' } };

const log = { Type: 'AWS::Logs::LogGroup' };

const functions = SynthesizedTemplate.parse({
  Resources: {
    FunctionLog: log,
    readFunction: {
      Type: 'AWS::Lambda::Function',
      Properties: {
        Architectures: ['arm64'],
        Code: { S3Bucket: 'b', S3Key: 'k' },
        FunctionName: 'model-project-service-readHealth',
        Environment: { Variables: { RECORDS_TABLE: { 'Fn::ImportValue': 'x' } } },
        Handler: 'index.handler',
        MemorySize: 512,
        Role: { 'Fn::GetAtt': ['Role', 'Arn'] },
        Runtime: 'nodejs24.x',
      },
      Metadata: { 'aws:cdk:path': 'stack/readHealth/Function/Resource', 'aws:asset:path': 'asset.1' },
    },
    Role: { Type: 'AWS::IAM::Role', Properties: {} },
  },
});
const api = SynthesizedTemplate.parse({
  Resources: {
    FunctionLog: log,
    Api: {
      Type: 'AWS::ApiGateway::RestApi',
      Properties: {
        Name: 'model-project-service',
        Body: {
          paths: {
            '/projects': { get: operation, [anyMethod]: operation },
            '/projects/{p1}': { get: operation },
            '/mlflow/{p1+}': { [anyMethod]: operation },
          },
        },
      },
    },
  },
});

const settings = {
  architecture: 'x86_64' as const,
  variables: ['S3_ENDPOINT', 'BUCKET'],
  assets: '/out',
  codeOf: (operation: string, folder: string) => `${folder}#${operation}`,
};

test('functions run on this processor, with every variable declared and their code found', () => {
  const { readFunction } = localTemplate([functions, api], settings).Resources;
  expect(readFunction?.Properties).toMatchObject({
    Architectures: ['x86_64'],
    // Routes name it so, since it is of another stack.
    FunctionName: 'model-project-service-readHealth',
    Runtime: 'nodejs24.x',
    MemorySize: 512,
    Environment: { Variables: { S3_ENDPOINT: '', BUCKET: '' } },
  });
  expect(readFunction?.Properties).not.toHaveProperty('Role');
  expect(readFunction?.Metadata).toMatchObject({
    SamResourceId: 'readHealth',
    'aws:asset:path': `${join('/out', 'asset.1')}#readHealth`,
  });
});

test('the document of the API is unfolded to its paths and methods, with bytes for bytes', () => {
  const { Resources } = localTemplate([functions, api], settings);
  const ofType = (type: string) =>
    Object.values(Resources).flatMap(({ Type, Properties }) => (Type === type ? [Properties] : []));
  expect(ofType('AWS::ApiGateway::Resource').map(({ PathPart }) => PathPart)).toEqual([
    'projects',
    '{p1}',
    'mlflow',
    '{p1+}',
  ]);
  const methods = ofType('AWS::ApiGateway::Method');
  // Beside other methods of a path, sam would let ANY answer for them.
  expect(methods.map(({ HttpMethod }) => HttpMethod)).toEqual(['GET', 'GET', 'ANY']);
  for (const { Integration } of methods) {
    expect(Integration).toMatchObject({ Uri: 'x', ContentHandling: 'CONVERT_TO_BINARY', ContentType: '*/*' });
  }
});

test('sam gets nothing that it cannot run', () => {
  const { Resources } = localTemplate([functions, api], settings);
  const types = new Set(Object.values(Resources).map(({ Type }) => Type.replace('AWS::', '')));
  expect([...types].sort()).toEqual([
    'ApiGateway::Method',
    'ApiGateway::Resource',
    'ApiGateway::RestApi',
    'Lambda::Function',
  ]);
});

test.each([
  ['172.17.0.5', '172.17.0.0/16', '172.17.0.5'],
  ['', '172.17.0.0/16', '172.17.0.1'],
  ['', '', ''],
])('of the gateway "%s" and the subnet "%s" the host has %s', (gateway, subnet, host) => {
  expect(gatewayOf(gateway, subnet)).toBe(host);
});
