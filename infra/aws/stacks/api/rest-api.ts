import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  ApiDefinition,
  EndpointType,
  LogGroupLogDestination,
  type MethodDeploymentOptions,
  MethodLoggingLevel,
  SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { AnyEndpoint } from '../../../../shared/http/definition/middleware.ts';
import { servedMethods } from '../../../../shared/http/definition/request-method.ts';
import { routeOf } from '../../../service/routes.ts';
import type { DeploymentOptions } from '../../options/deployment-options.ts';
import type { ApiDocument } from './api-document.ts';
import { documentMode } from './moving-api.ts';

/** Make the regional REST API of a document, with its single stage. */
export function restApi(
  scope: Construct,
  log: ILogGroup,
  document: ApiDocument,
  endpoints: readonly AnyEndpoint[],
  options: DeploymentOptions,
): SpecRestApi {
  return new SpecRestApi(scope, 'Api', {
    restApiName: options.name,
    endpointTypes: [EndpointType.REGIONAL],
    apiDefinition: ApiDefinition.fromInline(document),
    mode: documentMode(scope),
    cloudWatchRole: true,
    // Keep the role: it is a setting of the whole account, and other services may use it.
    cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
    deployOptions: {
      stageName,
      throttlingRateLimit: options.requestsPerSecond,
      throttlingBurstLimit: options.requestBurst,
      methodOptions: ownThrottles(endpoints, options),
      accessLogDestination: new LogGroupLogDestination(log),
      accessLogFormat: accessLog,
      loggingLevel: MethodLoggingLevel.OFF,
      dataTraceEnabled: false,
      metricsEnabled: false,
    },
  });
}

/** First path segment at API Gateway's own address. */
export const stageName = 'v1';

/** Return the throttles of single methods. None exceeds that of the stage. */
function ownThrottles(
  endpoints: readonly AnyEndpoint[],
  { requestsPerSecond, requestBurst, anonymousTimes }: DeploymentOptions,
): Record<string, MethodDeploymentOptions> {
  const throttled = endpoints.flatMap((endpoint) => {
    const { throttle, method } = endpoint;
    // A proxy has the throttle of the stage.
    if (throttle === undefined || method === 'ANY') return [];
    const options: MethodDeploymentOptions = {
      throttlingRateLimit: Math.min(throttle.perSecond * anonymousTimes, requestsPerSecond),
      throttlingBurstLimit: Math.min(throttle.burst * anonymousTimes, requestBurst),
    };
    const { resource } = routeOf(endpoint);
    return servedMethods(method).map((servedMethod) => [`${resource}/${servedMethod}`, options] as const);
  });
  return Object.fromEntries(throttled);
}

/** Access log of each request. It omits query and headers, which may contain secrets. */
const accessLog = AccessLogFormat.custom(
  JSON.stringify({
    request_id: AccessLogField.contextRequestId(),
    at: AccessLogField.contextRequestTimeEpoch(),
    ip: AccessLogField.contextIdentitySourceIp(),
    method: AccessLogField.contextHttpMethod(),
    resource: AccessLogField.contextResourcePath(),
    status: AccessLogField.contextStatus(),
    bytes: AccessLogField.contextResponseLength(),
    milliseconds: AccessLogField.contextResponseLatency(),
    error: AccessLogField.contextErrorMessage(),
    error_type: AccessLogField.contextErrorResponseType(),
  }),
);
