/** Return the domain of AWS's services in a region. */
export const serviceDomain = (region: string): string =>
  region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
