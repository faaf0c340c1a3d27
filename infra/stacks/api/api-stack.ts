import { CfnOutput, Fn, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { allNeeds } from '../../../shared/http/all-needs.ts';
import type { AnyEndpoint } from '../../../shared/http/exchange.ts';
import { isOperation, servedMethods } from '../../../shared/http/request-method.ts';
import { anyMethodName } from '../../build/function-bundles.ts';
import type { DeploymentOptions } from '../../deployment-options.ts';
import { routeOf } from '../../routes.ts';
import { FunctionRoles } from '../function-roles.ts';
import { grantsOf, type Resources } from '../grants.ts';
import { ServiceFunction } from '../service-function.ts';
import { addRoutes, type ServedRoute } from './add-routes.ts';
import { baseUrl } from './domain.ts';
import { restApi } from './rest-api.ts';

/** Parts of the functions of all stacks. */
export interface FunctionParts {
  resources: Resources;
  environment: Readonly<Record<string, string>>;
  /** Folder of a function's bundle. @throws where there is none */
  folderOf(name: string): string;
}

/** The REST API with one function for each endpoint. */
export class ApiStack extends Stack {
  readonly apiName: string;

  constructor(
    scope: Construct,
    id: string,
    endpoints: readonly AnyEndpoint[],
    { resources, environment, folderOf }: FunctionParts,
    options: DeploymentOptions,
    props: StackProps,
  ) {
    super(scope, id, props);
    const kept = { retention: options.logRetentionDays, removalPolicy: RemovalPolicy.DESTROY };
    const log = new LogGroup(this, 'FunctionLog', kept);
    const api = restApi(this, new LogGroup(this, 'AccessLog', kept), endpoints, options);
    this.apiName = api.restApiName;

    const roles = new FunctionRoles(this, log);
    const served = endpoints.flatMap((endpoint): ServedRoute[] => {
      const { name, method, path, runtime } = endpoint;
      const { lambda: fn } = new ServiceFunction(this, name, {
        description: `${method} ${path}`,
        folder: folderOf(name),
        ...(runtime !== undefined && { runtime }),
        environment,
        log,
        role: roles.roleOf(grantsOf(allNeeds(endpoint), resources)),
      });
      // A method of each kind would be resources that a proxy does not need.
      const methods = method === 'ANY' ? [method] : servedMethods(method);
      return methods.map((one) => ({ path, method: one, fn }));
    });
    const { CORS_ORIGINS } = environment;
    const otherMethods = new ServiceFunction(this, anyMethodName, {
      description: 'Preflight requests, and 405 for methods that no endpoint serves',
      folder: folderOf(anyMethodName),
      environment: CORS_ORIGINS === undefined ? {} : { CORS_ORIGINS },
      log,
      role: roles.roleOf([]),
    });
    // Endpoints of one route are written with and without the slash at its end.
    const paths = new Map(
      endpoints.filter(isOperation).map(({ path }) => [routeOf({ path }).resource, path]),
    );
    addRoutes(this, api, [
      ...served,
      ...[...paths.values()].map((path) => ({ path, method: 'ANY', fn: otherMethods.lambda }) as const),
    ]);

    const url = baseUrl(api, options);
    new CfnOutput(this, 'BaseUrl', { value: url, description: 'Base URL of the service' });
    new CfnOutput(this, 'DocsUrl', { value: Fn.join('', [url, '/docs']), description: 'Its reference' });
    new CfnOutput(this, 'Bootstrap', {
      value: 'npm run create-admin',
      description: 'Creates the first user, an admin; works once',
    });
  }
}
