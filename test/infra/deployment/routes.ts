import { expect, test } from 'vitest';
import { readOptions } from '../../../infra/aws/options/deployment-options.ts';
import { type gatewayResponses, ownAnswers } from '../../../infra/aws/stacks/api/gateway-responses.ts';
import { routeOf } from '../../../infra/service/routes.ts';
import { localTemplate, SynthesizedTemplate } from '../../../infra/tools/sam/local-template.ts';
import { accountTypes } from '../../../shared/data/accounts/user.ts';
import { isOperation, servedMethods } from '../../../shared/http/definition/request-method.ts';
import { nonEmpty } from '../../support/non-empty.ts';
import { apiBody, apiMethods, deployment, endpoints, equipped } from './synthesized.ts';

const service = await deployment(equipped);

const methods = apiMethods(service);
const responses: ReturnType<typeof gatewayResponses> =
  apiBody(service)['x-amazon-apigateway-gateway-responses'];

test('every endpoint is served by its own function under its route, and states who may call', () => {
  const served = endpoints.flatMap((endpoint) => {
    const { method } = endpoint;
    return (isOperation(endpoint) ? servedMethods(method) : [method]).map((one) => ({
      endpoint,
      method: one,
    }));
  });
  for (const { endpoint, method } of nonEmpty(served)) {
    const { resource } = routeOf(endpoint);
    const [found, ...others] = methods.filter((one) => one.method === method && one.resource === resource);
    expect(others).toEqual([]);
    expect(found?.uri).toContain(`:function:model-project-service-${endpoint.name}/invocations`);
    expect(['anyone', ...accountTypes]).toContain(endpoint.allow);
  }
  const operations = served.filter(({ method }) => method !== 'ANY');
  expect(methods.filter(({ method }) => method !== 'ANY')).toHaveLength(operations.length);
});

test('sam local gets every route with the methods that it has of its own', () => {
  const ofApi = service.resources.filter(({ Type }) => Type.startsWith('AWS::ApiGateway::'));
  const template = SynthesizedTemplate.parse({
    Resources: Object.fromEntries(ofApi.map(({ id, ...resource }) => [id, resource])),
  });
  const kept = localTemplate([template], {
    architecture: 'x86_64',
    variables: [],
    assets: '',
    codeOf: (_, folder) => folder,
  });
  const pathOf = (reference: { Ref?: string } = {}): string => {
    const { ParentId, PathPart } = kept.Resources[reference.Ref ?? '']?.Properties ?? {};
    return PathPart === undefined ? '' : `${pathOf(ParentId as { Ref?: string })}/${PathPart}`;
  };
  const served = Object.values(kept.Resources)
    .filter(({ Type }) => Type === 'AWS::ApiGateway::Method')
    .map(({ Properties }) => `${Properties['HttpMethod']} ${pathOf(Properties['ResourceId'] ?? {}) || '/'}`);
  const expected = endpoints.flatMap((endpoint) =>
    (isOperation(endpoint) ? servedMethods(endpoint.method) : [endpoint.method]).map(
      (one) => `${one} ${routeOf(endpoint).resource}`,
    ),
  );
  expect(expected).toContain('ANY /mlflow/{p1+}');
  expect(served.sort()).toEqual(expected.sort());
});

test('HEAD goes to the function of GET', () => {
  const uriOf = (wanted: string) =>
    methods
      .filter(({ method }) => method === wanted)
      .map(({ resource, uri }) => `${resource} ${uri}`)
      .sort();
  expect(uriOf('HEAD')).toEqual(uriOf('GET'));
});

test('every route serves every other method by the one function for it', () => {
  const resourcesOf = (some: typeof endpoints) => some.map((endpoint) => routeOf(endpoint).resource);
  const routes = [...new Set(resourcesOf(endpoints.filter(isOperation)))].sort();
  const proxies = resourcesOf(endpoints.filter((endpoint) => !isOperation(endpoint)));
  const other = methods.filter(({ method, resource }) => method === 'ANY' && !proxies.includes(resource));
  expect(other.map(({ resource }) => resource).sort()).toEqual(routes);
  for (const { uri } of nonEmpty(other)) expect(uri).toContain('anyMethodFunction');
});

test('every method is a proxy to its function', () => {
  for (const { integration } of nonEmpty(methods)) {
    expect(integration).toMatchObject({ type: 'aws_proxy', httpMethod: 'POST' });
  }
});

