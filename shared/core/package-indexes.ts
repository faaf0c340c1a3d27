import * as z from 'zod';

/** Default package indexes of a deployment. */
const usualPackageIndexes = [
  'pypi.org',
  'test.pypi.org',
  'download.pytorch.org',
  'pypi.nvidia.com',
  'pypi.anaconda.org',
  'data.pyg.org',
  'data.dgl.ai',
  'wheels.vllm.ai',
];

const isEntry = (entry: string): boolean =>
  /^(?:http:\/\/)?[A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?$/.test(entry) &&
  URL.canParse(entry.includes('://') ? entry : `https://${entry}`);

/**
 * Hosts, separated by commas. `host` and `host:port` use https; `http://host:port` is for an index in a private
 * network.
 */
export const PackageIndexes = z
  .string()
  .default(usualPackageIndexes.join(','))
  .transform((text) => text.split(',').flatMap((entry) => entry.trim() || []))
  .pipe(z.array(z.string().refine(isEntry, 'must be hosts, such as pypi.org or http://index.internal:8080')));
