import { createHash } from 'node:crypto';
import { Stack } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { AnyEndpoint } from '../../../../shared/http/definition/middleware.ts';
import type { RequestMethod } from '../../../../shared/http/definition/request-method.ts';
import { anyMethod, routeOf } from '../../../service/routes.ts';
import { gatewayResponses } from './gateway-responses.ts';

/**
 * Return the OpenAPI document that API Gateway imports: its routes with their functions, its own responses and its
 * binary types. Routes as resources of the stack would number 2.84 for an endpoint, of the 500 that a stack may have.
 * What the service answers is described by its own document (`npm run openapi`); API Gateway needs no schemas.
 * @param scope where the roles are made by which API Gateway invokes the functions
 */
export function apiDocument(
  scope: Construct,
  title: string,
  routes: readonly ServedRoute[],
  corsOrigins: readonly string[],
): ApiDocument {
  const functions = new Map(routes.map(({ fn }) => [fn.name, fn]));
  const integrations = new Map(
    [...invokersOf(scope, [...functions.values()])].map(([fn, role]) => [fn.name, proxyTo(scope, fn, role)]),
  );
  const paths: ApiDocument['paths'] = {};
  for (const { path, method, fn } of routes) {
    const { resource } = routeOf({ path });
    const integration = integrations.get(fn.name);
    if (integration === undefined) throw new Error(`no role may invoke ${fn.name}`);
    paths[resource] = {
      ...paths[resource],
      [method === 'ANY' ? anyMethod : method.toLowerCase()]: {
        responses: {},
        'x-amazon-apigateway-integration': integration,
      },
    };
  }
  return {
    openapi: '3.0.1',
    info: { title, version: '1' },
    // Without this, the first type of Accept would decide whether a picture is sent as text.
    'x-amazon-apigateway-binary-media-types': ['*/*'],
    'x-amazon-apigateway-gateway-responses': gatewayResponses(corsOrigins),
    paths,
  };
}

/** The members of an OpenAPI document that API Gateway imports. */
export interface ApiDocument {
  openapi: string;
  info: { title: string; version: string };
  'x-amazon-apigateway-binary-media-types': string[];
  'x-amazon-apigateway-gateway-responses': ReturnType<typeof gatewayResponses>;
  /** By resource (`/users/{p1}`), then by method in lower case or {@link anyMethod}. */
  paths: Record<string, Record<string, ApiOperation>>;
}

/** A method of a path and its function. */
export interface ApiOperation {
  responses: Record<string, never>;
  'x-amazon-apigateway-integration': ProxyIntegration;
}

/** A route of the API with its function: one method, or `ANY` for all other methods. */
export interface ServedRoute {
  path: AnyEndpoint['path'];
  method: RequestMethod | 'ANY';
  fn: InvokedFunction;
}

/** A function that API Gateway invokes. */
interface InvokedFunction {
  name: string;
  arn: string;
}

/**
 * Make the roles that API Gateway uses to invoke these functions. They name each function and allow nothing else.
 * One permission per function would add as many resources, and could name the API only if both are in one stack.
 */
function invokersOf(scope: Construct, functions: readonly InvokedFunction[]): Map<InvokedFunction, Role> {
  const roles = new Map<InvokedFunction, Role>();
  for (const [share, some] of Map.groupBy(functions, shareOf)) {
    const invoke = new PolicyStatement({
      actions: ['lambda:InvokeFunction'],
      resources: some.map(({ arn }) => arn),
    });
    const role = new Role(scope, `Invoker${share + 1}`, {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      inlinePolicies: { invoke: new PolicyDocument({ statements: [invoke] }) },
    });
    for (const fn of some) roles.set(fn, role);
  }
  return roles;
}

/**
 * Number of roles for all functions. The policies of a role have room for 75 function ARNs (10,240 characters), so
 * these roles suffice for 300 functions that a hash divides evenly.
 */
const shares = 4;

/**
 * Assign a function to a role by its name, so that it keeps the role when other functions change. If a role lost
 * it, the currently deployed stage would fail.
 */
const shareOf = ({ name }: InvokedFunction): number =>
  createHash('sha256').update(name).digest().readUInt32BE() % shares;

function proxyTo(scope: Construct, { arn }: InvokedFunction, role: Role): ProxyIntegration {
  const { partition, region } = Stack.of(scope);
  return {
    type: 'aws_proxy',
    httpMethod: 'POST',
    uri: `arn:${partition}:apigateway:${region}:lambda:path/2015-03-31/functions/${arn}/invocations`,
    credentials: role.roleArn,
  };
}

/** API Gateway hands the whole request to a function, as the role in `credentials`. */
interface ProxyIntegration {
  type: 'aws_proxy';
  httpMethod: 'POST';
  uri: string;
  credentials: string;
}
