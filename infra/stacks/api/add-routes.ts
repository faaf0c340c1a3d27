import { Stack } from 'aws-cdk-lib';
import { Integration, IntegrationType, type IResource, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { type IRole, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { AnyEndpoint } from '../../../shared/http/exchange.ts';
import type { RequestMethod } from '../../../shared/http/request-method.ts';
import { routeOf } from '../../routes.ts';

/** A route of the API that a function serves: one method of it, or all that no other function does. */
export interface ServedRoute {
  path: AnyEndpoint['path'];
  method: RequestMethod | 'ANY';
  fn: LambdaFunction;
}

/** The proxy integration alone: CDK's own for functions adds two permissions for every method. */
function proxyTo(fn: LambdaFunction, credentialsRole: IRole): Integration {
  const { partition, region } = Stack.of(fn);
  return new Integration({
    type: IntegrationType.AWS_PROXY,
    integrationHttpMethod: 'POST',
    uri: `arn:${partition}:apigateway:${region}:lambda:path/2015-03-31/functions/${fn.functionArn}/invocations`,
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

/** Routes of one resource of the service, `/projects/…` say: so many functions as one role may name. */
const resourceOf = ({ path }: ServedRoute): string => path.split('/')[1] ?? '';

/** A role by which API Gateway may invoke these functions and nothing else. */
function invokerOf(scope: Construct, id: string, functions: readonly LambdaFunction[]): Role {
  const invoke = new PolicyStatement({
    actions: ['lambda:InvokeFunction'],
    resources: functions.map((fn) => fn.functionArn),
  });
  return new Role(scope, id, {
    assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
    inlinePolicies: { invoke: new PolicyDocument({ statements: [invoke] }) },
  });
}

/**
 * Serves the routes. API Gateway invokes the functions of a resource under one role that names them all; a permission
 * for each function would be as many resources more, of which a stack can have only so many.
 */
export function addRoutes(scope: Construct, api: RestApi, routes: readonly ServedRoute[]): void {
  for (const [name, served] of Map.groupBy(routes, resourceOf)) {
    const functions = [...new Set(served.map(({ fn }) => fn))];
    const invoker = invokerOf(scope, `${name}Invoker`, functions);
    const integrations = new Map(functions.map((fn) => [fn, proxyTo(fn, invoker)]));
    for (const { path, method, fn } of served) {
      resourceAt(api, routeOf({ path })).addMethod(method, integrations.get(fn));
    }
  }
}
