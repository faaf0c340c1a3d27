import { badRequest } from '../../shared/core/service-error.ts';
import type { Settings } from '../../shared/core/settings.ts';
import { packageIndexFaults } from '../../shared/runner/environment/dependencies/package-index-faults.ts';
import {
  type EnvironmentSpec,
  parseDependencies,
} from '../../shared/runner/environment/dependencies/parse-dependencies.ts';

/** Throws a 400 for dependencies that name a package index which this deployment does not allow. */
export function requireAllowedIndexes(
  spec: EnvironmentSpec,
  { packageIndexes }: Pick<Settings, 'packageIndexes'>,
): void {
  const faults = packageIndexFaults(parseDependencies(spec).dependencies, packageIndexes);
  if (faults.length === 0) return;
  const message = faults.map((fault) => `line ${fault.line}: ${fault.message}`).join('; ');
  throw badRequest([{ in: 'query', name: 'dependencies', message }]);
}
