import type { Sources } from '../../infra/aws/build/build-parts.ts';
import { makers } from '../../infra/aws/cost/run-bundles.ts';
import { allNeeds } from '../../shared/http/definition/definition.ts';
import { everySample } from './samples.ts';

/**
 * The functions that `npm test` bundles: those that make what others read, and one for each set of services and packages
 * that functions use.
 */
export function sampledSources(sources: Sources): Sources {
  if (everySample) return sources;
  const kinds = new Set<string>();
  const endpoints = sources.endpoints.filter(({ endpoint }) => {
    const services = allNeeds(endpoint).map(({ resource }) => resource);
    const kind = [...new Set([...services, ...(endpoint.runtime?.native ?? [])])].join();
    const isFirst = !kinds.has(kind);
    kinds.add(kind);
    return isFirst || makers.includes(endpoint.name);
  });
  return { ...sources, endpoints };
}
