import { Stack } from 'aws-cdk-lib';
import { Integration, IntegrationType, type IResource, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { AnyEndpoint } from '../../../../shared/http/definition/exchange.ts';
import type { RequestMethod } from '../../../../shared/http/definition/request-method.ts';
import { routeOf } from '../../../service/routes.ts';
import { type InvokedFunction, invokersOf } from './invokers.ts';

/** A route of the API that a function serves: one method of it, or all that no other function does. */
export interface ServedRoute {
  path: AnyEndpoint['path'];
  method: RequestMethod | 'ANY';
  fn: InvokedFunction;
}

/** The proxy integration alone: CDK's own for functions adds two permissions for every method. */
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

/** Serves the routes. */
export function addRoutes(scope: Construct, api: RestApi, routes: readonly ServedRoute[]): void {
  const functions = new Map(routes.map(({ fn }) => [fn.name, fn]));
  const integrations = new Map(
    [...invokersOf(scope, [...functions.values()])].map(([fn, role]) => [fn.name, proxyTo(scope, fn, role)]),
  );
  for (const { path, method, fn } of routes) {
    resourceAt(api, routeOf({ path })).addMethod(method, integrations.get(fn.name));
  }
}
