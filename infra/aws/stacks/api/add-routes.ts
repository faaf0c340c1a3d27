import { createHash } from 'node:crypto';
import { Stack } from 'aws-cdk-lib';
import { Integration, IntegrationType, type IResource, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { type IRole, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { AnyEndpoint } from '../../../../shared/http/definition/exchange.ts';
import type { RequestMethod } from '../../../../shared/http/definition/request-method.ts';
import { routeOf } from '../../../service/routes.ts';

/** Add the routes with their functions to the API. */
export function addRoutes(scope: Construct, api: RestApi, routes: readonly ServedRoute[]): void {
  const functions = new Map(routes.map(({ fn }) => [fn.name, fn]));
  const integrations = new Map(
    [...invokersOf(scope, [...functions.values()])].map(([fn, role]) => [fn.name, proxyTo(scope, fn, role)]),
  );
  for (const { path, method, fn } of routes) {
    resourceAt(api, routeOf({ path })).addMethod(method, integrations.get(fn.name));
  }
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
 * these roles suffice for more routes than a stack can have.
 */
const shares = 4;

/**
 * Assign a function to a role by its name, so that it keeps the role when other functions change. If a role lost
 * it, the currently deployed stage would fail.
 */
const shareOf = ({ name }: InvokedFunction): number =>
  createHash('sha256').update(name).digest().readUInt32BE() % shares;

/** Make only the proxy integration: the CDK's integration for functions adds two permissions per method. */
function proxyTo(scope: Construct, { arn }: InvokedFunction, credentialsRole: IRole): Integration {
  const { partition, region } = Stack.of(scope);
  return new Integration({
    type: IntegrationType.AWS_PROXY,
    integrationHttpMethod: 'POST',
    uri: `arn:${partition}:apigateway:${region}:lambda:path/2015-03-31/functions/${arn}/invocations`,
    options: { credentialsRole },
  });
}

function resourceAt(api: RestApi, { segments }: ReturnType<typeof routeOf>): IResource {
  let resource: IResource = api.root;
  for (const segment of segments) {
    const part = 'word' in segment ? segment.word : `{${segment.variable}${segment.greedy ? '+' : ''}}`;
    resource = resource.getResource(part) ?? resource.addResource(part);
  }
  return resource;
}
