import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  EndpointType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { DeploymentOptions } from '../../options.ts';
import { addGatewayResponses } from './gateway-responses.ts';

/** First part of every path at the address that API Gateway makes. */
export const stageName = 'v1';

/** What is written of every request. Neither query nor headers: they may hold what is nobody's business. */
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

/** The regional REST API with its one stage, still without routes. */
export function restApi(scope: Construct, log: ILogGroup, options: DeploymentOptions): RestApi {
  const api = new RestApi(scope, 'Api', {
    restApiName: options.name,
    endpointTypes: [EndpointType.REGIONAL],
    // Without it the first type of Accept would decide whether a picture is sent as text.
    binaryMediaTypes: ['*/*'],
    cloudWatchRole: true,
    // It is a setting of the whole account, which other services may rely on by then.
    cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
    deployOptions: {
      stageName,
      throttlingRateLimit: options.requestsPerSecond,
      throttlingBurstLimit: options.requestBurst,
      accessLogDestination: new LogGroupLogDestination(log),
      accessLogFormat: accessLog,
      loggingLevel: MethodLoggingLevel.OFF,
      dataTraceEnabled: false,
      metricsEnabled: false,
    },
  });
  addGatewayResponses(api, options.corsOrigins);
  return api;
}
