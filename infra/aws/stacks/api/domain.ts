import { CfnOutput } from 'aws-cdk-lib';
import { EndpointType, type RestApi, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { DeploymentOptions } from '../../options/deployment-options.ts';

/** Serve the API under a custom domain too, where there is one. Return the base URL. */
export function baseUrl(api: RestApi, { domainName, certificateArn }: DeploymentOptions): string {
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
