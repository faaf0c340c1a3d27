import { packageIndexFault } from '../../../core/package-indexes.ts';
import type { Dependency, DependencyFault } from './dependency.ts';

/** Options that name a host which this deployment does not allow, and a second `--index-url`. */
export function packageIndexFaults(
  dependencies: readonly Dependency[],
  packageIndexes: readonly string[],
): DependencyFault[] {
  let index: string | undefined;
  return dependencies.flatMap((dependency) => {
    if (dependency.kind !== 'option' || dependency.name === 'pre') return [];
    const { line, name, value } = dependency;
    const message = packageIndexFault(value, packageIndexes);
    if (message !== null) return [{ line, message }];
    if (name !== 'index-url') return [];
    const isSecond = index !== undefined && index !== value;
    index = value;
    return isSecond
      ? [{ line, message: 'more than one --index-url; further ones are --extra-index-url' }]
      : [];
  });
}