test('sibling path variables have one name, which API Gateway asks for only when it deploys', () => {
  const variables = methods.flatMap(({ resource }) =>
    resource
      .split('/')
      .flatMap((segment, index, segments) =>
        segment.startsWith('{') ? [{ parent: segments.slice(0, index).join('/'), segment }] : [],
      ),
  );
  const bySibling = Map.groupBy(variables, ({ parent }) => parent);
  for (const siblings of bySibling.values()) {
    expect(new Set(siblings.map(({ segment }) => segment.replace('+', ''))).size).toBe(1);
  }
  expect(bySibling.size).toBeGreaterThan(5);
});

test('the functions of routes are there under the names that the API has for them', () => {
  const deployed = service
    .of('AWS::Lambda::Function')
    .flatMap(({ stack, Properties }) => (stack.endsWith('-functions') ? [Properties.FunctionName] : []));
  const named = methods.flatMap(({ uri }) => /:function:([^/"]+)/.exec(uri)?.[1] ?? []);
  expect(new Set(named)).toEqual(new Set(deployed));
  expect(deployed).toHaveLength(endpoints.length);
  // The longest name that a deployment may have has 31 characters.
  for (const { name } of endpoints) expect(`${'n'.repeat(31)}-${name}`).toMatch(/^[a-zA-Z0-9-]{1,64}$/);
});

test('API Gateway may invoke the functions of a route, named one by one, and nothing else', () => {
  const roles = new Map(
    service.of('AWS::IAM::Role').map(({ id, Properties }) => [id, Properties.Policies?.[0].PolicyDocument]),
  );
  const invokers = new Set(methods.map(({ integration }) => integration.credentials['Fn::GetAtt'][0]));
  for (const { integration, uri } of nonEmpty(methods)) {
    const { Statement } = roles.get(integration.credentials['Fn::GetAtt'][0]);
    expect(Statement).toEqual([
      { Action: 'lambda:InvokeFunction', Effect: 'Allow', Resource: expect.anything() },
    ]);
    const named: string[] = [Statement[0].Resource].flat().map((arn) => JSON.stringify(arn));
    const isOf = (name: string | undefined) => name !== undefined && uri.includes(name);
    expect(
      named.some((arn) => isOf(/:function:([^"]+)"/.exec(arn)?.[1]) || uri.includes(arn.slice(1, -1))),
    ).toBe(true);
    expect(named.join()).not.toContain('*');
    // All inline policies of a role together may have 10,240 characters; an ARN has 120 at most.
    expect(named.length * 120).toBeLessThan(9_000);
  }
  expect(invokers.size).toBe(4);
  const permissions = service
    .of('AWS::Lambda::Permission')
    .filter(({ stack }) => /-(api|functions)$/.test(stack));
  expect(permissions).toEqual([]);
});

test('the API is regional and takes and gives bytes of any kind', () => {
  expect(service.of('AWS::ApiGateway::RestApi')[0]?.Properties).toMatchObject({
    EndpointConfiguration: { Types: ['REGIONAL'] },
    Mode: 'overwrite',
  });
  expect(apiBody(service)['x-amazon-apigateway-binary-media-types']).toEqual(['*/*']);
});

test("API Gateway's own answers are problems, which the page of one single origin may read", () => {
  expect(Object.keys(responses)).toEqual(ownAnswers.map(([type]) => type));
  for (const { statusCode, responseParameters, responseTemplates } of Object.values(responses)) {
    const body = JSON.parse(responseTemplates['application/json']!);
    expect(body).toMatchObject({ status: statusCode, instance: '$context.requestId', errors: [] });
    expect(body.message).toBe(body.detail);
    expect(body.error).toBe(body.detail);
    expect(responseParameters).toMatchObject({
      'gatewayresponse.header.Content-Type': "'application/problem+json'",
      'gatewayresponse.header.Access-Control-Allow-Origin': "'https://app.example'",
    });
  }
  expect(responses['DEFAULT_4XX']?.statusCode).toBe(404);
  expect(responses['THROTTLED']?.statusCode).toBe(429);
  expect(responses['INTEGRATION_TIMEOUT']?.statusCode).toBe(503);
});

test('a request for which Lambda starts no function is 503, with Retry-After and no word of what it may have done', () => {
  const { statusCode, responseParameters, responseTemplates } = responses['INTEGRATION_FAILURE']!;
  expect(statusCode).toBe(503);
  expect(responseParameters['gatewayresponse.header.Retry-After']).toBe("'2'");
  const { detail } = JSON.parse(responseTemplates['application/json']!);
  expect(detail).toMatch(/Too many operations/);
  expect(detail).not.toMatch(/in time/);
});

test('headers of gateway responses need no escape: quotes enclose a value and are nowhere in it', () => {
  for (const { responseParameters } of Object.values(responses)) {
    for (const value of Object.values(responseParameters)) expect(value).toMatch(/^'[^']+'$/);
  }
});

test('the burst of the stage is half of what the account runs at once, unless it is given', async () => {
  const burstOf = (options: Record<string, string>) => readOptions(options).requestBurst;
  expect(burstOf({ concurrentFunctions: '100' })).toBe(50);
  expect(burstOf({ concurrentFunctions: '1000' })).toBe(100);
  expect(burstOf({ concurrentFunctions: '1000', requestBurst: '400' })).toBe(400);
  for (const options of [{}, { requestBurst: '30' }] as Record<string, string>[]) {
    const { Properties } = (await deployment(options)).of('AWS::ApiGateway::Stage')[0]!;
    expect(Properties.MethodSettings[0].ThrottlingBurstLimit).toBe(burstOf(options));
  }
});

test('what anybody may call has a throttle of its own, never above that of the stage', async () => {
  const settingsOf = async (options: Record<string, string>): Promise<Record<string, unknown>[]> =>
    (await deployment(options)).of('AWS::ApiGateway::Stage')[0]!.Properties.MethodSettings;
  const given = await settingsOf({ requestBurst: '30' });
  expect(
    given
      .slice(1)
      .map(({ HttpMethod, ResourcePath }) => `${HttpMethod} ${ResourcePath}`)
      .sort(),
  ).toEqual(
    [
      'GET /',
      'HEAD /',
      'GET /auth/oidc/callback',
      'HEAD /auth/oidc/callback',
      'GET /auth/oidc/start',
      'HEAD /auth/oidc/start',
      'POST /auth/oidc/device',
      'POST /auth/oidc/token',
      'GET /cli/mps.schema.json',
      'HEAD /cli/mps.schema.json',
      'GET /cli/{p1}',
      'HEAD /cli/{p1}',
      'GET /console',
      'HEAD /console',
      'GET /console/{p1}',
      'HEAD /console/{p1}',
      'GET /docs',
      'GET /v2',
      'HEAD /v2',
      'HEAD /docs',
      'GET /docs/agents.md',
      'HEAD /docs/agents.md',
      'GET /mlflow',
      'HEAD /mlflow',
      'GET /health',
      'HEAD /health',
      'GET /openapi.json',
      'HEAD /openapi.json',
      'GET /users/check/{p2}',
      'HEAD /users/check/{p2}',
      'POST /auth/oidc/exchange',
      'POST /auth/session',
      'POST /auth/token',
      'POST /users',
      'POST /links/session',
      ...['GET', 'HEAD'].flatMap((method) =>
        ['', '/blocks/{p3}', '/chart', '/files', '/files/{p3+}'].map(
          (below) => `${method} /links/shared${below}`,
        ),
      ),
    ]
      // The root is a slash alone.
      .map((route) => (route.endsWith(' /') ? route : route.replaceAll('/', '~1').replace(' ~1', ' /~1')))
      .sort(),
  );
  const of = (settings: Record<string, unknown>[], path: string) =>
    settings.find(({ ResourcePath, HttpMethod }) => ResourcePath === path && HttpMethod !== 'HEAD');
  expect(of(given, '/~1openapi.json')).toMatchObject({ ThrottlingRateLimit: 2, ThrottlingBurstLimit: 10 });
  expect(of(given, '/~1auth~1token')).toMatchObject({ ThrottlingRateLimit: 10, ThrottlingBurstLimit: 30 });
  const more = await settingsOf({ requestBurst: '30', anonymousTimes: '2' });
  expect(of(more, '/~1openapi.json')).toMatchObject({ ThrottlingRateLimit: 4, ThrottlingBurstLimit: 20 });
});

test('the stage is throttled, and writes an access log without queries and headers', () => {
  const { Properties } = service.of('AWS::ApiGateway::Stage')[0]!;
  expect(Properties.MethodSettings[0]).toMatchObject({
    ...{ HttpMethod: '*', ResourcePath: '/*' },
    ...{ ThrottlingRateLimit: 50, ThrottlingBurstLimit: 5, LoggingLevel: 'OFF' },
  });
  expect(Properties.AccessLogSetting.Format).not.toMatch(/querystring|header|\$context\.path"/i);
  expect(Properties.AccessLogSetting.DestinationArn).toBeDefined();
});
