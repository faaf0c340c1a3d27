import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gatewayOf } from '../../../../infra/tools/sam/container-bridge.ts';
import { localTemplate, SynthesizedTemplate } from '../../../../infra/tools/sam/local-template.ts';

const method = (HttpMethod: string, route: string) => ({
  Type: 'AWS::ApiGateway::Method',
  Properties: { HttpMethod, ResourceId: { Ref: route }, Integration: { Type: 'AWS_PROXY', Uri: 'x' } },
});

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
    Get: method('GET', 'Projects'),
    Any: method('ANY', 'Projects'),
    Proxy: method('ANY', 'Everything'),
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

test('the API keeps its methods, with bytes for bytes, and nothing that sam cannot run', () => {
  const { Resources } = localTemplate([functions, api], settings);
  expect(Object.keys(Resources).sort()).toEqual(['Get', 'Proxy', 'readFunction']);
  expect(Resources['Get']?.Properties).toMatchObject({
    Integration: { Type: 'AWS_PROXY', ContentHandling: 'CONVERT_TO_BINARY', ContentType: '*/*' },
  });
});

test('a route that one function serves with every method keeps it; beside other methods sam would prefer it to them', () => {
  const { Resources } = localTemplate([functions, api], settings);
  expect(Resources['Proxy']?.Properties).toMatchObject({ HttpMethod: 'ANY' });
  expect(Resources).not.toHaveProperty('Any');
});

test.each([
  ['172.17.0.5', '172.17.0.0/16', '172.17.0.5'],
  ['', '172.17.0.0/16', '172.17.0.1'],
  ['', '', ''],
])('of the gateway "%s" and the subnet "%s" the host has %s', (gateway, subnet, host) => {
  expect(gatewayOf(gateway, subnet)).toBe(host);
});
