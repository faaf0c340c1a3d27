import type { ParsedDependencies } from './dependency.ts';
import { imageReferenceFault } from './image-reference.ts';
import { parseNodePackages } from './node-packages.ts';
import { parseRequirements } from './python-requirements.ts';

export interface EnvironmentSpec {
  env_type: 'python' | 'node' | 'system' | 'docker';
  /** As the person wrote it: requirement lines, npm packages or an image. Blank, `-` or `none`: nothing to install. */
  dependencies: string;
}

/** Whether `dependencies` is empty: blank, `-` or `none`. */
function nothingToInstall(dependencies: string): boolean {
  return ['', '-', 'none'].includes(dependencies.trim().toLowerCase());
}

/**
 * Parses `dependencies` by the grammar of its `env_type`, without touching any file. Never throws: every error is
 * listed, so that a person can correct all of them at once.
 */
export function parseDependencies(spec: EnvironmentSpec): ParsedDependencies {
  const nothing = nothingToInstall(spec.dependencies);
  switch (spec.env_type) {
    case 'python':
      return nothing ? { dependencies: [], faults: [] } : parseRequirements(spec.dependencies);
    case 'node':
      return nothing ? { dependencies: [], faults: [] } : parseNodePackages(spec.dependencies);
    case 'system':
      return {
        dependencies: [],
        faults: nothing ? [] : [{ line: 1, message: 'a system environment installs nothing: leave blank' }],
      };
    case 'docker': {
      const reference = spec.dependencies.trim();
      const message = nothing
        ? 'a docker environment needs the name of an image'
        : imageReferenceFault(reference);
      if (message !== null) return { dependencies: [], faults: [{ line: 1, message }] };
      return { dependencies: [{ kind: 'image', line: 1, reference }], faults: [] };
    }
  }
}
