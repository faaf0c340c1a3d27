import { CfnOutput, Fn, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { EndpointType, SecurityPolicy, type SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { AnyEndpoint } from '../../../../shared/http/definition/middleware.ts';
import { isOperation, servedMethods } from '../../../../shared/http/definition/request-method.ts';
import { routeOf } from '../../../service/routes.ts';
import { anyMethodName } from '../../build/function-bundles.ts';
import type { DeploymentOptions } from '../../options/deployment-options.ts';
import { functionArn } from '../functions-stack.ts';
import { functionRole } from '../roles.ts';
import { type FunctionParts, ServiceFunction } from '../service-function.ts';
import { apiDocument, type ServedRoute } from './api-document.ts';
import { restApi } from './rest-api.ts';

/** The REST API: its routes, and the function for methods without an endpoint. */
export class ApiStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    endpoints: readonly AnyEndpoint[],
    { environment, folderOf }: FunctionParts,
    options: DeploymentOptions,
    props: StackProps,
  ) {
    super(scope, id, props);
    const kept = { retention: options.logRetentionDays, removalPolicy: RemovalPolicy.DESTROY };
    const log = new LogGroup(this, 'FunctionLog', kept);

    const served = endpoints.flatMap((endpoint): ServedRoute[] => {
      const { method, path, name } = endpoint;
      const fn = { name, arn: functionArn(this, options, endpoint) };
      // A proxy needs only `ANY`.
      const methods = method === 'ANY' ? [method] : servedMethods(method);
      return methods.map((one) => ({ path, method: one, fn }));
    });
    const { CORS_ORIGINS } = environment;
    const { lambda } = new ServiceFunction(this, anyMethodName, {
      description: 'Preflight requests, and 405 for methods that no endpoint serves',
      folder: folderOf(anyMethodName),
      environment: CORS_ORIGINS === undefined ? {} : { CORS_ORIGINS },
      logLevel: options.logLevel,
      log,
      role: functionRole(this, `${anyMethodName}Role`, { statements: [], log }),
    });
    const otherMethods = { name: anyMethodName, arn: lambda.functionArn };
    // Endpoints of one route may have a trailing slash or not.
    const paths = new Map(
      endpoints.filter(isOperation).map(({ path }) => [routeOf({ path }).resource, path]),
    );
    const routes = [
      ...served,
      ...[...paths.values()].map((path) => ({ path, method: 'ANY', fn: otherMethods }) as const),
    ];
    const document = apiDocument(this, options.name, routes, options.corsOrigins);
    const api = restApi(this, new LogGroup(this, 'AccessLog', kept), document, endpoints, options);

    const url = baseUrl(api, options);
    new CfnOutput(this, 'BaseUrl', { value: url, description: 'Base URL of the service' });
    new CfnOutput(this, 'DocsUrl', { value: Fn.join('', [url, '/docs']), description: 'Its reference' });
    new CfnOutput(this, 'Bootstrap', {
      value: 'npm run create-admin',
      description: 'Creates the first user, an admin; works once',
    });
  }
}

/** Serve the API under a custom domain too, if there is one. Return the base URL. */
function baseUrl(api: SpecRestApi, { domainName, certificateArn }: DeploymentOptions): string {
  if (domainName === undefined || certificateArn === undefined) return api.url.replace(/\/$/, '');
  const domain = api.addDomainName('Domain', {
    domainName,
    certificate: Certificate.fromCertificateArn(api, 'Certificate', certificateArn),
    endpointType: EndpointType.REGIONAL,
    securityPolicy: SecurityPolicy.TLS_1_2,
  });
  new CfnOutput(api.stack, 'DomainTarget', {
    value: domain.domainNameAliasDomainName,
    description: `Where a CNAME or alias record of ${domainName} must point`,
  });
  return `https://${domainName}`;
}
